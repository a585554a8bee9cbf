/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the section `search` that no candidate has. */
#include "base/arena.h"
#include "base/quantity.h"
#include "studies/search/space.h"

#include <string.h>

/* Of an axis: whether a mesh has that size. */
static bool is_size(const struct search_space *space, enum search_dimension axis, const char *text)
{
    struct quantity_reason reason;
    uint64_t size = 0;
    if (!quantity_count(text, &size, &reason))
        return true; /* reported where it is read */
    for (size_t i = 0; i < space->mesh_count; i++)
        if (space->meshes[i].sizes[axis] == size)
            return true;
    return false;
}

/* Of a schedule's option: whether a variant has that value. */
static bool is_option(const struct search_space *space, enum search_dimension option, const char *text)
{
    for (size_t i = 0; i < space->variant_count; i++)
        if (space->variants[i].options[option] && !strcmp(space->variants[i].options[option], text))
            return true;
    return false;
}

static bool is_divided(const struct search_space *space)
{
    for (size_t i = 0; i < space->mesh_count; i++)
        if (space->meshes[i].sizes[DIMENSION_tensor] > 1)
            return true;
    return false;
}

static bool is_scheduled(const struct search_space *space)
{
    for (size_t i = 0; i < space->mesh_count; i++)
        if (space->meshes[i].scheduled)
            return true;
    return false;
}

static bool is_used(const struct search_space *space, enum search_dimension dimension, const char *text)
{
    switch (search_dimensions[dimension].role) {
    case SEARCH_AXIS:
        return is_size(space, dimension, text);
    case SEARCH_SCHEDULE:
        return is_scheduled(space);
    case SEARCH_OPTION:
        return is_scheduled(space) && is_option(space, dimension, text);
    case SEARCH_TENSOR_KEY:
        return is_divided(space);
    default:
        return true; /* candidates that cannot have it are counted as illegal, with the reason */
    }
}

/* What values of a dimension would need. */
static const char *need_of(enum search_dimension dimension)
{
    switch (search_dimensions[dimension].role) {
    case SEARCH_AXIS:
        return "sizes of the axes make the number of GPUs";
    case SEARCH_SCHEDULE:
        return "it needs a layout with a pipeline";
    case SEARCH_OPTION:
        return "none of the schedules takes it";
    default:
        return "it needs a layout with tensor above 1";
    }
}

void search_space_tell_unused(const struct search_space *space, const struct scenario *scenario, struct arena *arena,
                              struct diag *diag)
{
    for (enum search_dimension i = 0; i < DIMENSIONS; i++) {
        const struct stagesim_texts *given = &scenario->search.values[i];
        const char *unused = "";
        size_t count = 0;
        for (size_t k = 0; k < given->count; k++)
            if (!is_used(space, i, given->texts[k])) {
                unused = arena_print(arena, "%s%s%s", unused, count ? ", " : "", given->texts[k]);
                count++;
            }
        const char *key = arena_print(arena, "search.%s", search_dimensions[i].key);
        if (count)
            diag_note(diag, scenario_place(scenario, key), "%s: no layout has %.200s: %s", key, unused, need_of(i));
    }
}
