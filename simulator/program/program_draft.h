/* SPDX-License-Identifier: Apache-2.0 */
/* A program while it is built; for program*.c only. */
#ifndef STAGESIM_PROGRAM_DRAFT_H
#define STAGESIM_PROGRAM_DRAFT_H

#include "base/bulk.h"
#include "simulator/program/program.h"
#include "simulator/program/stream_table.h"

/* While a program is built, operations keep the order in which they were added, with a list of waits each;
 * program_finish sorts them by stream. */
struct wait {
    uint32_t operation, awaited;
};

struct draft_position {
    struct operation *operations;
    size_t operation_count, operation_capacity;
    struct stream *streams;
    size_t stream_count, stream_capacity;
    struct stream_table table;                            /* of the streams; kept until they are linked */
    uint16_t recent[OPERATION_DELAY + 1][STAGESIM_KINDS]; /* the stream of the newest operation of a type and kind */
    struct wait *waits;
    size_t wait_count, wait_capacity;
    struct block *blocks;
    size_t block_count, block_capacity;
    struct stagesim_static_memory memory;
};

struct program_builder {
    const struct mesh *mesh;
    struct stagesim_cost *costs;
    size_t cost_count, cost_capacity;
    uint32_t *variation_of;
    size_t variation_of_capacity;
    struct variation *variations;
    size_t variation_count, variation_capacity;
    uint32_t *pairs_of;
    size_t pairs_of_capacity;
    struct pair_bytes *pairs;
    size_t pairs_count, pairs_capacity;
    uint64_t pairs_total; /* members squared of all of them */
    struct group *groups;
    size_t group_count, group_capacity;
    struct draft_position *positions;
    uint64_t operation_count;
    struct bulk_pool drafts; /* operations and waits of the positions */
};

/* Gives back what a position of the draft holds beside the pool. */
void program_draft_finish(struct program_builder *builder, struct draft_position *draft);

#endif
