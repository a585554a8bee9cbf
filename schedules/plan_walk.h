/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through a plan in an order in which every block comes after all that it waits for, in time linear in the slots. */
#ifndef STAGESIM_PLAN_WALK_H
#define STAGESIM_PLAN_WALK_H

#include "schedules/plan.h"

/* What has been done to a micro-batch in a stage: one bit per kind and half. */
enum plan_done {
    DONE_FORWARD = 3,   /* half a 1, half b 2 */
    DONE_BACKWARD = 12, /* 4, 8 */
    DONE_WEIGHT = 48,   /* 16, 32 */
    DONE_EVICT = 64,
    DONE_FETCH = 128,
};

/* The bits that a slot sets when it is done. */
uint8_t plan_mask(const struct slot *slot);

/* Something that a slot waits for: the bits `mask` of its micro-batch in `stage`. */
struct plan_input {
    uint32_t stage;
    uint8_t mask;
};

/* What a slot waits for apart from the slots before it: at most two inputs are written and their number returned. (A
 * fetched stash is no input: checked plans fetch it earlier in the same order.) */
unsigned plan_inputs(const struct plan *plan, const struct slot *slot, struct plan_input inputs[2]);

/* First slot after the block (a slot and those joined to it) that begins at `first` of a worker's order. */
size_t plan_block_end(const struct plan_order *order, size_t first);

/* State of a walk. */
struct plan_walk {
    uint8_t *done; /* [micro_batch * stages + stage]: enum plan_done bits */
    size_t *next;  /* [worker]: first slot of the block it has not run yet */
};

/* Told of every block: slots first .. end - 1 of the worker. */
typedef void plan_visit(void *user, uint32_t worker, size_t first, size_t end);

/* Walks as far as the dependencies allow; true when that is to the end. `visit` may be NULL. Every slot's pipeline, stage,
 * micro-batch and worker must be in range. The caller finishes the walk. */
bool plan_walk_run(struct plan_walk *walk, const struct plan *plan, plan_visit *visit, void *user);
void plan_walk_finish(struct plan_walk *walk);

#endif
