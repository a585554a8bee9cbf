/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules that repeat a building block: two half stages a worker in a V, all passes taking one slot of time, every
 * micro-batch six slots after the one before. The block fixes how long a stash lives and so the memory. */
#ifndef STAGESIM_V_BLOCK_H
#define STAGESIM_V_BLOCK_H

#include "schedules/kit/schedule.h"

/* Slots of the passes of micro-batch 0 on one worker: forward of the way down and of the way up, backward (input
 * gradient) of the way up and of the way down. No two may be equal modulo 6. */
struct v_block {
    uint32_t slots[4];
};

/* The plan of blocks repeated on all workers, weight gradients in the free slots in the order of their backwards, and
 * then compacted: two passes fill the waits at the ends, from the back and from the front, with operations of the same
 * worker that can run by then, as long as no worker holds more than `most` half stages' stashes. Linear in the slots.
 * The caller owns it. */
typedef struct v_block v_block_of(const void *shape, uint32_t workers, uint32_t worker);
struct plan *v_block_plan(const struct schedule_request *request, v_block_of *block, const void *shape, uint32_t most);

/* The most half stages' stashes that a worker holds while the blocks are repeated so often, before anything is
 * compacted: less than that leaves no order. */
uint32_t v_block_peak(v_block_of *block, const void *shape, uint32_t workers, uint32_t count);

/* The blocks of V-Half and V-Min, which have no other shape. */
v_block_of v_half_block, v_min_block;

#endif
