/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/power/pairs.h"

#include "base/arena.h"

#include <stdlib.h>

/* Watts at a clock that follows from a cap are the cap but for rounding. */
#define ROUNDING 1e-9

struct pairs_choice pairs_of(enum pairs_objective objective, const struct pairs_point *first,
                             const struct pairs_point *second)
{
    struct pairs_choice choice = {.throughput = first->speed + second->speed, .watts = first->watts + second->watts};
    choice.joules = choice.watts / choice.throughput;
    choice.value = objective == PAIRS_THROUGHPUT ? choice.throughput
                   : objective == PAIRS_ENERGY   ? 1 / choice.joules
                                                 : choice.throughput / choice.joules;
    return choice;
}

static int better_first(const void *left, const void *right)
{
    const struct pairs_choice *a = left, *b = right;
    if (a->value < b->value || a->value > b->value)
        return a->value > b->value ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (a->jobs[i] != b->jobs[i])
            return a->jobs[i] < b->jobs[i] ? -1 : 1;
    for (int i = 0; i < 2; i++)
        if (a->caps[i] != b->caps[i])
            return a->caps[i] < b->caps[i] ? -1 : 1;
    return 0;
}

size_t pairs_rank(const struct pairs *pairs, const struct pairs_point *points, struct pairs_choice **choices)
{
    size_t count = 0, capacity = 0, caps = pairs->cap_count;
    *choices = NULL;
    for (uint32_t a = 0; a < pairs->count; a++)
        for (uint32_t b = a + 1; b < pairs->count; b++)
            for (size_t both = 0; both < caps * caps; both++) {
                const struct pairs_point *first = &points[a * caps + both / caps],
                                         *second = &points[b * caps + both % caps];
                if (first->most + second->most > pairs->budget * (1 + ROUNDING))
                    continue;
                *choices = array_grow(*choices, &capacity, count + 1, sizeof **choices);
                struct pairs_choice choice = pairs_of(pairs->objective, first, second);
                choice.jobs[0] = a;
                choice.jobs[1] = b;
                choice.caps[0] = both / caps;
                choice.caps[1] = both % caps;
                (*choices)[count++] = choice;
            }
    if (count)
        qsort(*choices, count, sizeof **choices, better_first);
    return count;
}
