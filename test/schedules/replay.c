/* SPDX-License-Identifier: Apache-2.0 */
#include "test/schedules/replay.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    const struct plan *plan;
    struct replay_times times;
    double *done;     /* [pipeline][stage][micro-batch][F, B, W, P, Q, G]: end, negative before */
    double *free;     /* [worker]: end of its last slot */
    double *first;    /* [worker]: start of its first slot, negative before */
    double delivered; /* when the last gradient of a plan whose weights travel is there */
    size_t *next;     /* [worker]: slots passed */
};

static double *done(const struct run *run, unsigned kind, uint32_t pipeline, uint32_t stage, uint32_t micro_batch)
{
    const struct plan *plan = run->plan;
    return &run->done[((((size_t)pipeline * plan->stages + stage) * plan->micro_batches) + micro_batch) * 6 + kind];
}

/* When the result of another slot is at this worker; negative when it is not known yet. */
static double arrival(const struct run *run, unsigned kind, const struct slot *slot, uint32_t stage, uint32_t worker)
{
    double end = *done(run, kind, slot->pipeline, stage, slot->micro_batch);
    bool near = plan_worker(run->plan, slot->pipeline, stage) == worker;
    return end < 0 || near ? end : end + run->times.latency;
}

/* When what is handed on around the ring for a micro-batch, kind 3 P, 4 Q, 5 G, is at the worker that it is for; 0
 * where nothing is. Micro-batch m runs on worker m mod D. */
static double handed(const struct run *run, unsigned kind, uint32_t stage, uint32_t micro_batch)
{
    const struct plan *plan = run->plan;
    uint32_t own = micro_batch % plan->workers, owner = plan->owners[stage], from = own, to = own;
    if (kind == 5)
        to = micro_batch + 1 == plan->micro_batches ? owner : (own + 1) % plan->workers;
    else if (own != owner)
        from = micro_batch == 0 ? owner : (own + plan->workers - 1) % plan->workers;
    double end = *done(run, kind, 0, stage, micro_batch);
    uint32_t hops = to >= from ? to - from : to + plan->workers - from;
    return !hops || end < 0 ? (hops ? -1 : 0) : end + hops * run->times.latency;
}

/* The same of all that a slot of a plan whose weights travel waits for; negative when that is not known yet. */
static double handed_inputs(const struct run *run, const struct slot *slot)
{
    uint32_t micro_batch = slot->micro_batch, stage = slot->stage;
    if (slot->kind == SLOT_FORWARD)
        return handed(run, 3, stage, micro_batch);
    if (slot->kind == SLOT_BACKWARD) {
        double weights = handed(run, 4, stage, micro_batch),
               gradient = micro_batch ? handed(run, 5, stage, micro_batch - 1) : 0;
        return weights < 0 || gradient < 0 ? -1 : fmax(weights, gradient);
    }
    if (slot->kind == SLOT_PASS_GRADIENT)
        return *done(run, SLOT_BACKWARD, slot->pipeline, stage, micro_batch);
    return micro_batch ? handed(run, slot->kind == SLOT_PASS_FORWARD ? 3 : 4, stage, micro_batch - 1) : 0;
}

/* Hands on what a slot says; the worker itself goes on at once. False when it has to wait. */
static bool hand_on(struct run *run, const struct slot *slot, uint32_t worker)
{
    double there = handed_inputs(run, slot);
    if (there < 0)
        return false;
    unsigned kind = slot->kind == SLOT_PASS_FORWARD ? 3 : slot->kind == SLOT_PASS_BACKWARD ? 4 : 5;
    *done(run, kind, 0, slot->stage, slot->micro_batch) = fmax(there, run->free[worker]);
    run->next[worker]++;
    if (kind == 5) /* the last one comes to the owner */
        run->delivered = fmax(run->delivered, handed(run, kind, slot->stage, slot->micro_batch));
    return true;
}

/* When all inputs of a slot are there; negative when that is not known yet. */
static double inputs(const struct run *run, const struct slot *slot, uint32_t worker)
{
    if (slot->kind == SLOT_WEIGHT)
        return arrival(run, SLOT_BACKWARD, slot, slot->stage, worker);
    if (slot->kind == SLOT_FORWARD)
        return slot->stage == 0 ? 0 : arrival(run, SLOT_FORWARD, slot, slot->stage - 1, worker);
    if (slot->kind != SLOT_BACKWARD)
        return 0;
    double own = arrival(run, SLOT_FORWARD, slot, slot->stage, worker);
    double below =
        slot->stage + 1u == run->plan->stages ? own : arrival(run, SLOT_BACKWARD, slot, slot->stage + 1, worker);
    return own < 0 || below < 0 ? -1 : fmax(own, below);
}

static double duration(const struct run *run, const struct slot *slots, size_t count)
{
    double share = (double)run->plan->workers / run->plan->stages, total = 0;
    if (count > 1)
        return run->times.block * share;
    if (slots->kind == SLOT_FORWARD)
        total = run->times.forward;
    if (slots->kind == SLOT_BACKWARD)
        total = run->times.backward + (slots->split ? 0 : run->times.weight);
    if (slots->kind == SLOT_WEIGHT)
        total = run->times.weight;
    return total * share;
}

/* Runs the worker's next block; false when it has to wait. */
static bool advance(struct run *run, uint32_t worker)
{
    const struct plan_order *order = &run->plan->orders[worker];
    size_t begin = run->next[worker], end = begin + 1;
    if (begin == order->count)
        return false;
    while (end < order->count && order->slots[end].joined)
        end++;
    if (order->slots[begin].kind >= SLOT_PASS_FORWARD)
        return hand_on(run, &order->slots[begin], worker);
    double start = run->free[worker];
    for (size_t i = begin; i < end; i++) {
        double there = inputs(run, &order->slots[i], worker),
               handed = run->plan->owners ? handed_inputs(run, &order->slots[i]) : 0;
        if (there < 0 || handed < 0)
            return false;
        start = fmax(start, fmax(there, handed));
    }
    bool computes = order->slots[begin].kind <= SLOT_WEIGHT;
    if (run->first[worker] < 0 && computes)
        run->first[worker] = start;
    run->free[worker] = start + duration(run, &order->slots[begin], end - begin);
    for (size_t i = begin; i < end && computes; i++)
        *done(run, order->slots[i].kind, order->slots[i].pipeline, order->slots[i].stage, order->slots[i].micro_batch) =
            run->free[worker];
    run->next[worker] = end;
    return true;
}

double replay_peak(const struct plan *plan, uint32_t worker)
{
    const struct plan_order *order = &plan->orders[worker];
    long held = 0, most = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        bool own = plan_worker(plan, slot->pipeline, slot->stage) == worker;
        if (slot->kind == SLOT_FORWARD)
            held++;
        if ((slot->kind == SLOT_BACKWARD && !slot->split) || slot->kind == SLOT_WEIGHT)
            held--;
        if (slot->kind == SLOT_EVICT)
            held += own ? -1 : 1;
        if (slot->kind == SLOT_FETCH)
            held += own ? 1 : -1;
        if (held > most)
            most = held;
    }
    cr_assert_eq(held, 0, "worker %u keeps %ld stashes", worker, held);
    return (double)most * plan->workers / plan->stages;
}

static double *filled(size_t count)
{
    double *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = -1;
    return values;
}

static void iteration_ends(const struct run *run, struct replay *result)
{
    const struct plan *plan = run->plan;
    uint32_t each = plan->micro_batches / plan->iterations;
    for (uint32_t copy = 0; copy < plan->pipelines * plan->stages; copy++)
        for (uint32_t micro_batch = 0; micro_batch < plan->micro_batches && micro_batch / each < 8; micro_batch++)
            for (unsigned kind = 0; kind < 3; kind++)
                result->ends[micro_batch / each] =
                    fmax(result->ends[micro_batch / each],
                         *done(run, kind, copy / plan->stages, copy % plan->stages, micro_batch));
}

struct replay replay_plan(const struct plan *plan, struct replay_times times)
{
    struct run run = {.plan = plan, .times = times};
    run.done = filled((size_t)plan->pipelines * plan->stages * plan->micro_batches * 6);
    run.free = calloc(plan->workers, sizeof *run.free);
    run.first = filled(plan->workers);
    run.next = calloc(plan->workers, sizeof *run.next);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t worker = 0; worker < plan->workers; worker++)
            while (advance(&run, worker))
                moved = true;
    }
    struct replay result = {0};
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        cr_assert_eq(run.next[worker], plan->orders[worker].count, "dead-lock: worker %u stops at slot %zu", worker,
                     run.next[worker]);
        result.makespan = fmax(result.makespan, run.free[worker]);
        result.span = fmax(result.span, run.free[worker] - run.first[worker]);
        result.peak = fmax(result.peak, replay_peak(plan, worker));
        result.slots += plan->orders[worker].count;
    }
    result.makespan = fmax(result.makespan, run.delivered);
    iteration_ends(&run, &result);
    free(run.done);
    free(run.free);
    free(run.first);
    free(run.next);
    return result;
}

struct plan *plan_default(const char *name, uint32_t workers, uint32_t micro_batches)
{
    const struct schedule *schedule = schedule_find(name);
    cr_assert(schedule, "no schedule %s", name);
    struct schedule_request request = schedule_request_default(schedule, workers, micro_batches);
    struct schedule_refusal refusal;
    cr_assert(schedule_fits(schedule, &request, &refusal), "%s", refusal.text);
    return schedule->plan(&request);
}

struct replay replay_schedule(const char *name, uint32_t workers, uint32_t micro_batches, struct replay_times times)
{
    struct plan *plan = plan_default(name, workers, micro_batches);
    struct replay result = replay_plan(plan, times);
    plan_destroy(plan);
    return result;
}

char *order_text(const struct plan *plan, uint32_t worker)
{
    const struct plan_order *order = &plan->orders[worker];
    bool one = plan->stages == plan->workers && plan->pipelines == 1;
    char *text = malloc(order->count * 24 + 1), *end = text;
    *end = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        end += sprintf(end, "%s%s%c", i ? " " : "", slot->joined ? "+" : "", slot_letter(slot->kind));
        if (!one)
            end += sprintf(end, "%u.", slot->stage);
        end += sprintf(end, "%u", slot->micro_batch);
    }
    return text;
}
