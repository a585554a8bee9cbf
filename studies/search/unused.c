/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the section `search` that no candidate has. */
#include "abi/fields/needs.h"
#include "base/arena.h"
#include "base/quantity.h"
#include "studies/search/space.h"

#include <stdlib.h>
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

/* ---- what a key needs of other dimensions ---- */

/* A candidate's mesh, and the value of one more dimension. */
struct trial {
    const struct search_space *space;
    const struct search_mesh *mesh;
    enum search_dimension dimension; /* DIMENSIONS: none */
    const char *text;
};

/* What is neither of the mesh nor that dimension's is not known, and holds. */
static struct need_value find_tried(void *user, const char *path)
{
    const struct trial *trial = user;
    char *end;
    if (trial->dimension < DIMENSIONS && !strcmp(search_dimensions[trial->dimension].path, path)) {
        double number = strtod(trial->text, &end);
        bool word = end == trial->text || *end;
        return (struct need_value){true, word ? strcmp(trial->text, "false") != 0 : number, word ? trial->text : NULL};
    }
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (search_dimensions[i].role == SEARCH_AXIS && !strcmp(search_dimensions[i].path, path) &&
            trial->mesh->sizes[i])
            return (struct need_value){true, trial->mesh->sizes[i], NULL};
    return (struct need_value){0};
}

/* The first dimension of keys that a condition names, with values to choose from; DIMENSIONS: none. */
static enum search_dimension named_in(const struct search_space *space, const char *needs)
{
    enum search_dimension i = 0;
    while (i < DIMENSIONS && !(search_dimensions[i].role == SEARCH_KEY && space->values[i].count &&
                               strstr(needs, search_dimensions[i].path)))
        i++;
    return i;
}

/* Whether a mesh with a value of the dimension that the condition names fulfils it. */
static bool may_hold(const struct search_space *space, const char *needs)
{
    struct trial trial = {.space = space, .dimension = named_in(space, needs)};
    uint32_t count = trial.dimension < DIMENSIONS ? space->values[trial.dimension].count : 1;
    const struct need_values values = {find_tried, &trial};
    for (size_t i = 0; i < space->mesh_count; i++)
        for (uint32_t k = 0; k < count; k++) {
            trial.mesh = &space->meshes[i];
            trial.text = trial.dimension < DIMENSIONS ? space->values[trial.dimension].texts[k] : "";
            if (need_holds(needs, &values))
                return true;
        }
    return false;
}

/* What no candidate has, of all that a key of the workload needs; NULL: nothing. */
static const char *unmet_need(const struct search_space *space, const struct scenario *scenario,
                              enum search_dimension dimension)
{
    const char *path = search_dimensions[dimension].path, *dot = strchr(path, '.');
    if (search_dimensions[dimension].role != SEARCH_KEY || !dot || *search_dimensions[dimension].defaults)
        return NULL;
    for (const struct stagesim_need *need = scenario->workload->needs; need && need->key; need++)
        if (need->note && !strcmp(strchr(need->key, '.') ? path : dot + 1, need->key) && !may_hold(space, need->needs))
            return need->needs;
    return NULL;
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
        const char *key = arena_print(arena, "search.%s", search_dimensions[i].key),
                   *unmet = given->count ? unmet_need(space, scenario, i) : NULL;
        if (unmet)
            diag_note(diag, scenario_place(scenario, key), "%s changes no layout: it needs %s", key,
                      need_words(unmet, arena));
        else if (count)
            diag_note(diag, scenario_place(scenario, key), "%s: no layout has %.200s: %s", key, unused, need_of(i));
    }
}
