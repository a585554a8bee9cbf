/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/recognise.h"

#include "base/arena.h"
#include "schedules/rules.h"
#include "schedules/schedule.h"
#include "studies/explain/factors.h"

#include <stdlib.h>
#include <string.h>

/* Larger plans are not compared. */
enum { SLOTS_MAX = 1 << 20, WORKERS_MAX = 4096 };

/* A forward, backward or weight gradient of the trace. */
struct piece {
    uint32_t replica, step, worker, micro_batch;
    double begin;
    uint16_t stage;
    uint8_t kind; /* enum slot_kind */
};

struct pieces {
    struct piece *pieces;
    size_t count;
    uint32_t *worker; /* [rank index] */
};

static int by_order(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->replica != b->replica)
        return a->replica < b->replica ? -1 : 1;
    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->micro_batch > b->micro_batch) - (a->micro_batch < b->micro_batch);
}

static bool slot_kind_of(const struct recorded_operation *operation, enum slot_kind *kind)
{
    *kind = operation->work == RECORDED_FORWARD    ? SLOT_FORWARD
            : operation->work == RECORDED_BACKWARD ? SLOT_BACKWARD
                                                   : SLOT_WEIGHT;
    bool works = operation->work == RECORDED_FORWARD || operation->work == RECORDED_BACKWARD ||
                 operation->work == RECORDED_WEIGHT;
    return operation->kind == RECORDED_COMPUTE && works && operation->micro_batch != RECORDED_NONE &&
           operation->stage != RECORDED_NO_STAGE && operation->step != RECORDED_NONE;
}

static void collect(const struct recorded *recorded, const uint32_t *replicas, struct pieces *pieces,
                    struct recognised *found)
{
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        enum slot_kind kind;
        if (!slot_kind_of(operation, &kind))
            continue;
        uint32_t rank = recorded_rank_of(recorded, operation), worker = recorded->ranks[rank].stage;
        worker = worker == RECORDED_NONE ? operation->stage : worker;
        pieces->pieces[pieces->count++] =
            (struct piece){replicas[rank],   operation->step,  worker,       operation->micro_batch,
                           operation->begin, operation->stage, (uint8_t)kind};
        found->workers = worker >= found->workers ? worker + 1 : found->workers;
        found->stages = operation->stage >= found->stages ? operation->stage + 1u : found->stages;
        found->micro_batches =
            operation->micro_batch >= found->micro_batches ? operation->micro_batch + 1 : found->micro_batches;
        found->forwards += kind == SLOT_FORWARD;
        found->backwards += kind == SLOT_BACKWARD;
        found->weights += kind == SLOT_WEIGHT;
    }
    if (pieces->count)
        qsort(pieces->pieces, pieces->count, sizeof *pieces->pieces, by_order);
}

/* ---- against a plan ---- */

static bool counts(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD || slot->kind == SLOT_BACKWARD || slot->kind == SLOT_WEIGHT;
}

static bool is_slot(const struct piece *piece, const struct slot *slot)
{
    return slot->kind == piece->kind && slot->stage == piece->stage && slot->micro_batch == piece->micro_batch;
}

static bool is_same(const struct piece *a, const struct piece *b)
{
    return a->kind == b->kind && a->stage == b->stage && a->micro_batch == b->micro_batch;
}

/* The end of the pieces of one step, replica and worker that begin at `first`; whether they are in the plan's order. */
static size_t follow(const struct pieces *pieces, size_t first, const struct plan *plan, bool *same)
{
    const struct piece *head = &pieces->pieces[first];
    const struct plan_order *order = head->worker < plan->workers ? &plan->orders[head->worker] : NULL;
    size_t slot = 0, i = first;
    for (; i < pieces->count; i++) {
        const struct piece *piece = &pieces->pieces[i];
        if (piece->step != head->step || piece->replica != head->replica || piece->worker != head->worker)
            break;
        while (order && slot < order->count && !counts(&order->slots[slot]))
            slot++;
        if (order && slot < order->count && is_slot(piece, &order->slots[slot]))
            slot++;
        else if (!order || i == first ||
                 !is_same(piece, piece - 1)) /* otherwise it is a further layer of the one before */
            *same = false;
    }
    while (order && slot < order->count && !counts(&order->slots[slot]))
        slot++;
    *same &= order && slot == order->count;
    return i;
}

/* Steps of a replica in which all workers follow the plan. */
static uint32_t followed(const struct pieces *pieces, const struct plan *plan, uint32_t *compared)
{
    uint32_t good = 0;
    *compared = 0;
    for (size_t i = 0; i < pieces->count;) {
        const struct piece *head = &pieces->pieces[i];
        bool same = true;
        while (i < pieces->count && pieces->pieces[i].step == head->step && pieces->pieces[i].replica == head->replica)
            i = follow(pieces, i, plan, &same);
        good += same;
        (*compared)++;
    }
    return good;
}

/* The request with as many chunks as the trace has; whether that is the trace's number of stages. */
static bool request_of(const struct schedule *schedule, const struct recognised *found,
                       struct schedule_request *request)
{
    *request = schedule_request_default(schedule, found->workers, found->micro_batches);
    request->iterations = 1;
    for (size_t i = 0; schedule->options && schedule->options[i].key; i++)
        if (!strcmp(schedule->options[i].key, "chunks") && found->stages % found->workers == 0)
            request->options[i] = found->stages / found->workers;
    struct schedule_refusal refusal;
    return schedule_fits(schedule, request, &refusal) && schedule->stages(request) == found->stages;
}

static void compare(const struct pieces *pieces, struct arena *arena, struct recognised *found)
{
    found->alike = "";
    for (const struct schedule *const *it = schedule_rules; *it; it++) {
        struct schedule_request request;
        if ((*it)->searches || (*it)->slices || (*it)->split_backward != (found->weights > 0) ||
            !request_of(*it, found, &request))
            continue;
        struct plan *plan = (*it)->plan(&request);
        uint32_t good = plan ? followed(pieces, plan, &found->compared) : 0;
        plan_destroy(plan);
        if (good > found->followed) {
            found->followed = good;
            found->schedule = (*it)->name;
            found->alike = "";
        } else if (good && good == found->followed) {
            found->alike = arena_print(arena, "%s%s%s", found->alike, *found->alike ? ", " : "", (*it)->name);
        }
    }
}

void recognise(const struct recorded *recorded, const uint32_t *steps, size_t step_count, struct arena *arena,
               struct recognised *found)
{
    (void)steps;
    *found = (struct recognised){.step_count = step_count, .alike = ""};
    const uint32_t *replicas = factors_replicas(recorded, arena);
    for (uint32_t i = 0; i < recorded->rank_count; i++)
        found->replicas += replicas[i] == i;
    struct pieces pieces = {array_zeroed(recorded->count, sizeof *pieces.pieces), 0, NULL};
    collect(recorded, replicas, &pieces, found);
    if (found->stages == 1) { /* ranks that are each a position of their own are no pipeline */
        found->workers = 1;
        found->replicas = (uint32_t)recorded->rank_count;
        for (size_t i = 0; i < pieces.count; i++)
            pieces.pieces[i].worker = 0;
    }
    double slots = 3.0 * found->stages * found->micro_batches;
    if (found->workers && found->workers <= WORKERS_MAX && slots <= SLOTS_MAX)
        compare(&pieces, arena, found);
    free(pieces.pieces);
}
