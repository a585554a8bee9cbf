/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_weights.h"

#include "base/arena.h"
#include "schedules/plan/plan_walk.h"

#include <stdio.h>

void plan_own(struct plan *plan, uint32_t stage, uint32_t owner)
{
    if (!plan->owners) {
        plan->owners = array_grow(NULL, &(size_t){0}, plan->stages, sizeof *plan->owners);
        for (uint32_t other = 0; other < plan->stages; other++)
            plan->owners[other] = 0;
    }
    plan->owners[stage] = owner;
}

uint32_t plan_pass_sender(const struct plan *plan, enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    if (kind == SLOT_PASS_GRADIENT)
        return plan_runner(plan, micro_batch);
    return micro_batch ? plan_runner(plan, micro_batch - 1) : plan->owners[stage];
}

uint32_t plan_pass_target(const struct plan *plan, enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    if (kind != SLOT_PASS_GRADIENT)
        return plan_runner(plan, micro_batch);
    return micro_batch + 1 < plan->micro_batches ? plan_runner(plan, micro_batch + 1) : plan->owners[stage];
}

bool plan_passes(const struct plan *plan, enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    if (kind != SLOT_PASS_GRADIENT)
        return plan_runner(plan, micro_batch) != plan->owners[stage];
    return plan_pass_target(plan, kind, stage, micro_batch) != plan_runner(plan, micro_batch);
}

uint32_t plan_pass_hops(const struct plan *plan, enum slot_kind kind, uint32_t stage, uint32_t micro_batch)
{
    uint32_t from = plan_pass_sender(plan, kind, stage, micro_batch),
             to = plan_pass_target(plan, kind, stage, micro_batch);
    return (to + plan->workers - from) % plan->workers;
}

static const char *what_of(const struct slot *slot)
{
    return slot->kind == SLOT_PASS_FORWARD    ? "weights for the forward"
           : slot->kind == SLOT_PASS_BACKWARD ? "weights for the backward"
                                              : "gradient";
}

/* P, Q or G. */
static bool pass_fits(const struct plan *plan, uint32_t worker, const struct slot *slot, uint16_t done,
                      char text[WEIGHTS_MISTAKE_MAX])
{
    uint32_t stage = slot->stage, micro_batch = slot->micro_batch;
    uint32_t sender = plan_pass_sender(plan, slot->kind, stage, micro_batch);
    if (!plan_passes(plan, slot->kind, stage, micro_batch))
        snprintf(text, WEIGHTS_MISTAKE_MAX,
                 "nothing is to be handed on as %s of micro-batch %u, stage %u: worker %u owns the stage",
                 what_of(slot), micro_batch, stage, plan->owners[stage]);
    else if (worker != sender)
        snprintf(text, WEIGHTS_MISTAKE_MAX, "the sender of the %s of micro-batch %u, stage %u is worker %u, not %u",
                 what_of(slot), micro_batch, stage, sender, worker);
    else if (slot->kind == SLOT_PASS_GRADIENT && !(done & DONE_BACKWARD))
        snprintf(text, WEIGHTS_MISTAKE_MAX, "the gradient of micro-batch %u, stage %u is handed on before its backward",
                 micro_batch, stage);
    else
        return true;
    return false;
}

bool plan_weights_fit(const struct plan *plan, uint32_t worker, const struct slot *slot, uint16_t done,
                      char text[WEIGHTS_MISTAKE_MAX])
{
    bool passes = slot_hands_on(slot);
    if (slot->joined || slot->part != PART_WHOLE || slot->split || plan->slices > 1)
        snprintf(text, WEIGHTS_MISTAKE_MAX, "where weights travel, slots are whole and not joined");
    else if (passes)
        return pass_fits(plan, worker, slot, done, text);
    else if (slot->kind != SLOT_FORWARD && slot->kind != SLOT_BACKWARD)
        snprintf(text, WEIGHTS_MISTAKE_MAX, "where weights travel, kinds are F, B, P, Q and G");
    else if (worker != plan_runner(plan, slot->micro_batch))
        snprintf(text, WEIGHTS_MISTAKE_MAX,
                 "where weights travel, a worker runs whole micro-batches: number %u belongs on worker %u, not %u",
                 slot->micro_batch, plan_runner(plan, slot->micro_batch), worker);
    else
        return true;
    return false;
}
