/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/choice.h"

#include "base/arena.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "schedules/schedule.h"
#include "studies/evaluate.h"
#include "studies/searched.h"

#include <stdlib.h>
#include <string.h>

enum { OPERATIONS_MAX = 20000000 };

/* The value of an option of `best`. */
static int64_t option_of(const struct scenario *scenario, const char *key)
{
    return scenario->options[schedule_find_option(scenario->schedule, key) - scenario->schedule->options];
}

/* The stashes that every worker may hold; 0: any number. */
static double stashes_of(const struct scenario *scenario)
{
    int64_t least = option_of(scenario, "memory");
    bool each = least == SCHEDULE_STASHES_EACH;
    for (uint32_t worker = 0; each && worker < scenario->stashes.count; worker++) {
        int64_t own = scenario->stashes.parts[worker];
        least = worker == 0 || least == 0 || (own > 0 && own < least) ? own : least;
    }
    return (double)least / SCHEDULE_STASH;
}

static const char *word_of(const struct scenario *scenario, const char *key)
{
    return schedule_find_option(scenario->schedule, key)->names[option_of(scenario, key)];
}

bool choice_is_open(const struct scenario *scenario)
{
    return scenario->schedule && scenario->schedule->searches && !scenario->kind &&
           schedule_find_option(scenario->schedule, "chunks") && option_of(scenario, "chunks") == 0;
}

/* ---- the candidates ---- */

static bool goes_with(const char *asked, const char *word)
{
    return !strcmp(asked, "any") || !strcmp(asked, word);
}

static struct scenario_set set_of(struct arena *arena, const char *key, const char *value)
{
    return (struct scenario_set){.text = arena_print(arena, "%s=%s", key, value)};
}

static void add_rules(const struct scenario *scenario, struct choice_candidate *list, uint32_t *count)
{
    const char *backward = word_of(scenario, "backward");
    for (const struct schedule *const *rule = schedule_table; *rule && *count < CHOICE_MOST; rule++)
        if (!schedule_goes_by_name(*rule) && !(*rule)->asynchronous && !strcmp(word_of(scenario, "placement"), "any") &&
            goes_with(backward, (*rule)->split_backward ? "split" : "whole"))
            list[(*count)++] = (struct choice_candidate){.schedule = (*rule)->name, .label = (*rule)->name};
}

/* What is searched for, with a share of the effort. */
static void add_searched(const struct scenario *scenario, uint32_t share, struct arena *arena,
                         struct choice_candidate *list, uint32_t *count)
{
    int64_t effort = option_of(scenario, "effort") / share;
    for (const struct searched *shape = searched_shapes; shape->chunks && *count < CHOICE_MOST; shape++) {
        if (!goes_with(word_of(scenario, "placement"), shape->placement) ||
            !goes_with(word_of(scenario, "backward"), shape->backward))
            continue;
        struct choice_candidate *candidate = &list[(*count)++];
        *candidate = (struct choice_candidate){.schedule = "best", .set_count = CHOICE_SETS, .searched = true};
        candidate->label = arena_print(arena, "%u chunk%s %s %s", shape->chunks, shape->chunks == 1 ? "" : "s",
                                       shape->placement, shape->backward);
        candidate->sets[0] = set_of(arena, "schedule.chunks", arena_print(arena, "%u", shape->chunks));
        candidate->sets[1] = set_of(arena, "schedule.placement", shape->placement);
        candidate->sets[2] = set_of(arena, "schedule.backward", shape->backward);
        candidate->sets[3] =
            set_of(arena, "schedule.effort", arena_print(arena, "%lld", (long long)(effort > 0 ? effort : 1)));
    }
}

/* Rules, then what is searched for with a share of the effort, then the same with all of it. */
struct choice_candidate *choice_list(const struct scenario *scenario, struct arena *arena, uint32_t *count)
{
    struct choice_candidate *list = arena_array(arena, CHOICE_MOST, sizeof *list);
    *count = 0;
    add_rules(scenario, list, count);
    add_searched(scenario, SEARCHED_SHAPES, arena, list, count);
    add_searched(scenario, 1, arena, list, count);
    return list;
}

static struct scenario_request request_of(const struct scenario *scenario, const struct choice_candidate *candidate,
                                          struct arena *arena)
{
    struct scenario_request request =
        scenario_request_with(&scenario->request, candidate->sets, candidate->set_count, arena);
    request.schedule = candidate->schedule;
    request.study = true;
    return request;
}

struct scenario *choice_reload(const struct scenario *scenario, const struct scenario_request *request,
                               struct arena *arena, struct diag *diag)
{
    struct scenario *loaded = scenario_load(request, arena, diag);
    if (!loaded)
        return NULL;
    loaded->name = scenario->name;
    loaded->bounded = scenario->bounded;
    loaded->keeps_order = scenario->keeps_order;
    loaded->plans = scenario->plans;
    return loaded;
}

struct scenario *choice_load(const struct scenario *scenario, const struct choice_candidate *candidate,
                             struct arena *arena, struct diag *diag)
{
    struct scenario_request request = request_of(scenario, candidate, arena);
    struct scenario *chosen = choice_reload(scenario, &request, arena, diag);
    if (chosen)
        chosen->schedule_name = arena_print(arena, "best (%s)", candidate->label);
    return chosen;
}

/* ---- how they do ---- */

bool choice_is_better(const struct choice_figures *a, const struct choice_figures *b)
{
    if (a->fits != b->fits)
        return a->fits;
    if (!a->fits && (a->peak_bytes < b->peak_bytes || b->peak_bytes < a->peak_bytes))
        return a->peak_bytes < b->peak_bytes;
    return a->iteration < b->iteration;
}

static int by_figures(const void *left, const void *right)
{
    const struct choice_figures *a = left, *b = right;
    if (choice_is_better(a, b) || choice_is_better(b, a))
        return choice_is_better(a, b) ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* False where it cannot be run. */
static bool try(const struct scenario *scenario, struct platform *platform, const struct choice_candidate *candidate,
                struct choice_figures *figures)
{
    struct arena *arena = arena_create();
    struct diag silent = {0};
    struct evaluation evaluation;
    struct evaluation_request request = {.scenario = request_of(scenario, candidate, arena),
                                         .operations_max = OPERATIONS_MAX};
    bool possible = evaluate(&request, platform, arena, &silent, &evaluation) && !evaluation.job->asynchronous;
    if (possible) {
        const struct report *report = evaluation.report;
        double memory = stashes_of(scenario);
        figures->iteration = report->iteration;
        figures->peak_bytes = report->peak_bytes;
        figures->fits = (report->fits || report->capacity_bytes <= 0) &&
                        (candidate->searched || memory <= 0 || report->peak_in_flight <= memory + 1e-9);
    }
    arena_destroy(arena);
    return possible;
}

static void keep(struct choice_ranking *ranking, const struct choice_figures *figures)
{
    if (ranking->count < CHOICE_MOST)
        ranking->figures[ranking->count++] = *figures;
}

void choice_rank(const struct scenario *scenario, struct platform *platform, struct choice_ranking *ranking)
{
    struct arena *arena = arena_create();
    uint32_t count = 0;
    struct choice_candidate *list = choice_list(scenario, arena, &count);
    struct choice_figures searched = {.fits = false};
    uint32_t shapes = 0;
    for (uint32_t i = 0; i < count; i++)
        shapes += list[i].searched;
    shapes /= 2; /* each is there twice */
    ranking->count = 0;
    bool any = false;
    for (uint32_t i = 0; i + shapes < count && !interruption_noted(); i++) {
        struct choice_figures figures = {.number = i};
        guard_doing("choosing a schedule for %s: %u of %u tried", scenario->name, i, count - shapes);
        if (!try(scenario, platform, &list[i], &figures))
            continue;
        keep(ranking, &figures);
        if (list[i].searched && (!any || choice_is_better(&figures, &searched))) {
            searched = figures;
            any = true;
        }
    }
    /* The best of what was searched for once more, with all of the effort. */
    struct choice_figures whole = {.number = searched.number + shapes};
    if (any && !interruption_noted() && try(scenario, platform, &list[whole.number], &whole))
        keep(ranking, &whole);
    qsort(ranking->figures, ranking->count, sizeof *ranking->figures, by_figures);
    arena_destroy(arena);
}

const struct scenario *choice_settle(const struct scenario *scenario, struct platform *platform, struct arena *arena)
{
    if (!choice_is_open(scenario))
        return scenario;
    struct choice_ranking ranking;
    uint32_t count = 0;
    struct choice_candidate *list = choice_list(scenario, arena, &count);
    choice_rank(scenario, platform, &ranking);
    struct diag silent = {0};
    const struct scenario *chosen =
        ranking.count ? choice_load(scenario, &list[ranking.figures[0].number], arena, &silent) : NULL;
    return chosen ? chosen : scenario;
}
