/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time by what can be done about it: differences between the timelines of one program that is run with all
 * transfers free, with each transfer alone, and as it is. */
#ifndef STAGESIM_IDLE_H
#define STAGESIM_IDLE_H

#include "analysis/figures/frame.h"

struct arena;

enum idle_part { IDLE_ORDER, IDLE_IMBALANCE, IDLE_TRANSFER, IDLE_CONTENTION, IDLE_PARTS };
extern const char *const idle_names[IDLE_PARTS];
extern const char *const idle_definitions[IDLE_PARTS]; /* a sentence for people */

/* Seconds of one iteration; idle time is T less the mean over ranks of the time in which they compute. */
struct idle_run {
    double iteration, busy, busy_max; /* busy: mean over ranks, busy_max: of the busiest one */
};

/* The other runs of the program of a timeline; borrowed. */
struct idle_timelines {
    const struct timeline *free;      /* transfers take no time; NULL: there is none */
    const struct idle_run *free_time; /* the same without a timeline; both NULL: no split */
    const struct timeline *alone;     /* nothing disturbs a transfer: the analytic engine's */
};

struct idle_split {
    bool known;
    double shares[IDLE_PARTS]; /* of T; they add up to the bubble ratio. All but the first two may be negative */
    struct idle_run free, alone;
};

/* Of a frame's ranks. */
struct idle_run idle_run_of(const struct frame *frame);

/* Splits the idle time of a frame; each timeline may represent ranks by equal ones in its own way. */
struct idle_split idle_split_of(const struct frame *frame, const struct idle_timelines *timelines, struct arena *arena);

/* Seconds that operations take when nothing else is under way. Those of collectives count from the moment when all
 * members have come, so that for one that ends before the others come they are negative. */
struct idle_alone;

/* Memory from the arena; the timelines are borrowed. */
struct idle_alone *idle_alone_create(const struct idle_timelines *timelines, struct arena *arena);
/* What the arena does not hold; NULL is fine. */
void idle_alone_destroy(struct idle_alone *alone);
double idle_alone_seconds(const struct idle_alone *alone, uint32_t rank, uint32_t id);

#endif
