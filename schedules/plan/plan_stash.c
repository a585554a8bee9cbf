/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_stash.h"

#include "schedules/plan/plan_slices.h"

/* Halves of a chunk's activations that a slot takes (positive) or gives back (negative). */
static int halves(const struct plan *plan, uint32_t worker, const struct slot *slot)
{
    bool own = plan_worker(plan, slot->pipeline, slot->stage) == worker;
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        return 2;
    case SLOT_BACKWARD:
        return slot->split ? 0 : slot->part == PART_WHOLE ? -2 : -1;
    case SLOT_WEIGHT:
        return -2;
    case SLOT_EVICT:
        return own ? -2 : 2;
    case SLOT_FETCH:
        return own ? 2 : -2;
    case SLOT_RECOMPUTE:
        return 2;
    case SLOT_PASS_FORWARD:
    case SLOT_PASS_BACKWARD:
    case SLOT_PASS_GRADIENT:
    case SLOT_OUTPUT:
    case SLOT_OUTPUT_GRADIENT:
        break;
    }
    return 0;
}

/* In halves of a chunk. A block takes first and gives back last. */
static double peak_of(const struct plan *plan, uint32_t worker)
{
    const struct plan_order *order = &plan->orders[worker];
    double held = 0, peak = 0, back = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        double change = halves(plan, worker, slot) * plan_slice_length(plan, slot->micro_batch);
        if (slot->kind == SLOT_RECOMPUTE)
            change *= plan_recomputed(plan, slot->stage);
        else if (slot->kind == SLOT_FORWARD)
            change *= 1 - plan_recomputed(plan, slot->stage);
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

void plan_stash_peaks(const struct plan *plan, double *peaks)
{
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        peaks[worker] = peak_of(plan, worker) * plan->workers / (2.0 * plan->stages);
}
