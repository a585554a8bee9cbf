/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search_space.h"

#include "base/arena.h"
#include "base/document.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MAX = 250000, RECOMPUTES = RECOMPUTE_FULL + 1 };

/* What each coordinate may be. */
struct choices {
    uint32_t *micro, *zero;
    size_t micro_count, zero_count;
    const struct schedule **schedules;
    size_t schedule_count;
    unsigned recompute;
};

struct making {
    const struct scenario *scenario;
    struct search_space *space;
    struct choices choices;
    struct arena *arena;
};

static int by_value(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The values of a list, ascending, each once; those of `defaults` where it is not given. */
static uint32_t *values_of(const struct stagesim_list *list, const uint32_t *defaults, size_t default_count,
                           size_t *count, struct arena *arena)
{
    *count = list->count ? list->count : default_count;
    uint32_t *values = arena_array(arena, *count + 1, sizeof *values);
    for (size_t i = 0; i < *count; i++)
        values[i] = list->count ? (uint32_t)list->values[i] : defaults[i];
    qsort(values, *count, sizeof *values, by_value);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (kept == 0 || values[kept - 1] != values[i])
            values[kept++] = values[i];
    *count = kept;
    return values;
}

static bool allows(const struct stagesim_list *list, uint32_t value)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->values[i] == value)
            return true;
    return list->count == 0;
}

/* Those of the scenario's list, or where it has none some and its own schedule; each once, in the order of the table.
 */
static void choose_schedules(struct making *making)
{
    static const char *const defaults[] = {"1f1b", "interleaved", "zb-h1"};
    const struct scenario *scenario = making->scenario;
    const struct stagesim_texts *listed = &scenario->search.schedules;
    const char *const *names = listed->count ? listed->texts : defaults;
    size_t count = listed->count ? listed->count : sizeof defaults / sizeof *defaults, known = 0;
    struct choices *choices = &making->choices;
    while (schedule_table[known])
        known++;
    choices->schedules = arena_array(making->arena, known, sizeof *choices->schedules);
    for (size_t i = 0; i < known; i++) {
        const struct schedule *schedule = schedule_table[i];
        bool chosen = !listed->count && schedule == scenario->schedule;
        for (size_t k = 0; k < count && !chosen; k++)
            chosen = !strcmp(schedule->name, names[k]);
        if (chosen)
            choices->schedules[choices->schedule_count++] = schedule;
    }
}

static void choose(struct making *making)
{
    static const uint32_t micros[] = {1, 2, 4, 8}, zeros[] = {0, 1, 2, 3};
    const struct scenario_search *search = &making->scenario->search;
    struct choices *choices = &making->choices;
    choices->micro = values_of(&search->micro, micros, 4, &choices->micro_count, making->arena);
    choices->zero = values_of(&search->zero, zeros, 4, &choices->zero_count, making->arena);
    choices->recompute = search->recompute ? search->recompute : (1u << RECOMPUTES) - 1;
    choose_schedules(making);
}

/* Counts the candidates of one mesh, and where there is room writes them. */
static void add_mesh(struct making *making, uint32_t data, uint32_t tensor, uint32_t pipeline)
{
    const struct choices *choices = &making->choices;
    struct search_space *space = making->space;
    for (size_t micro = 0; micro < choices->micro_count; micro++)
        for (size_t schedule = 0; schedule < choices->schedule_count; schedule++)
            for (unsigned recompute = 0; recompute < RECOMPUTES; recompute++)
                for (size_t zero = 0; zero < choices->zero_count && choices->recompute >> recompute & 1; zero++) {
                    if (space->candidates)
                        space->candidates[space->count] = (struct search_candidate){data,
                                                                                    tensor,
                                                                                    pipeline,
                                                                                    choices->micro[micro],
                                                                                    choices->zero[zero],
                                                                                    choices->schedules[schedule],
                                                                                    (enum scenario_recompute)recompute};
                    space->count += space->count <= CANDIDATES_MAX;
                }
}

static void add_meshes(struct making *making, uint32_t ranks)
{
    const struct scenario_search *search = &making->scenario->search;
    making->space->count = 0;
    for (uint32_t data = 1; data <= ranks; data++)
        for (uint32_t tensor = 1; ranks % data == 0 && tensor <= ranks / data; tensor++) {
            uint32_t pipeline = ranks / data / tensor;
            if (ranks / data % tensor == 0 && allows(&search->data, data) && allows(&search->tensor, tensor) &&
                allows(&search->pipeline, pipeline))
                add_mesh(making, data, tensor, pipeline);
        }
}

/* Ranks along axes that are not searched. */
static uint32_t other_ranks(const struct scenario *scenario)
{
    const struct mesh *mesh = &scenario->mesh;
    return mesh->ranks / (mesh_size(mesh, "data") * mesh_size(mesh, "tensor") * mesh_size(mesh, "pipeline"));
}

static bool check(const struct making *making, uint32_t platform_gpus, struct diag *diag)
{
    const struct scenario *scenario = making->scenario;
    uint32_t gpus = making->space->gpus, others = other_ranks(scenario);
    unsigned before = diag->errors;
    if (strcmp(scenario->workload->name, "transformer") != 0)
        diag_error(
            diag, scenario_place(scenario, "workload"),
            "layouts of '%s' cannot be searched: only of the workload transformer the work follows from the layout",
            scenario->workload->name);
    else if (!scenario->global_batch)
        diag_error(diag, scenario_place(scenario, "batch"),
                   "the samples of an iteration are not known; expected batch.global");
    if (gpus > platform_gpus)
        diag_error(diag, scenario_place(scenario, "search.gpus"), "the platform has %u GPUs, fewer than %u",
                   platform_gpus, gpus);
    else if (gpus % others)
        diag_error(diag, scenario_place(scenario, "search.gpus"),
                   "%u GPUs cannot be divided by the %u ranks of the axes that are not searched", gpus, others);
    return diag->errors == before;
}

bool search_space_create(struct search_space *space, const struct scenario *scenario, uint32_t gpus,
                         struct arena *arena, struct diag *diag)
{
    struct making making = {.scenario = scenario, .space = space, .arena = arena};
    *space = (struct search_space){.gpus = scenario->search.gpus ? (uint32_t)scenario->search.gpus : gpus};
    if (!check(&making, gpus, diag))
        return false;
    choose(&making);
    uint32_t ranks = space->gpus / other_ranks(scenario);
    add_meshes(&making, ranks);
    if (space->count == 0)
        diag_error(diag, scenario_place(scenario, "search"),
                   "no sizes of data, tensor and pipeline that are allowed make %u ranks", ranks);
    if (space->count > CANDIDATES_MAX)
        diag_error(diag, scenario_place(scenario, "search"), "there are more than %d candidates; allow fewer of each",
                   CANDIDATES_MAX);
    if (space->count == 0 || space->count > CANDIDATES_MAX)
        return false;
    space->candidates = arena_array(arena, space->count, sizeof *space->candidates);
    add_meshes(&making, ranks);
    return true;
}

/* "schedule={name: interleaved, recompute: full, chunks: 4}". */
static const char *schedule_set(const struct search_candidate *candidate, const struct scenario *scenario,
                                struct arena *arena)
{
    char *text = arena_print(arena, "schedule={name: %s, recompute: %s", candidate->schedule->name,
                             recompute_name(candidate->recompute));
    const struct node *written = node_get(scenario->root, "schedule");
    for (const struct schedule_option *option = candidate->schedule->options; option && option->key; option++) {
        const struct node *value = written && written->kind == NODE_MAP ? node_get(written, option->key) : NULL;
        if (value && value->kind == NODE_SCALAR)
            text = arena_print(arena, "%s, %s: %s", text, option->key, value->text);
    }
    return arena_print(arena, "%s}", text);
}

void search_candidate_sets(const struct search_candidate *candidate, const struct scenario *scenario,
                           struct scenario_set sets[SEARCH_SETS], struct arena *arena)
{
    sets[0] = (struct scenario_set){NULL, arena_print(arena, "parallel.data=%u", candidate->data)};
    sets[1] = (struct scenario_set){NULL, arena_print(arena, "parallel.tensor=%u", candidate->tensor)};
    sets[2] = (struct scenario_set){NULL, arena_print(arena, "parallel.pipeline=%u", candidate->pipeline)};
    sets[3] = (struct scenario_set){NULL, arena_print(arena, "batch={global: %llu, micro: %u}",
                                                      (unsigned long long)scenario->global_batch, candidate->micro)};
    sets[4] = (struct scenario_set){NULL, schedule_set(candidate, scenario, arena)};
    sets[5] = (struct scenario_set){NULL, arena_print(arena, "transformer.zero=%u", candidate->zero)};
}

const char *recompute_name(enum scenario_recompute recompute)
{
    static const char *const names[] = {
        [RECOMPUTE_NONE] = "none", [RECOMPUTE_SELECTIVE] = "selective", [RECOMPUTE_FULL] = "full"};
    return names[recompute];
}
