/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/nearest.h"

#include "base/arena.h"
#include "base/table.h"

/* Times that are equal but for rounding. */
static const double same = 1e-9;

double nearest_distance(const struct nearest *nearest)
{
    return nearest->own / nearest->best - 1;
}

/* "14,400". */
static const char *grouped(uint32_t count, struct arena *arena)
{
    enum { GROUP = 1000 };
    const char *text = "";
    for (; count >= GROUP; count /= GROUP)
        text = arena_print(arena, ",%03u%s", (unsigned)(count % GROUP), text);
    return arena_print(arena, "%u%s", (unsigned)count, text);
}

const char *nearest_sentence(const struct nearest *nearest, struct arena *arena)
{
    char text[READABLE_MAX];
    double distance = nearest_distance(nearest);
    const char *layouts = grouped(nearest->layouts, arena);
    if (nearest->layouts < nearest->of)
        layouts = arena_print(arena, "%s of %s", layouts, grouped(nearest->of, arena));
    if (distance > same)
        return arena_print(arena, "%s from the best of %s layouts, %s", readable_percent(text, distance), layouts,
                           nearest->layout);
    if (distance < -same && nearest->layouts == nearest->of)
        return arena_print(arena, "%s faster than the best of %s layouts that fit, %s",
                           readable_percent(text, -distance), layouts, nearest->layout);
    return arena_print(arena, "none of %s layouts is faster", layouts);
}
