/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan.h"

#include "base/arena.h"
#include "base/bulk.h"

#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t count, size_t size)
{
    size_t capacity = 0;
    unsigned char *memory = array_grow(NULL, &capacity, count ? count : 1, size);
    for (size_t i = 0; i < capacity * size; i++)
        memory[i] = 0;
    return memory;
}

struct plan *plan_create(uint32_t workers, uint32_t stages, uint32_t pipelines, uint32_t micro_batches)
{
    struct plan *plan = zeroed(1, sizeof *plan);
    *plan = (struct plan){.workers = workers,
                          .stages = stages,
                          .pipelines = pipelines,
                          .micro_batches = micro_batches,
                          .iterations = 1,
                          .slices = 1,
                          .copies = zeroed((size_t)pipelines * stages, sizeof *plan->copies),
                          .weight_versions = zeroed(workers, sizeof *plan->weight_versions),
                          .staleness = zeroed(workers, sizeof *plan->staleness),
                          .orders = zeroed(workers, sizeof *plan->orders)};
    for (size_t copy = 0; copy < (size_t)pipelines * stages; copy++)
        plan->copies[copy].worker = UINT32_MAX;
    for (uint32_t worker = 0; worker < workers; worker++)
        plan->weight_versions[worker] = 1;
    return plan;
}

void plan_destroy(struct plan *plan)
{
    if (!plan)
        return;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        bulk_free(plan->orders[worker].slots, plan->orders[worker].capacity * sizeof(struct slot));
    free(plan->orders);
    free(plan->staleness);
    free(plan->weight_versions);
    free(plan->copies);
    free(plan->partners);
    free(plan->slice_lengths);
    free(plan->recomputed);
    free(plan->owners);
    free(plan);
}

struct plan *plan_create_repeated(const struct plan *plan, uint32_t iterations)
{
    struct plan *many = plan_create(plan->workers, plan->stages, plan->pipelines, plan->micro_batches * iterations);
    many->iterations = iterations;
    many->step = plan->step;
    many->barriers = plan->barriers;
    many->output = plan->output;
    memcpy(many->copies, plan->copies, (size_t)plan->pipelines * plan->stages * sizeof *plan->copies);
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        const struct plan_order *order = &plan->orders[worker];
        plan_expect(many, worker, order->count * iterations);
        struct slot *to = many->orders[worker].slots;
        for (uint32_t iteration = 0; iteration < iterations; iteration++)
            for (size_t i = 0; i < order->count; i++) {
                *to = order->slots[i];
                to++->micro_batch += iteration * plan->micro_batches;
            }
        many->orders[worker].count = order->count * iterations;
    }
    return many;
}

void plan_place(struct plan *plan, uint32_t pipeline, uint32_t stage, uint32_t worker)
{
    plan->copies[(size_t)pipeline * plan->stages + stage].worker = worker;
}

void plan_pair(struct plan *plan, uint32_t worker, uint32_t partner)
{
    if (!plan->partners) {
        plan->partners = zeroed(plan->workers, sizeof *plan->partners);
        for (uint32_t other = 0; other < plan->workers; other++)
            plan->partners[other] = UINT32_MAX;
    }
    plan->partners[worker] = partner;
}

void plan_recompute(struct plan *plan, uint32_t stage, double share)
{
    if (!plan->recomputed)
        plan->recomputed = zeroed(plan->stages, sizeof *plan->recomputed);
    plan->recomputed[stage] = share;
}

void plan_expect(struct plan *plan, uint32_t worker, size_t slots)
{
    struct plan_order *order = &plan->orders[worker];
    order->slots = bulk_grow(order->slots, &order->capacity, slots, sizeof *order->slots);
}

struct slot *plan_append(struct plan *plan, uint32_t worker, enum slot_kind kind, uint32_t pipeline, uint32_t stage,
                         uint32_t micro_batch)
{
    struct plan_order *order = &plan->orders[worker];
    order->slots = bulk_grow(order->slots, &order->capacity, order->count + 1, sizeof *order->slots);
    struct slot *slot = &order->slots[order->count++];
    *slot = (struct slot){
        .micro_batch = micro_batch, .stage = (uint16_t)stage, .pipeline = (uint16_t)pipeline, .kind = (uint8_t)kind};
    return slot;
}

char slot_letter(enum slot_kind kind)
{
    return "FBWELRPQGST"[kind];
}
