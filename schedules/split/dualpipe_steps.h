/* SPDX-License-Identifier: Apache-2.0 */
/* The eight steps of DualPipe, which DualPipeV runs over the two chunks of a worker instead of the two directions. */
#ifndef STAGESIM_DUALPIPE_STEPS_H
#define STAGESIM_DUALPIPE_STEPS_H

#include "schedules/kit/schedule.h"

/* The option `backward` alone: whether a backward outside of blocks is one piece, or its input gradient, which leaves
 * for the next worker at once, and then its weight gradient. */
extern const struct schedule_option dualpipe_options[];

/* One of the two streams of micro-batches through a worker: a stage of a pipeline, its micro-batches in order. */
struct dualpipe_phase {
    uint32_t pipeline, stage;
    uint32_t first;               /* its first micro-batch */
    uint32_t forwards, backwards; /* passed so far; 0 at first */
};

/* What a worker is to the steps. */
struct dualpipe_worker {
    struct plan *plan;
    uint32_t worker;
    uint32_t length;                /* workers from the phase's entry to the turning point: D / 2, or D in the V */
    uint32_t rank;                  /* of this worker on that way, from 0; length - 1 is at the turning point */
    uint32_t micro_batches;         /* of each phase; at least 2 * length */
    int64_t backward;               /* value of the option */
    struct dualpipe_phase phase[2]; /* the phase that enters near this worker first */
};

/* Appends the worker's whole order. A forward and a backward that run as one block are joined. */
void dualpipe_order(struct dualpipe_worker worker);

#endif
