/* SPDX-License-Identifier: Apache-2.0 */
/* Plans whose weights travel: a worker runs whole micro-batches, m on worker m mod D, and what the stages share is
 * handed on around the ring of workers, 0, 1, .. D - 1 and 0 again. Every stage has an owner, which keeps its weights
 * and updates them; the others are sent what they need. Of stage s there is, for every micro-batch m, and each in the
 * order of the worker that sends it,
 *
 *   P  weights for the forward of m: from the worker of m - 1, or of the first micro-batch from the owner; none where
 *      the worker of m is the owner;
 *   Q  the same for its backward;
 *   G  the gradient with the share of m in it: to the worker of m + 1, of the last micro-batch to the owner.
 *
 * They take no compute time and no later slot of their worker waits for them. P and Q leave when the slot before them
 * is done and the weights have come, also while they are still being computed with. Workers between the sender and the
 * one that it is for hand it on at once. */
#ifndef STAGESIM_PLAN_WEIGHTS_H
#define STAGESIM_PLAN_WEIGHTS_H

#include "schedules/plan/plan.h"

/* Whether the weights of a plan travel. */
static inline bool plan_travels(const struct plan *plan)
{
    return plan->owners != NULL;
}

/* P, Q or G. */
static inline bool slot_hands_on(const struct slot *slot)
{
    return slot->kind >= SLOT_PASS_FORWARD && slot->kind <= SLOT_PASS_GRADIENT;
}

/* The worker that runs a micro-batch where weights travel. */
static inline uint32_t plan_runner(const struct plan *plan, uint32_t micro_batch)
{
    return micro_batch % plan->workers;
}

/* Says that the weights travel, and who owns a stage's. */
void plan_own(struct plan *plan, uint32_t stage, uint32_t owner);

/* Whether a P (a Q, a G) of a stage and micro-batch is there, the worker that sends it, and the one that it is for. */
bool plan_passes(const struct plan *plan, enum slot_kind kind, uint32_t stage, uint32_t micro_batch);
uint32_t plan_pass_sender(const struct plan *plan, enum slot_kind kind, uint32_t stage, uint32_t micro_batch);
uint32_t plan_pass_target(const struct plan *plan, enum slot_kind kind, uint32_t stage, uint32_t micro_batch);
/* Workers on its way, the one that it is for included. */
uint32_t plan_pass_hops(const struct plan *plan, enum slot_kind kind, uint32_t stage, uint32_t micro_batch);

/* Enough for a sentence. */
enum { WEIGHTS_MISTAKE_MAX = 256 };
/* Whether a slot is right where weights travel; otherwise `text` says why not. `done`: what of its micro-batch and
 * stage stands before it in any order that was looked at. */
bool plan_weights_fit(const struct plan *plan, uint32_t worker, const struct slot *slot, uint16_t done,
                      char text[WEIGHTS_MISTAKE_MAX]);

/* Copies of the largest stage's weights and of its gradient that every worker has room for: of the weights for forwards
 * and of those for backwards one to use and one that comes in, likewise of gradients. */
enum { TRAVELLING_WEIGHTS = 4, TRAVELLING_GRADIENTS = 2 };

#endif
