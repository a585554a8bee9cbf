/* SPDX-License-Identifier: Apache-2.0 */
/* One cluster: its layouts searched, the fastest one simulated, and what becomes of the training with each offer. */
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "studies/calendar/goodput.h"
#include "studies/fleet/fleet.h"
#include "studies/search/search.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double fleet_iteration(const struct fleet_found *found)
{
    return found->verified > 0 ? found->verified : found->iteration;
}

bool fleet_check_job(const struct scenario *scenario, struct diag *diag)
{
    unsigned errors = diag->errors;
    if (!goodput_has_length(scenario))
        diag_error(
            diag, scenario_place(scenario, "training"),
            "nothing says how long the training is; expected all tokens (--tokens 15e12), or 'steps' in training");
    if (scenario->training.traffic_simulated)
        diag_error(
            diag, scenario_place(scenario, "checkpoint.traffic"),
            "traffic: simulated needs nodes beside those of the job, which clusters of a plan do not have; leave it "
            "out");
    if (scenario->training.step > 0)
        diag_error(diag, scenario_place(scenario, "training.step"),
                   "step: each cluster has a step time of its own; leave it out");
    return diag->errors == errors;
}

/* ---- the training with an offer ---- */

/* What is taken away while it is used fails node by node, and another node is waited for. */
static struct training_settings interrupted(const struct training_settings *settings, double every, struct arena *arena)
{
    struct training_settings more = *settings;
    size_t count = settings->plan.component_count;
    struct failure_component *components = arena_array(arena, count + 1, sizeof *components);
    if (count)
        memcpy(components, settings->plan.components, count * sizeof *components);
    components[count] = (struct failure_component){
        .name = "interruption", .unit = UNIT_NODE, .every = every, .shape = 1, .effect = EFFECT_STOP, .replace = true};
    more.plan.components = components;
    more.plan.component_count = count + 1;
    more.fails = true;
    return more;
}

static struct fleet_course simulated(const struct training_settings *settings, const struct training_job *job)
{
    struct training_forecast forecast = training_forecast_of(settings, job);
    return (struct fleet_course){.seconds = forecast.outcome.wall.middle,
                                 .low = forecast.outcome.wall.low,
                                 .high = forecast.outcome.wall.high,
                                 .joules = fmax(0, forecast.joules),
                                 .goodput = forecast.outcome.steps_share.middle,
                                 .nodes = forecast.nodes + forecast.spares,
                                 .stuck = forecast.outcome.stuck};
}

static void find_courses(const struct scenario *scenario, const struct fleet_question *question,
                         struct fleet_found *found, struct arena *arena)
{
    const struct training_settings *settings = &scenario->training;
    struct training_job job = found->job;
    struct fleet_course plain = {
        .seconds = found->steps * job.iteration, .joules = found->steps * found->joules, .nodes = question->nodes};
    job.nodes = question->nodes;
    job.gpus_per_node = question->gpus / question->nodes;
    if (settings->given)
        plain = simulated(settings, &job);
    for (size_t i = 0; i < question->offer_count; i++) {
        double every = question->offers[i]->interrupted_every;
        struct training_settings more = every > 0 ? interrupted(settings, every, arena) : *settings;
        found->courses[i] = every > 0 ? simulated(&more, &job) : plain;
    }
}

/* ---- the search ---- */

static void look_through(const struct search *search, struct fleet_found *found)
{
    found->candidates = search->table.count;
    found->unfit = search->unfit;
    found->illegal = search->illegal;
    found->bound = search->best_count ? INFINITY : 0;
    found->least_bytes = INFINITY;
    for (uint64_t i = 0; i < search->table.count; i++) {
        const struct search_result *result = &search->table.results[i];
        double least = result->work > 0 ? result->work : result->status == SEARCH_FITS ? result->iteration : 0;
        bool fits = result->status != SEARCH_ILLEGAL && result->status != SEARCH_DOES_NOT_FIT;
        if (fits)
            found->bound = fmin(found->bound, least);
        if (result->peak_bytes > 0)
            found->least_bytes = fmin(found->least_bytes, result->peak_bytes);
        found->capacity_bytes = fmax(found->capacity_bytes, result->capacity_bytes);
    }
    found->least_bytes = isfinite(found->least_bytes) ? found->least_bytes : 0;
    if (search->reason_count)
        snprintf(found->reason, sizeof found->reason, "%.*s", (int)sizeof found->reason - 1, search->reasons[0].text);
    found->status = search->best_count                                  ? FLEET_FOUND
                    : found->illegal == found->candidates               ? FLEET_ILLEGAL
                    : found->unfit + found->illegal < found->candidates ? FLEET_CUT
                                                                        : FLEET_DOES_NOT_FIT;
}

/* False: there is no room for all of them. */
static bool write_sets(const struct scenario_set *sets, size_t count, struct fleet_found *found)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        int more = snprintf(found->sets + length, sizeof found->sets - length, "%s%s", i ? "\n" : "", sets[i].text);
        if (more < 0 || (size_t)more >= sizeof found->sets - length)
            return false;
        length += (size_t)more;
    }
    return true;
}

static double count_steps(const struct scenario *scenario, const struct training_job *job)
{
    return scenario->training.steps > 0 ? scenario->training.steps : ceil(job->tokens / job->per_step * (1 - 1e-12));
}

/* All figures of the fastest layout, from a run of its own. */
static int detail(const struct search *search, struct fleet_found *found, struct arena *arena)
{
    struct scenario_set sets[SEARCH_SETS_MAX + 1] = {{0}};
    uint64_t index = search->ranked[search->best[0]];
    const struct search_result *result = &search->table.results[index];
    size_t count = search_space_sets(&search->space, search->scenario, index, sets, arena);
    bool contention = search->scenario->engine != ENGINE_ANALYTIC;
    struct simulation_result simulated;
    const char *values[DIMENSIONS];
    if (!write_sets(sets, count, found)) {
        fprintf(stderr, "stagesim: a layout has more than the %d characters that a plan keeps\n", FLEET_SETS_MAX);
        return EXIT_FAILED;
    }
    search_space_values(&search->space, index, values, arena);
    snprintf(found->name, sizeof found->name, "%s", search_space_name(&search->space, index, arena));
    snprintf(found->schedule, sizeof found->schedule, "%s",
             values[DIMENSION_schedules] ? values[DIMENSION_schedules] : "");
    sets[count++].text = contention ? "engine=both" : "engine=analytic";
    int code = simulate_changed(search->scenario, sets, count, &simulated);
    if (code != EXIT_DONE)
        return code;
    const struct comparison_row *row = &simulated.rows[simulated.row_count - 1];
    found->iteration = result->iteration;
    found->verified = contention ? row->iteration : 0;
    found->micro_batches = result->micro_batches;
    found->mfu = row->mfu;
    found->peak_bytes = result->peak_bytes;
    found->joules = fmax(0, row->energy);
    found->band = row->band;
    found->job = row->training;
    found->job.iteration = fleet_iteration(found);
    found->steps = count_steps(search->scenario, &found->job);
    return EXIT_DONE;
}

static int search_it(const struct scenario *scenario, double ceiling, const struct fleet_request *request,
                     struct fleet_found *found, struct arena *arena)
{
    struct search search;
    struct fault fault = {""};
    struct search_request asked = {.kept = 1,
                                   .jobs = request->jobs,
                                   .exhaustive = request->exhaustive,
                                   .fastest = true,
                                   .ceiling = ceiling,
                                   .one_of_many = true,
                                   .quiet = request->quiet,
                                   .shard = 1,
                                   .shards = 1};
    int code = search_create(&search, scenario, &asked, arena);
    if (code == EXIT_DONE)
        code = search_run(&search, &asked);
    if (code == EXIT_DONE && !search.stopped) {
        if (search_rank(&search, &asked, arena, &fault))
            look_through(&search, found);
        else
            code = EXIT_FAILED;
    }
    if (fault.text[0])
        diag_print(stderr, "stagesim: %s\n", fault.text);
    if (code == EXIT_DONE && found->status == FLEET_FOUND)
        code = detail(&search, found, arena);
    search_finish(&search);
    return code;
}

size_t fleet_layout_sets(const struct fleet_question *question, const struct fleet_found *found,
                         struct scenario_set sets[FLEET_LAYOUT_SETS_MAX], struct arena *arena)
{
    char *rest, *lines = arena_copy(arena, found->sets);
    size_t count = 0;
    for (size_t i = 0; i < question->change_count; i++)
        sets[count++] = (struct scenario_set){.text = question->changes[i]};
    for (char *line = strtok_r(lines, "\n", &rest); line && count < FLEET_LAYOUT_SETS_MAX;
         line = strtok_r(NULL, "\n", &rest))
        sets[count++] = (struct scenario_set){.text = line};
    return count;
}

int fleet_ask(const struct fleet *fleet, const struct fleet_question *asked, double ceiling,
              const struct fleet_request *request, struct fleet_found *found)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[FLEET_CHANGES_MAX] = {{0}};
    struct diag diag = {.out = stderr};
    memset(found, 0, sizeof *found);
    for (size_t i = 0; i < asked->change_count; i++)
        sets[i].text = asked->changes[i];
    const struct scenario *own = asked->scenario ? asked->scenario : fleet->scenario;
    struct scenario_request changed = scenario_request_with(&own->request, sets, asked->change_count, arena);
    const struct scenario *scenario = scenario_load(&changed, arena, &diag);
    int code = scenario ? search_it(scenario, ceiling, request, found, arena) : EXIT_BAD_INPUT;
    if (code != EXIT_DONE && interruption_noted()) {
        found->status = FLEET_UNASKED;
        code = EXIT_DONE;
    }
    if (code == EXIT_DONE && found->status == FLEET_FOUND)
        find_courses(scenario, asked, found, arena);
    arena_destroy(arena);
    return code;
}
