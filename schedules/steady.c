/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/steady.h"

#include "base/arena.h"
#include "base/numbers/cycle.h"
#include "schedules/schedules.h"

#include <stdlib.h>

/* No more iterations than this many forwards are tried, and as many as a plan may have. */
enum { FORWARDS_MAX = 1 << 19 };
/* Times of equal states are the same but for the rounding of sums. */
static const double rounding = 1e-11;

/* ---- the order ---- */

static bool alike(const struct slot *a, const struct slot *b, uint32_t later)
{
    return a->kind == b->kind && a->stage == b->stage && a->pipeline == b->pipeline && a->part == b->part &&
           a->joined == b->joined && a->split == b->split && b->micro_batch == a->micro_batch + later;
}

/* The longest run of slots in which each is like the one an iteration before. */
static void find_run(const struct plan *plan, const struct plan_order *order, struct cycle_list *list)
{
    uint32_t later = plan->micro_batches / plan->iterations, begun = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        bool inside = i + list->beat < list->count;
        if (inside && alike(&order->slots[i], &order->slots[i + list->beat], later))
            continue;
        uint32_t to = inside ? i + list->beat : list->count;
        if (to - begun > list->to - list->from) {
            list->from = begun;
            list->to = to;
        }
        begun = i + 1;
    }
}

/* A slot matters to others until its message is there. */
static struct cycle_list list_of(const struct plan *plan, const struct plan_timing *timing, uint32_t worker,
                                 double latency, struct arena *arena)
{
    const struct plan_order *order = &plan->orders[worker];
    struct moment *moments = arena_array(arena, order->count + 1, sizeof *moments);
    for (size_t i = 0; i < order->count; i++) {
        struct plan_span span = plan_timing_span(timing, worker, i);
        moments[i] = (struct moment){span.start, span.start, span.end + latency};
    }
    struct cycle_list list = {
        .moments = moments, .count = (uint32_t)order->count, .beat = (uint32_t)(order->count / plan->iterations)};
    if (list.beat)
        find_run(plan, order, &list);
    return list;
}

/* ---- the steady state ---- */

static uint32_t first_of(const uint32_t *joined, uint32_t worker)
{
    while (joined[worker] != worker)
        worker = joined[worker];
    return worker;
}

/* [worker]: another one of the workers whose micro-batches meet, in the end their first one. Where replicas stand side
 * by side, some may never hear of others, and run ahead of them. */
static uint32_t *join_workers(const struct plan *plan, struct arena *arena)
{
    uint32_t *joined = arena_array(arena, plan->workers, sizeof *joined);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        joined[worker] = worker;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 0; i < plan->orders[worker].count / plan->iterations; i++) {
            uint32_t other = plan_worker(plan, plan->orders[worker].slots[i].pipeline, 0);
            uint32_t a = first_of(joined, worker), b = first_of(joined, other);
            joined[a > b ? a : b] = a > b ? b : a;
        }
    return joined;
}

/* The slowest of those that do not meet decides. */
static bool find_cycle(const struct plan *plan, const struct plan_timing *timing, double latency, double *steady)
{
    struct arena *arena = arena_create();
    struct cycle_list *lists = arena_array(arena, plan->workers, sizeof *lists);
    const uint32_t *joined = join_workers(plan, arena);
    double longest = 0;
    bool found = true;
    for (uint32_t first = 0; first < plan->workers && found; first++) {
        uint32_t count = 0;
        struct cycle cycle;
        for (uint32_t worker = first; worker < plan->workers && first_of(joined, first) == first; worker++)
            if (plan->orders[worker].count && first_of(joined, worker) == first)
                lists[count++] = list_of(plan, timing, worker, latency, arena);
        if (!count)
            continue;
        found = cycle_find(lists, count, rounding, &cycle);
        longest = found && cycle.length / cycle.beats > longest ? cycle.length / cycle.beats : longest;
    }
    arena_destroy(arena);
    if (found)
        *steady = longest;
    return found;
}

/* Over the second half of the iterations, without the last one, which nothing follows. */
static double mean_interval(const struct plan_timing *timing, uint32_t iterations)
{
    if (iterations < 3)
        return timing->iteration;
    uint32_t first = iterations > 3 ? iterations / 2 : 1;
    return (timing->iteration_ends[iterations - 2] - timing->iteration_ends[first - 1]) / (iterations - 1 - first);
}

/* Where iterations meet in each worker's own order alone, one can begin as long after another as the longest span of a
 * worker, and not sooner than a worker's work: that span is the time if nothing in it is idle. 0: something is. */
static double longest_without_gap(const struct plan *plan, const struct plan_timing *timing)
{
    double longest = 0, busiest = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        size_t count = plan->orders[worker].count;
        if (!count)
            continue;
        double span = plan_timing_span(timing, worker, count - 1).end - plan_timing_span(timing, worker, 0).start;
        longest = span > longest ? span : longest;
        busiest = timing->busy[worker] > busiest ? timing->busy[worker] : busiest;
    }
    return longest <= busiest * (1 + rounding) ? busiest : 0;
}

/* From the plan of several iterations; false where they are too few. */
static bool find_steady(const struct plan *plan, const struct plan_costs *costs, bool last, double *steady)
{
    struct plan_timing timing;
    plan_timing_init(&timing, plan, costs);
    bool found = plan->iterations > 1 && find_cycle(plan, &timing, costs->latency, steady);
    if (!found)
        *steady = mean_interval(&timing, plan->iterations);
    plan_timing_finish(&timing);
    return found || last || plan->iterations == 1;
}

double schedule_steady_iteration(const struct schedule *schedule, const struct schedule_request *request,
                                 const struct plan_costs *costs, const struct plan *plan,
                                 const struct plan_timing *timing)
{
    uint64_t forwards = (uint64_t)schedule->stages(request) * request->micro_batches;
    uint64_t most = SCHEDULE_FORWARDS_MAX / forwards, tried = FORWARDS_MAX / forwards;
    uint64_t enough = 2 * (uint64_t)request->workers + 1;
    tried = tried > enough ? tried : enough;
    most = most < tried ? most : tried;
    if (!schedule->crosses || plan->step == PLAN_STEP_BLOCKING)
        return timing->iteration;
    double steady = plan->asynchronous ? 0 : longest_without_gap(plan, timing);
    if (steady > 0)
        return steady;
    struct schedule_request several = *request;
    several.iterations = most > 4 ? 4 : most ? (uint32_t)most : 1;
    for (bool found = false; !found;) {
        struct plan *many =
            plan->asynchronous ? schedule->plan(&several) : plan_create_repeated(plan, several.iterations);
        found = find_steady(many, costs, several.iterations >= most, &steady);
        plan_destroy(many);
        several.iterations = 2 * (uint64_t)several.iterations < most ? 2 * several.iterations : (uint32_t)most;
    }
    return steady;
}
