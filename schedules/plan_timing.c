/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan_timing.h"

#include "schedules/plan_stash.h"
#include "schedules/plan_walk.h"
#include "simulator/arena.h"

#include <stdlib.h>

/* Ends of what has been done to a micro-batch in a stage: forward and backward, half a and half b. */
struct ends {
    double times[4];
};

struct evaluation {
    const struct plan *plan;
    const struct plan_costs *costs;
    struct plan_timing *timing;
    struct ends *ends; /* [micro_batch * stages + stage] */
    double *fetched;   /* the same index: when a fetched stash is back; NULL where the plan evicts nothing */
    double *clock;     /* [worker] */
};

static struct ends *ends_of(const struct evaluation *evaluation, uint32_t micro_batch, uint32_t stage)
{
    return &evaluation->ends[(size_t)micro_batch * evaluation->plan->stages + stage];
}

/* When all that a slot waits for has arrived. */
static double arrival(const struct evaluation *evaluation, uint32_t worker, const struct slot *slot)
{
    struct plan_input inputs[2];
    unsigned count = plan_inputs(evaluation->plan, slot, inputs);
    double latest = 0;
    for (unsigned i = 0; i < count; i++) {
        double latency = plan_worker(evaluation->plan, slot->pipeline, inputs[i].stage) == worker ? 0 : evaluation->costs->latency;
        const struct ends *ends = ends_of(evaluation, slot->micro_batch, inputs[i].stage);
        for (unsigned bit = 0; bit < 4; bit++)
            if ((inputs[i].mask >> bit & 1) && ends->times[bit] + latency > latest)
                latest = ends->times[bit] + latency;
    }
    if (evaluation->fetched && slot->kind == SLOT_BACKWARD) {
        double fetched = evaluation->fetched[(size_t)slot->micro_batch * evaluation->plan->stages + slot->stage];
        latest = fetched > latest ? fetched : latest;
    }
    return latest;
}

static double duration(const struct plan_costs *costs, const struct slot *slot)
{
    double share = slot->part == PART_WHOLE ? 1 : 0.5;
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        return share * costs->forward[slot->stage];
    case SLOT_BACKWARD:
        return share * (slot->split ? costs->backward[slot->stage] - costs->weight[slot->stage] : costs->backward[slot->stage]);
    case SLOT_WEIGHT:
        return share * costs->weight[slot->stage];
    case SLOT_EVICT:
    case SLOT_FETCH:
        break;
    }
    return 0;
}

/* A forward and a whole backward, in any order. */
static bool is_pair(const struct slot *slots, size_t count)
{
    if (count != 2 || slots[0].part != PART_WHOLE || slots[1].part != PART_WHOLE)
        return false;
    const struct slot *backward = slots[0].kind == SLOT_BACKWARD ? &slots[0] : &slots[1];
    const struct slot *forward = backward == &slots[0] ? &slots[1] : &slots[0];
    return forward->kind == SLOT_FORWARD && backward->kind == SLOT_BACKWARD && !backward->split;
}

static double block_duration(const struct plan_costs *costs, const struct slot *slots, size_t count)
{
    if (costs->block && is_pair(slots, count))
        return (costs->block[slots[0].stage] + costs->block[slots[1].stage]) / 2;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += duration(costs, &slots[i]);
    return sum;
}

static void record_end(const struct evaluation *evaluation, const struct slot *slot, double end)
{
    const struct plan *plan = evaluation->plan;
    struct ends *ends = ends_of(evaluation, slot->micro_batch, slot->stage);
    for (unsigned bit = 0, mask = plan_mask(slot); bit < 4; bit++)
        if (mask >> bit & 1)
            ends->times[bit] = end;
    if (slot->kind == SLOT_FETCH)
        evaluation->fetched[(size_t)slot->micro_batch * plan->stages + slot->stage] = end + evaluation->costs->latency;
    double *iteration = &evaluation->timing->iteration_ends[slot->micro_batch / (plan->micro_batches / plan->iterations)];
    if (end > *iteration)
        *iteration = end;
}

static void visit(void *user, uint32_t worker, size_t first, size_t end)
{
    struct evaluation *evaluation = user;
    const struct slot *slots = evaluation->plan->orders[worker].slots;
    double start = evaluation->clock[worker];
    for (size_t i = first; i < end; i++) {
        double arrived = arrival(evaluation, worker, &slots[i]);
        start = arrived > start ? arrived : start;
    }
    double length = block_duration(evaluation->costs, slots + first, end - first);
    /* An eviction or fetch goes on beside the computing: it starts when its place in the order is reached. */
    if (slots[first].kind < SLOT_EVICT)
        evaluation->clock[worker] = start + length;
    evaluation->timing->busy[worker] += length;
    for (size_t i = first; i < end; i++) {
        evaluation->timing->spans[evaluation->timing->first[worker] + i] = (struct plan_span){start, start + length};
        record_end(evaluation, &slots[i], start + length);
    }
}

static void *zeros(size_t count, size_t size)
{
    size_t capacity = 0;
    unsigned char *memory = array_grow(NULL, &capacity, count, size);
    for (size_t i = 0; i < capacity * size; i++)
        memory[i] = 0;
    return memory;
}

static void evaluate(struct plan_timing *timing, const struct plan *plan, const struct plan_costs *costs)
{
    size_t cells = (size_t)plan->micro_batches * plan->stages;
    struct evaluation evaluation = {.plan = plan, .costs = costs, .timing = timing};
    evaluation.ends = zeros(cells, sizeof *evaluation.ends);
    evaluation.clock = zeros(plan->workers, sizeof *evaluation.clock);
    if (plan->partners)
        evaluation.fetched = zeros(cells, sizeof *evaluation.fetched);
    struct plan_walk walk;
    plan_walk_run(&walk, plan, visit, &evaluation);
    plan_walk_finish(&walk);
    free(evaluation.fetched);
    free(evaluation.clock);
    free(evaluation.ends);
}

/* Makespan, T and the bubble figures from the spans. */
static void summarize(struct plan_timing *timing, const struct plan *plan)
{
    double begin = 0, end = 0, busy = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        size_t count = plan->orders[worker].count;
        if (!count)
            continue;
        double first = plan_timing_span(timing, worker, 0).start, last = plan_timing_span(timing, worker, count - 1).end;
        begin = worker == 0 || first < begin ? first : begin;
        end = last > end ? last : end;
        busy += timing->busy[worker];
        double span = last > first ? 1 - timing->busy[worker] / (last - first) : 0;
        timing->span_max = span > timing->span_max ? span : timing->span_max;
    }
    timing->makespan = end - begin;
    timing->iteration = timing->makespan;
    if (plan->iterations > 1)
        timing->iteration = timing->iteration_ends[plan->iterations - 1] - timing->iteration_ends[plan->iterations - 2];
    double mean = busy / plan->workers / plan->iterations;
    timing->ratio = timing->iteration > 0 ? 1 - mean / timing->iteration : 0;
    timing->over_ideal = mean > 0 ? timing->iteration / mean - 1 : 0;
}

void plan_timing_init(struct plan_timing *timing, const struct plan *plan, const struct plan_costs *costs)
{
    *timing = (struct plan_timing){.first = zeros(plan->workers + 1u, sizeof *timing->first),
                                   .busy = zeros(plan->workers, sizeof *timing->busy),
                                   .peak_in_flight = zeros(plan->workers, sizeof *timing->peak_in_flight),
                                   .iteration_ends = zeros(plan->iterations, sizeof *timing->iteration_ends)};
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        timing->first[worker + 1] = timing->first[worker] + plan->orders[worker].count;
    timing->spans = zeros(timing->first[plan->workers], sizeof *timing->spans);
    evaluate(timing, plan, costs);
    summarize(timing, plan);
    plan_stash_peaks(plan, timing, timing->peak_in_flight);
}

void plan_timing_finish(struct plan_timing *timing)
{
    free(timing->spans);
    free(timing->first);
    free(timing->busy);
    free(timing->peak_in_flight);
    free(timing->iteration_ends);
    *timing = (struct plan_timing){0};
}
