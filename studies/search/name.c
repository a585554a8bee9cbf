/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "studies/search/space.h"

#include <string.h>

const char *search_space_name(const struct search_space *space, uint64_t index, struct arena *arena)
{
    const char *values[DIMENSIONS], *text = "";
    search_space_values(space, index, values, arena);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++) {
        bool axis = search_dimensions[i].role == SEARCH_AXIS;
        if (!values[i] || !strcmp(values[i], axis ? "1" : "none"))
            continue;
        if (axis || i == DIMENSION_micro)
            text = arena_print(arena, "%s%s%c%s", text, *text ? " " : "", search_dimensions[i].key[0], values[i]);
        else if (space->shown[i] && i == DIMENSION_recompute)
            text = arena_print(arena, "%s %s", text, values[i]);
        else if (space->shown[i] && i == DIMENSION_zero)
            text = arena_print(arena, "%s Z%s", text, values[i]);
    }
    return text;
}
