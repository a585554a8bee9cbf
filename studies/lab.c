/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/lab.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/clock.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_file.h"
#include "schedules/plan/plan_rows.h"
#include "schedules/schedule.h"
#include "studies/evaluate.h"
#include "studies/lab_parts.h"
#include "studies/searched.h"
#include "studies/simulation.h"
#include "workloads/transformer/pipeline_layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPERATIONS_MAX = 20000000, EFFORT_OF_JOB = 1000, REACH = 6, SWAPS = 8 };

static uint32_t random_below(struct session *session, uint32_t count)
{
    session->random = session->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((session->random >> 33) * count >> 31);
}

/* ---- which schedules ---- */

static void try_published(struct session *session)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        struct lab_candidate candidate = {.set_count = 0};
        snprintf(candidate.schedule, sizeof candidate.schedule, "%s", (*schedule)->name);
        snprintf(candidate.label, sizeof candidate.label, "%s", (*schedule)->name);
        if (!schedule_goes_by_name(*schedule) && !(*schedule)->asynchronous)
            lab_try(session, &candidate, NULL);
    }
}

static struct lab_candidate searched(uint32_t chunks, const char *placement, const char *backward, uint64_t effort)
{
    struct lab_candidate candidate = {.schedule = "best"};
    lab_add_set(&candidate, "schedule.name=best");
    lab_add_set(&candidate, "schedule.chunks=%u", chunks);
    lab_add_set(&candidate, "schedule.placement=%s", placement);
    lab_add_set(&candidate, "schedule.backward=%s", backward);
    lab_add_set(&candidate, "schedule.effort=%llu", (unsigned long long)effort);
    snprintf(candidate.label, sizeof candidate.label, "best, chunks %u, %s, %s", chunks, placement, backward);
    return candidate;
}

static void try_searched(struct session *session)
{
    for (const struct searched *shape = searched_shapes; shape->chunks; shape++) {
        struct lab_candidate candidate =
            searched(shape->chunks, shape->placement, shape->backward, session->request->effort);
        lab_try(session, &candidate, NULL);
    }
}

/* ---- the order itself, on the platform ---- */

static bool keep_quiet(void *user, const struct plan_mistake *mistake)
{
    (void)user;
    (void)mistake;
    return false;
}

/* Two workers change their stages, with all that they do. */
static void swap_workers(struct plan *plan, uint32_t a, uint32_t b)
{
    struct plan_order order = plan->orders[a];
    plan->orders[a] = plan->orders[b];
    plan->orders[b] = order;
    for (uint32_t i = 0; i < plan->pipelines * plan->stages; i++)
        if (plan->copies[i].worker == a || plan->copies[i].worker == b)
            plan->copies[i].worker = plan->copies[i].worker == a ? b : a;
}

/* Moves a slot of a worker a few places. Blocks of two stay as they are: false. */
static bool change_order(struct session *session, struct plan *plan)
{
    if (random_below(session, SWAPS) == 0) {
        swap_workers(plan, random_below(session, plan->workers), random_below(session, plan->workers));
        return plan_check(plan, &(struct plan_reporter){keep_quiet, NULL});
    }
    struct plan_order *order = &plan->orders[random_below(session, plan->workers)];
    if (order->count < 2)
        return false;
    size_t from = random_below(session, (uint32_t)order->count), reach = 1 + random_below(session, REACH);
    size_t to = random_below(session, 2) ? (from > reach ? from - reach : 0)
                                         : (from + reach < order->count ? from + reach : order->count - 1);
    size_t first = from < to ? from : to, last = from < to ? to : from;
    for (size_t i = first; i <= last + (last + 1 < order->count); i++)
        if (order->slots[i].joined)
            return false;
    struct slot slot = order->slots[from];
    if (from < to)
        memmove(order->slots + from, order->slots + from + 1, (to - from) * sizeof slot);
    else
        memmove(order->slots + to + 1, order->slots + to, (from - to) * sizeof slot);
    order->slots[to] = slot;
    return plan_check(plan, &(struct plan_reporter){keep_quiet, NULL});
}

/* One change of the order in a file; false where it gives no order. */
static bool write_changed(struct session *session, const char *from, const char *to)
{
    struct diag silent = {0};
    struct plan *plan = plan_file_read(from, PYTORCH_TODAY, &silent);
    FILE *file = plan && change_order(session, plan) ? fopen(to, "w") : NULL;
    if (file)
        plan_rows_write(plan, file);
    plan_destroy(plan);
    return file && fclose(file) == 0;
}

/* Changes of the best order, kept where the job takes no longer. */
static void improve(struct session *session)
{
    const struct lab_candidate *start = lab_best(session->lab);
    struct arena *arena = arena_create();
    struct lab *lab = session->lab;
    if (!start) {
        arena_destroy(arena);
        return;
    }
    struct lab_candidate current = *start;
    uint32_t own = lab->count, number = LAB_CANDIDATES; /* own: the place of what is better, once there is something */
    for (uint64_t left = session->request->effort / EFFORT_OF_JOB; left > 0 && !lab_is_over(session); left--) {
        struct lab_candidate next = current;
        const char *changed = arena_print(arena, "%s/changed.csv", session->request->folder);
        if (!write_changed(session, lab_file_of(session, current.number, "csv", arena), changed) ||
            !lab_judge(session, &next, number, changed) || lab_is_better(&current, &next))
            continue;
        number++; /* the file of what was kept stays */
        next.improved = true;
        if (!current.improved)
            snprintf(next.label, sizeof next.label, "%.110s, changed here", current.label);
        current = next;
        if (!lab_is_better(&next, start))
            continue;
        lab->candidates[own] = next;
        lab->count = own + 1;
        start = &lab->candidates[own];
    }
    arena_destroy(arena);
}

/* ---- the two parts ---- */

static int explore(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    struct session *session = user;
    session->platform = platform;
    session->began = clock_now();
    try_published(session);
    try_searched(session);
    if (session->request->partition)
        lab_try_partitions(session);
    improve(session);
    if (session->lab->count == 0) {
        diag_error(diag, scenario_place(session->request->scenario, ""), "no schedule can be timed for this scenario");
        return EXIT_BAD_INPUT;
    }
    fwrite(session->lab, sizeof *session->lab, 1, results);
    return EXIT_DONE;
}

static int by_time(const void *left, const void *right)
{
    const struct lab_candidate *a = left, *b = right;
    if (a->fits != b->fits)
        return a->fits ? -1 : 1;
    if ((a->simgrid > 0) != (b->simgrid > 0))
        return a->simgrid > 0 ? -1 : 1;
    double first = a->simgrid > 0 ? a->simgrid : a->analytic, second = b->simgrid > 0 ? b->simgrid : b->analytic;
    if (first < second || first > second)
        return first < second ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int confirm(const struct lab_request *request, struct lab_candidate *candidate)
{
    struct arena *arena = arena_create();
    struct diag diag = {.out = stderr};
    const char *order =
        candidate->improved ? arena_print(arena, "%s/%u.csv", request->folder, candidate->number) : NULL;
    struct scenario_request changed = lab_scenario_of(request, candidate, order, arena);
    struct scenario_set simgrid = {.text = "engine=simgrid"};
    changed = scenario_request_with(&changed, &simgrid, 1, arena);
    changed.schedule = order ? order : candidate->schedule;
    struct simulation_request simulation = {.scenario = scenario_load(&changed, arena, &diag), .quiet = true};
    struct simulation_result result;
    int code = simulation.scenario ? simulate(&simulation, &result) : EXIT_FAILED;
    if (code == EXIT_DONE) {
        candidate->simgrid = result.rows[0].iteration;
        gantt_destroy(result.gantt);
    }
    arena_destroy(arena);
    return code;
}

/* The same schedule with the same layers, reached in two ways. */
static bool are_alike(const struct lab_candidate *a, const struct lab_candidate *b)
{
    return !strcmp(a->schedule, b->schedule) && !strcmp(a->layout, b->layout) && a->improved == b->improved &&
           !(a->analytic < b->analytic) && !(a->analytic > b->analytic) && !(a->peak_bytes < b->peak_bytes) &&
           !(a->peak_bytes > b->peak_bytes);
}

static void drop_doubles(struct lab *lab)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lab->count; i++) {
        const struct lab_candidate *candidate = &lab->candidates[i];
        bool known = false;
        for (uint32_t k = 0; k < kept && !known; k++)
            known = are_alike(candidate, &lab->candidates[k]);
        if (!known)
            lab->candidates[kept++] = *candidate;
    }
    lab->count = kept;
}

int lab_run(const struct lab_request *request, struct lab *lab)
{
    struct session session = {.request = request, .lab = lab, .random = 1};
    struct simulation_visit visit = {.scenario = request->scenario, .body = explore, .user = &session};
    FILE *results = NULL;
    int code = simulation_visit(&visit, &results);
    if (code == EXIT_DONE && fread(lab, sizeof *lab, 1, results) != 1)
        code = EXIT_FAILED;
    if (results)
        fclose(results);
    if (code != EXIT_DONE)
        return code;
    drop_doubles(lab);
    qsort(lab->candidates, lab->count, sizeof *lab->candidates, by_time);
    for (uint32_t i = 0; i < lab->count && i < LAB_CONFIRMED && code == EXIT_DONE && !interruption_noted(); i++) {
        guard_doing("simulating the best: %u of %u", i + 1, (unsigned)LAB_CONFIRMED);
        code = confirm(request, &lab->candidates[i]);
    }
    qsort(lab->candidates, lab->count, sizeof *lab->candidates, by_time);
    return code;
}
