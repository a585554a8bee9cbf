/* SPDX-License-Identifier: Apache-2.0 */
/* The bound of any order. */
#include "base/arena.h"
#include "schedules/best/best.h"
#include "schedules/plan/plan_slices.h"
#include "workloads/pipeline/lowering.h"
#include "workloads/pipeline/outline_parts.h"

#include <math.h>

/* Whether a worker can end with weight gradients, which nothing waits for: a plan whose backwards are whole is compared
 * with others of its kind. */
static bool can_split(const struct outline *o)
{
    return o->request->costs->weight != NULL && o->splits;
}

/* Before the first and behind the last of a worker's own stages, at the least. */
static void find_ends(const struct outline *o, uint32_t worker, double *before, double *after)
{
    const struct plan *plan = o->request->plan;
    *before = *after = INFINITY;
    for (uint32_t pipeline = 0; pipeline < plan->pipelines; pipeline++)
        for (uint32_t stage = 0; stage < plan->stages; stage++) {
            if (plan_worker(plan, pipeline, stage) != worker)
                continue;
            struct slot slot = {.kind = SLOT_BACKWARD, .pipeline = pipeline, .stage = stage, .part = PART_WHOLE};
            *before = fmin(*before, outline_earliest_start(o, &slot));
            *after = fmin(*after, can_split(o) ? 0 : outline_shortest_tail(o, &slot));
        }
}

/* One micro-batch through all stages and back. */
static double longest_way(const struct outline *o, uint32_t pipeline)
{
    double sum = 0;
    for (uint32_t stage = 0; stage < o->request->plan->stages; stage++) {
        const struct copy_times *times = outline_copy(o, pipeline, stage);
        double back = can_split(o) ? fmin(times->input, times->backward) : times->backward;
        sum += times->forward + back + times->message + times->back;
    }
    return sum;
}

/* What the search for the best order knows of such a pipeline before it looks at any order, without a limit. */
static double search_bound(const struct outline *o, struct arena *arena)
{
    const struct plan *plan = o->request->plan;
    double *times[3], message = INFINITY;
    uint32_t *worker_of = arena_array(arena, plan->stages, sizeof *worker_of);
    for (unsigned kind = 0; kind < 3; kind++)
        times[kind] = arena_array(arena, plan->stages, sizeof(double));
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        const struct copy_times *copy = outline_copy(o, 0, stage);
        worker_of[stage] = plan_worker(plan, 0, stage);
        times[0][stage] = copy->forward;
        times[1][stage] = fmax(copy->backward, copy->weight);
        times[2][stage] = copy->weight;
        if (stage + 1 < plan->stages && plan_worker(plan, 0, stage + 1) != worker_of[stage])
            message = fmin(message, fmin(copy->message, copy->back));
    }
    return best_bound(&(struct instance_request){.workers = plan->workers,
                                                 .stages = plan->stages,
                                                 .batches = plan->micro_batches,
                                                 .worker_of = worker_of,
                                                 .forward = times[0],
                                                 .backward = times[1],
                                                 .weight = can_split(o) ? times[2] : NULL,
                                                 .latency = isfinite(message) ? message : 0});
}

/* Blocks of two take less than their parts; moved stashes are not among the search's operations. */
static bool is_plain(const struct plan *plan)
{
    bool plain = plan->pipelines == 1 && plan->partners == NULL;
    for (uint32_t worker = 0; plain && worker < plan->workers; worker++)
        for (size_t i = 0; i < plan->orders[worker].count; i++)
            plain = plain && !plan->orders[worker].slots[i].joined;
    return plain;
}

/* Where iterations cross each other: none comes sooner behind another than the busiest worker does its own part. */
static double crossing_bound(const struct outline *o)
{
    const struct plan *plan = o->request->plan;
    double bound = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        bound = fmax(bound, outline_own_work(o, &plan->orders[worker]) / plan->iterations);
    return bound;
}

/* Of a stage's forward or backward what a slice computes. */
static double slice_seconds(const struct outline *o, enum slot_kind kind, uint32_t stage, uint32_t slice)
{
    const struct stagesim_pipeline *costs = o->request->costs;
    const struct plan *plan = o->request->plan;
    struct copy_times times = outline_stage_computes(o, stage);
    const double *attention =
        kind == SLOT_BACKWARD && costs->attention_backward ? costs->attention_backward : costs->attention;
    return (kind == SLOT_FORWARD ? times.forward : times.backward) * plan_slice_work(plan, slice, at(attention, stage));
}

/* Of sequences in slices: the first slice through the stages before the earliest of a worker's own, all its computing,
 * and the first slice back, which is the last then. Collectives of slices do not count. */
static double slices_bound(const struct outline *o, uint32_t worker)
{
    const struct pipeline_outline_request *r = o->request;
    double work = 0, before = INFINITY, after = INFINITY, forwards = 0, backwards = 0, messages = 0;
    for (uint32_t stage = 0; stage < r->plan->stages; stage++) {
        uint32_t home = plan_worker(r->plan, 0, stage);
        if (home == worker) {
            before = fmin(before, forwards + messages);
            after = fmin(after, can_split(o) || r->costs->gradient_message ? 0 : backwards + messages);
            for (uint32_t slice = 0; slice < r->plan->slices; slice++)
                work += slice_seconds(o, SLOT_FORWARD, stage, slice) + slice_seconds(o, SLOT_BACKWARD, stage, slice);
        }
        forwards += slice_seconds(o, SLOT_FORWARD, stage, 0);
        backwards += slice_seconds(o, SLOT_BACKWARD, stage, 0);
        if (stage + 1 < r->plan->stages && plan_worker(r->plan, 0, stage + 1) != home)
            messages += r->message(r->user, home, plan_worker(r->plan, 0, stage + 1),
                                   at(r->costs->message, stage) * plan_slice_length(r->plan, 0));
    }
    work *= (double)r->plan->micro_batches / r->plan->slices;
    return work > 0 ? before + work + fmax(outline_own_steps(o, worker), after) : 0;
}

double pipeline_outline_any(const struct pipeline_outline_request *request, struct arena *arena)
{
    const struct plan *plan = request->plan;
    double bound = 0;
    struct outline o = outline_create(request, arena);
    if (plan->slices > 1) {
        for (uint32_t worker = 0; worker < plan->workers && plan->pipelines == 1; worker++)
            bound = fmax(bound, slices_bound(&o, worker));
        return bound * slack;
    }
    if (!outline_is_synchronous(plan))
        return crossing_bound(&o) * slack;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        double before, after;
        if (!plan->orders[worker].count)
            continue;
        find_ends(&o, worker, &before, &after);
        bound = fmax(bound,
                     before + outline_own_work(&o, &plan->orders[worker]) + fmax(outline_own_steps(&o, worker), after));
    }
    if (is_plain(plan))
        bound = fmax(bound, fmax(longest_way(&o, 0), search_bound(&o, arena)));
    return bound * slack;
}
