/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan_stash.h"

#include "simulator/arena.h"

#include <stdlib.h>

/* Halves of a chunk's activations that a slot takes (positive) or gives back (negative). */
static int halves(const struct slot *slot)
{
    int size = slot->part == PART_WHOLE ? 2 : 1;
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
    case SLOT_FETCH:
        return size;
    case SLOT_BACKWARD:
        return slot->split ? 0 : -size;
    case SLOT_WEIGHT:
    case SLOT_EVICT:
        return -size;
    }
    return 0;
}

/* Slots of one worker follow each other, so their order alone says what is held: a block takes first and gives back last. */
static int64_t peak_of_order(const struct plan_order *order)
{
    int64_t held = 0, peak = 0, back = 0;
    for (size_t i = 0; i < order->count; i++) {
        int change = halves(&order->slots[i]);
        if (!order->slots[i].joined) {
            held += back;
            back = 0;
        }
        held += change > 0 ? change : 0;
        back += change < 0 ? change : 0;
        peak = held > peak ? held : peak;
    }
    return peak;
}

struct change {
    double time;
    uint32_t worker;
    int halves;
};

/* By time; what is given back at an instant is free for what is taken then. */
static int compare(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->halves > b->halves) - (a->halves < b->halves);
}

static size_t add_changes(const struct plan *plan, const struct plan_timing *timing, uint32_t worker, struct change *changes)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->orders[worker].count; i++) {
        const struct slot *slot = &plan->orders[worker].slots[i];
        int change = halves(slot);
        struct plan_span span = plan_timing_span(timing, worker, i);
        changes[count++] = (struct change){change > 0 ? span.start : span.end, worker, change};
        if (slot->kind == SLOT_EVICT || slot->kind == SLOT_FETCH)
            changes[count++] = (struct change){span.start, plan->partners[worker], -change};
    }
    return count;
}

static void peaks_by_time(const struct plan *plan, const struct plan_timing *timing, int64_t *peaks)
{
    size_t capacity = 0, count = 0;
    struct change *changes = array_grow(NULL, &capacity, 2 * timing->first[plan->workers], sizeof *changes);
    int64_t *held = array_grow(NULL, &(size_t){0}, plan->workers, sizeof *held);
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        count += add_changes(plan, timing, worker, changes + count);
        held[worker] = 0;
    }
    qsort(changes, count, sizeof *changes, compare);
    for (size_t i = 0; i < count; i++) {
        int64_t *now = &held[changes[i].worker];
        *now += changes[i].halves;
        if (*now > peaks[changes[i].worker])
            peaks[changes[i].worker] = *now;
    }
    free(held);
    free(changes);
}

void plan_stash_peaks(const struct plan *plan, const struct plan_timing *timing, double *peaks)
{
    int64_t *most = array_grow(NULL, &(size_t){0}, plan->workers, sizeof *most);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        most[worker] = plan->partners ? 0 : peak_of_order(&plan->orders[worker]);
    if (plan->partners)
        peaks_by_time(plan, timing, most);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        peaks[worker] = (double)most[worker] * plan->workers / (2.0 * plan->stages);
    free(most);
}
