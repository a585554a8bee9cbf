/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of workers, from a plan and the costs of its stages. */
#include "base/arena.h"
#include "base/sum.h"
#include "schedules/plan/plan_slices.h"
#include "workloads/pipeline/lowering.h"
#include "workloads/pipeline/outline.h"

#include <math.h>
#include <stdlib.h>

struct tally {
    struct sum held;
    double peak;
};

/* Bytes by which a stage's slots change what is held. */
struct changes {
    double forward, again, moved;      /* that is taken */
    double whole, half, input, weight; /* of backwards: what they give back, negative */
};

/* [stage * slices + slice]; the caller frees it. */
static struct changes *changes_of(const struct plan *plan, const struct stagesim_pipeline *costs)
{
    struct changes *all = array_zeroed((size_t)plan->stages * plan->slices, sizeof *all);
    for (uint32_t slice = 0; slice < plan->slices; slice++) {
        double length = plan_slice_length(plan, slice);
        for (uint32_t stage = 0; stage < plan->stages; stage++) {
            double activation = at(costs->activation, stage) * length;
            double later = costs->weight_activation ? costs->weight_activation[stage] * length : activation / 2;
            double kept = lowering_kept(plan, costs, stage, slice);
            double spared = lowering_spared(plan, costs, stage, activation);
            all[(size_t)stage * plan->slices + slice] = (struct changes){.forward = activation - spared,
                                                                         .again = spared,
                                                                         .moved = activation,
                                                                         .whole = kept - activation,
                                                                         .half = -activation / 2,
                                                                         .input = later - activation,
                                                                         .weight = kept - later};
        }
    }
    return all;
}

static double change_of(const struct changes *changes, const struct slot *slot, bool takes)
{
    switch ((enum slot_kind)slot->kind) {
    case SLOT_FORWARD:
        return changes->forward;
    case SLOT_RECOMPUTE:
        return changes->again;
    case SLOT_WEIGHT:
        return changes->weight;
    case SLOT_EVICT:
    case SLOT_FETCH:
        return takes ? changes->moved : -changes->moved;
    default:
        return slot->split ? changes->input : slot->part == PART_WHOLE ? changes->whole : changes->half;
    }
}

/* What a slot takes (give false) or gives back. */
static inline void account(struct tally *tally, const struct plan *plan, const struct changes *all, uint32_t worker,
                           const struct slot *slot, bool give)
{
    if (slot_hands_on(slot) || slot_is_output(slot))
        return;
    bool takes =
        slot->kind == SLOT_FORWARD || slot->kind == SLOT_RECOMPUTE ||
        (slot_moves(slot) && (slot->kind == SLOT_FETCH) == (plan_worker(plan, slot->pipeline, slot->stage) == worker));
    if (takes == give)
        return;
    uint32_t slice = plan->slices == 1 ? 0 : slot->micro_batch % plan->slices;
    sum_add(&tally->held, change_of(&all[(size_t)slot->stage * plan->slices + slice], slot, takes));
    double held = sum_total(&tally->held);
    tally->peak = held > tally->peak ? held : tally->peak;
}

static double peak_of(const struct plan *plan, const struct stagesim_pipeline *costs, const struct changes *all,
                      uint32_t worker)
{
    const struct plan_order *order = &plan->orders[worker];
    struct stagesim_static_memory held = lowering_memory(plan, costs, worker);
    double base = held.parameters + held.gradients + held.optimizer + held.buffers;
    struct tally tally = {{base, 0}, base};
    for (size_t i = 0; i < order->count;) {
        size_t count = i + 1 < order->count && order->slots[i + 1].joined ? 2 : 1;
        for (int give = 0; give < 2; give++)
            for (size_t k = 0; k < count; k++)
                account(&tally, plan, all, worker, &order->slots[i + k], give);
        i += count;
    }
    return tally.peak;
}

void pipeline_outline_peaks(const struct plan *plan, const struct stagesim_pipeline *costs, double *peaks)
{
    struct changes *all = changes_of(plan, costs);
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        peaks[worker] = peak_of(plan, costs, all, worker);
    free(all);
}
