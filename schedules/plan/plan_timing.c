/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_timing.h"

#include "base/arena.h"
#include "schedules/plan/plan_slices.h"
#include "schedules/plan/plan_stash.h"
#include "schedules/plan/plan_walk.h"
#include "schedules/plan/plan_weights.h"

#include <stdlib.h>

/* When what has been done to a micro-batch in a stage ended. */
struct ends {
    double forward, halves[2]; /* halves of the backward */
};

/* When a stash was sent to the partner, or had left for host memory, and when the partner was ready to send it back, or
 * it was back. */
struct move {
    double evicted, returned;
};

/* When a worker's ways to host memory and back are free. */
struct ways {
    double out, back;
};

/* When what travels of a stage was handed on: weights for a forward, for its backward, and the gradient behind it. */
struct passes {
    double sent[3];
};

/* When a worker's shares of the output layer ended: S and T. */
struct outputs {
    double end[2];
};

struct evaluation {
    const struct plan *plan;
    const struct plan_costs *costs;
    struct plan_timing *timing;
    struct ends *ends;       /* [micro_batch * stages + stage] */
    struct move *moves;      /* the same index; NULL where the plan evicts nothing */
    double *clock;           /* [worker] */
    bool *evicted;           /* the same index as ends: the stash is away, or was */
    struct ways *ways;       /* [worker]; NULL where the plan evicts nothing */
    struct passes *passes;   /* the same index; NULL where no weights travel */
    struct outputs *outputs; /* the same index; NULL where the output layer is not shared */
};

static size_t cell_of(const struct evaluation *evaluation, uint32_t micro_batch, uint32_t stage)
{
    return (size_t)micro_batch * evaluation->plan->stages + stage;
}

static double later(double left, double right)
{
    return left > right ? left : right;
}

/* When the bits of an input were done, without the way from there. */
static double input_end(const struct evaluation *evaluation, const struct plan_input *input)
{
    size_t cell = cell_of(evaluation, input->micro_batch, input->stage);
    const struct ends *ends = &evaluation->ends[cell];
    switch (input->mask) {
    case DONE_FORWARD:
        return ends->forward;
    case DONE_RETURN: /* the partner sends it back when it is asked to, and has it */
        return later(evaluation->moves[cell].returned, evaluation->moves[cell].evicted + evaluation->costs->latency);
    case DONE_FETCH:
        return evaluation->moves[cell].returned;
    case DONE_PASS_FORWARD:
        return evaluation->passes[cell].sent[0];
    case DONE_PASS_BACKWARD:
        return evaluation->passes[cell].sent[1];
    case DONE_PASS_GRADIENT:
        return evaluation->passes[cell].sent[2];
    case DONE_OUTPUT:
    case DONE_OUTPUT_GRADIENT:
        return evaluation->outputs[cell].end[input->mask == DONE_OUTPUT_GRADIENT];
    case DONE_BACKWARD:
        return later(ends->halves[0], ends->halves[1]);
    default:
        return ends->halves[input->mask == 4];
    }
}

/* How long an input is on its way; what is handed on around the ring goes from worker to worker. */
static double way(const struct evaluation *evaluation, uint32_t worker, const struct plan_input *input)
{
    if (input->worker == worker)
        return 0;
    uint32_t workers = evaluation->plan->workers;
    uint32_t hops = input->mask >= DONE_PASS_FORWARD && input->mask <= DONE_PASS_GRADIENT
                        ? (worker + workers - input->worker) % workers
                        : 1;
    return hops * evaluation->costs->latency;
}

/* When all that a slot waits for has arrived. */
static double arrival(const struct evaluation *evaluation, uint32_t worker, const struct slot *slot)
{
    struct plan_input inputs[PLAN_INPUTS_MAX];
    bool evicted = evaluation->evicted && evaluation->evicted[cell_of(evaluation, slot->micro_batch, slot->stage)];
    unsigned count = plan_inputs(evaluation->plan, slot, evicted ? DONE_EVICT : 0, inputs);
    double latest = 0;
    for (unsigned i = 0; i < count; i++)
        for (uint32_t more = inputs[i].all ? inputs[i].stage + 1 : 1; more > 0; more--) {
            latest = later(latest, input_end(evaluation, &inputs[i]) + way(evaluation, worker, &inputs[i]));
            if (more > 1) {
                inputs[i].stage--;
                inputs[i].worker = plan_worker(evaluation->plan, slot->pipeline, inputs[i].stage);
            }
        }
    return latest;
}

/* Of a part of a micro-batch that is a slice. */
static double slice_duration(const struct plan *plan, const struct plan_costs *costs, const struct slot *slot)
{
    uint32_t stage = slot->stage;
    unsigned back = slot->kind == SLOT_BACKWARD;
    double work = plan_slice_work(plan, slot->micro_batch, costs->attention[back] ? costs->attention[back][stage] : 0);
    double weight = costs->weight ? costs->weight[stage] * plan_slice_length(plan, slot->micro_batch) : 0;
    if (slot->kind == SLOT_WEIGHT)
        return weight;
    if (back)
        return costs->backward[stage] * work - (slot->split ? weight : 0);
    return costs->forward[stage] * work * (slot->kind == SLOT_RECOMPUTE ? plan_recomputed(plan, stage) : 1);
}

static double duration(const struct plan *plan, const struct plan_costs *costs, const struct slot *slot)
{
    if (plan->slices > 1 && !slot_moves(slot) && !slot_hands_on(slot))
        return slice_duration(plan, costs, slot);
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        return costs->forward[slot->stage];
    case SLOT_BACKWARD:
        return costs->backward[slot->stage] * (slot->part == PART_WHOLE ? 1 : 0.5) -
               (slot->split ? costs->weight[slot->stage] : 0);
    case SLOT_WEIGHT:
        return costs->weight[slot->stage];
    case SLOT_RECOMPUTE:
        return costs->forward[slot->stage] * plan_recomputed(plan, slot->stage);
    case SLOT_OUTPUT:
    case SLOT_OUTPUT_GRADIENT:
        return costs->forward[slot->stage] * plan_output_share(plan, slot);
    case SLOT_EVICT:
    case SLOT_FETCH:
    case SLOT_PASS_FORWARD:
    case SLOT_PASS_BACKWARD:
    case SLOT_PASS_GRADIENT:
        break;
    }
    return 0;
}

/* What a stage's forward or backward is shorter by in a braid: half of what a block of both is shorter by. */
static double hidden(const struct plan_costs *costs, uint32_t stage)
{
    return (costs->forward[stage] + costs->backward[stage] - costs->block[stage]) / 2;
}

/* What two braided slots are shorter by; a weight gradient has nothing to hide. */
static double braided(const struct plan_costs *costs, const struct slot *slots)
{
    double second = slots[1].kind == SLOT_WEIGHT ? 0 : hidden(costs, slots[1].stage);
    return hidden(costs, slots[0].stage) + second;
}

static double block_duration(const struct plan *plan, const struct plan_costs *costs, const struct slot *slots,
                             size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += duration(plan, costs, &slots[i]);
    if (count == 1 || !costs->block || plan->slices > 1 || slots[0].kind == SLOT_RECOMPUTE)
        return sum;
    if (slots[1].joined == SLOT_BRAIDED)
        return sum - braided(costs, slots);
    if (slots[0].kind == slots[1].kind)
        return sum;
    const struct slot *backward = slots[0].kind == SLOT_BACKWARD ? &slots[0] : &slots[1];
    double block = (costs->block[slots[0].stage] + costs->block[slots[1].stage]) / 2;
    return block - (backward->split ? costs->weight[backward->stage] : 0);
}

static void record_move(const struct evaluation *evaluation, uint32_t worker, const struct slot *slot, double time)
{
    size_t cell = cell_of(evaluation, slot->micro_batch, slot->stage);
    uint16_t mask = plan_mask(evaluation->plan, worker, slot);
    if (mask == DONE_EVICT) {
        evaluation->evicted[cell] = true;
        evaluation->moves[cell].evicted = time;
    } else if (mask == DONE_RETURN) {
        evaluation->moves[cell].returned = time;
    }
}

static void record(const struct evaluation *evaluation, uint32_t worker, const struct slot *slot, double end)
{
    const struct plan *plan = evaluation->plan;
    struct ends *ends = &evaluation->ends[cell_of(evaluation, slot->micro_batch, slot->stage)];
    if (slot->kind == SLOT_FORWARD)
        ends->forward = end;
    if (slot->kind == SLOT_BACKWARD && slot->part != PART_B)
        ends->halves[0] = end;
    if (slot->kind == SLOT_BACKWARD && slot->part != PART_A)
        ends->halves[1] = end;
    if (slot_is_output(slot))
        evaluation->outputs[cell_of(evaluation, slot->micro_batch, slot->stage)].end[slot->kind - SLOT_OUTPUT] = end;
    if (slot_moves(slot))
        record_move(evaluation, worker, slot, end);
    if (slot_hands_on(slot))
        evaluation->passes[cell_of(evaluation, slot->micro_batch, slot->stage)].sent[slot->kind - SLOT_PASS_FORWARD] =
            end;
    double *iteration =
        &evaluation->timing->iteration_ends[slot->micro_batch / (plan->micro_batches / plan->iterations)];
    if (slot->kind == SLOT_PASS_GRADIENT) /* the last one has yet to come to the owner */
        end += plan_pass_hops(plan, slot->kind, slot->stage, slot->micro_batch) * evaluation->costs->latency;
    *iteration = later(*iteration, end);
}

/* A stash on its way to host memory or back; the worker goes on meanwhile. */
static void transfer(const struct evaluation *evaluation, uint32_t worker, size_t index)
{
    const struct slot *slot = &evaluation->plan->orders[worker].slots[index];
    size_t cell = cell_of(evaluation, slot->micro_batch, slot->stage);
    struct move *move = &evaluation->moves[cell];
    struct ways *ways = &evaluation->ways[worker];
    bool out = slot->kind == SLOT_EVICT;
    double start = out ? later(ways->out, evaluation->ends[cell].forward)
                       : later(later(ways->back, evaluation->clock[worker]), move->evicted);
    double end = start + evaluation->costs->transfer;
    *(out ? &ways->out : &ways->back) = end;
    *(out ? &move->evicted : &move->returned) = end;
    evaluation->evicted[cell] = true;
    evaluation->timing->spans[evaluation->timing->first[worker] + index] = (struct plan_span){start, end};
}

static void visit(void *user, uint32_t worker, size_t first, size_t end)
{
    struct evaluation *evaluation = user;
    const struct slot *slots = evaluation->plan->orders[worker].slots;
    double start = evaluation->clock[worker];
    if (slot_moves(&slots[first]) && plan_offloads(evaluation->plan, worker)) {
        transfer(evaluation, worker, first);
        return;
    }
    for (size_t i = first; i < end; i++)
        start = later(start, arrival(evaluation, worker, &slots[i]));
    if (slot_hands_on(&slots[first])) { /* the worker itself does not wait */
        evaluation->timing->spans[evaluation->timing->first[worker] + first] = (struct plan_span){start, start};
        record(evaluation, worker, &slots[first], start);
        return;
    }
    double length = block_duration(evaluation->plan, evaluation->costs, slots + first, end - first);
    evaluation->clock[worker] = start + length;
    evaluation->timing->busy[worker] += length;
    for (size_t i = first; i < end; i++) {
        evaluation->timing->spans[evaluation->timing->first[worker] + i] = (struct plan_span){start, start + length};
        record(evaluation, worker, &slots[i], start + length);
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
    if (plan->partners) {
        evaluation.moves = zeros(cells, sizeof *evaluation.moves);
        evaluation.evicted = zeros(cells, sizeof *evaluation.evicted);
        evaluation.ways = zeros(plan->workers, sizeof *evaluation.ways);
    }
    if (plan_travels(plan))
        evaluation.passes = zeros(cells, sizeof *evaluation.passes);
    if (plan->barriers)
        evaluation.outputs = zeros(cells, sizeof *evaluation.outputs);
    struct plan_walk walk;
    plan_walk_run(&walk, plan, visit, &evaluation);
    plan_walk_finish(&walk);
    free(evaluation.ways);
    free(evaluation.passes);
    free(evaluation.outputs);
    free(evaluation.evicted);
    free(evaluation.moves);
    free(evaluation.clock);
    free(evaluation.ends);
}

/* From the first to the last slot of a worker, but for what is handed on beside them. */
static struct plan_span span_of(const struct plan_timing *timing, const struct plan *plan, uint32_t worker)
{
    const struct plan_order *order = &plan->orders[worker];
    size_t first = 0, last = order->count - 1;
    while (first < last && slot_hands_on(&order->slots[first]))
        first++;
    while (first < last && slot_hands_on(&order->slots[last]))
        last--;
    return (struct plan_span){plan_timing_span(timing, worker, first).start,
                              plan_timing_span(timing, worker, last).end};
}

/* Makespan, T and the bubble figures from the spans. */
static void summarize(struct plan_timing *timing, const struct plan *plan)
{
    double begin = 0, end = 0, busy = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        if (!plan->orders[worker].count)
            continue;
        struct plan_span own = span_of(timing, plan, worker);
        double first = own.start, last = own.end;
        begin = worker == 0 || first < begin ? first : begin;
        end = last > end ? last : end;
        busy += timing->busy[worker];
        double span = last > first ? 1 - timing->busy[worker] / (last - first) : 0;
        timing->span_max = span > timing->span_max ? span : timing->span_max;
    }
    timing->makespan = later(end, timing->iteration_ends[plan->iterations - 1]) - begin;
    timing->mean_busy = busy / plan->workers / plan->iterations;
    double last = plan->iterations > 1 ? timing->iteration_ends[plan->iterations - 2] : begin;
    plan_timing_set_iteration(timing, begin + timing->makespan - last);
}

void plan_timing_set_iteration(struct plan_timing *timing, double iteration)
{
    timing->iteration = iteration;
    timing->ratio = iteration > 0 ? 1 - timing->mean_busy / iteration : 0;
    timing->over_ideal = timing->mean_busy > 0 ? iteration / timing->mean_busy - 1 : 0;
}

double plan_transfer_time(const struct plan *plan, const struct plan_costs *costs)
{
    double longest = 0;
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        longest = later(longest, costs->forward[stage] + costs->backward[stage]);
    return plan->transfer * longest;
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
    plan_stash_peaks(plan, timing->peak_in_flight);
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

double plan_timing_above_bound(const struct plan_timing *timing, const struct plan *plan)
{
    double above = plan->bound > 0 ? timing->makespan / plan->bound - 1 : 0;
    return above > 1e-9 ? above : 0;
}
