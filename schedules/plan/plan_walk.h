/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through a plan in an order in which every block comes after all that it waits for, in time linear in the slots.
 */
#ifndef STAGESIM_PLAN_WALK_H
#define STAGESIM_PLAN_WALK_H

#include "schedules/plan/plan.h"

/* What has been done to a micro-batch in a stage: one bit each. */
enum plan_done {
    DONE_FORWARD = 1,
    DONE_BACKWARD = 6, /* half a 2, half b 4 */
    DONE_WEIGHT = 8,
    DONE_EVICT = 16,            /* its stash was given away by the worker of the stage, */
    DONE_FETCH = 32,            /* was given room there again, */
    DONE_TAKE = 64,             /* was given room at the partner, */
    DONE_RETURN = 128,          /* was sent back by the partner */
    DONE_PASS_FORWARD = 256,    /* the stage's weights for it were handed on, */
    DONE_PASS_BACKWARD = 512,   /* those for its backward, */
    DONE_PASS_GRADIENT = 1024,  /* and the gradient behind it */
    DONE_OUTPUT = 2048,         /* the worker's share of the output layer, */
    DONE_OUTPUT_GRADIENT = 4096 /* and its gradient */
};

/* The bits that a slot of `worker` sets when it is done. */
uint16_t plan_mask(const struct plan *plan, uint32_t worker, const struct slot *slot);

enum { PLAN_INPUTS_MAX = 5 };

/* Something that a slot waits for: the bits `mask` of a micro-batch in `stage`, set by `worker`; or in `all` stages, by
 * the workers of these. */
struct plan_input {
    uint32_t stage, worker, micro_batch;
    uint16_t mask;
    bool all;
};

/* What a slot waits for; the number of inputs written. `done` are the bits of the slot's own micro-batch and stage: a
 * backward whose stash was evicted waits for its return as well. */
unsigned plan_inputs(const struct plan *plan, const struct slot *slot, uint16_t done,
                     struct plan_input inputs[PLAN_INPUTS_MAX]);

/* First slot after the block (a slot and the one joined to it) that begins at `first` of a worker's order. */
size_t plan_block_end(const struct plan_order *order, size_t first);

/* State of a walk. */
struct plan_walk {
    uint16_t *done; /* [micro_batch * stages + stage]: enum plan_done bits */
    size_t *next;   /* [worker]: first slot of the block it has not run yet */
};

/* Told of every block: slots first .. end - 1 of the worker. */
typedef void plan_visit(void *user, uint32_t worker, size_t first, size_t end);

/* Walks as far as the dependencies allow; true when that is to the end. `visit` may be NULL. Every slot must be in
 * range and every stage placed. The caller finishes the walk. */
bool plan_walk_run(struct plan_walk *walk, const struct plan *plan, plan_visit *visit, void *user);
/* A stage in which the bits of an input are not yet set; UINT32_MAX: there is none. */
uint32_t plan_walk_missing(const struct plan_walk *walk, const struct plan *plan, const struct plan_input *input);
void plan_walk_finish(struct plan_walk *walk);

#endif
