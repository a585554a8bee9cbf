/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a collective: every single transfer with the blocks that it carries. A transfer begins when both its
 * ranks have ended all their transfers of earlier rounds, sent and received; those of one round run at the same time.
 */
#ifndef STAGESIM_COLLECTIVE_STEPS_H
#define STAGESIM_COLLECTIVE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collective_blocks {
    uint32_t first, count;
};

struct collective_transfer {
    uint32_t from, to; /* members; `ranks` itself is the switch where the network reduces */
    uint32_t round;
    uint32_t blocks;      /* number of blocks carried */
    bool reduces;         /* the receiver adds what comes to what it has; otherwise it keeps what comes */
    size_t first, pieces; /* into steps->pieces */
};

struct collective_steps {
    uint32_t blocks;         /* the data is cut into that many equal blocks */
    uint32_t blocks_of_size; /* blocks that make up the size of the collective: `blocks`, but for all-to-all, where
                                every rank has that many of its own */
    uint32_t rounds;
    struct collective_transfer *transfers; /* ordered by round */
    size_t count, capacity;
    struct collective_blocks *pieces;
    size_t piece_count, piece_capacity;
};

/* Before the first transfer. */
void steps_cut(struct collective_steps *steps, uint32_t blocks, uint32_t blocks_of_size);
/* Rounds may be added in any order; steps_sort puts them right. Carries blocks first .. first + count - 1. */
void steps_add(struct collective_steps *steps, uint32_t round, uint32_t from, uint32_t to, bool reduces, uint32_t first,
               uint32_t count);
/* Adds blocks to the newest transfer. */
void steps_join(struct collective_steps *steps, uint32_t first, uint32_t count);
/* Orders the transfers by round, otherwise as added. */
void steps_sort(struct collective_steps *steps);
void steps_finish(struct collective_steps *steps);

/* Bytes of a transfer of a collective of size `bytes`. */
static inline double steps_bytes(const struct collective_steps *steps, const struct collective_transfer *transfer,
                                 double bytes)
{
    return bytes * transfer->blocks / steps->blocks_of_size;
}

#endif
