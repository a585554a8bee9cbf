/* SPDX-License-Identifier: Apache-2.0 */
/* Jackson's preemptive schedule of one machine (Jackson 1955; Carlier 1982): of what could run, the operation with the
 * longest tail does. When all is done, tails included, is the earliest there is if operations may be interrupted. */
#ifndef STAGESIM_BEST_JACKSON_H
#define STAGESIM_BEST_JACKSON_H

#include <stdint.h>

struct jackson_piece {
    int64_t tail, left;
};

struct jackson {
    struct jackson_piece *heap; /* the caller's, with room for all operations; the longest tail first */
    uint32_t count;
    int64_t clock, latest;
};

/* From `clock` on; `after` follows everything. */
void jackson_begin(struct jackson *jackson, int64_t clock, int64_t after);
/* In the order of rising heads. */
void jackson_add(struct jackson *jackson, int64_t head, int64_t length, int64_t tail);
int64_t jackson_end(struct jackson *jackson);

#endif
