/* SPDX-License-Identifier: Apache-2.0 */
/* How far a job's layout is from the best one that a short search has found. */
#ifndef STAGESIM_FIGURES_NEAREST_H
#define STAGESIM_FIGURES_NEAREST_H

#include <stdint.h>

struct arena;

struct nearest {
    uint32_t layouts, of; /* candidates that were weighed, and that there are; 0: not asked for, not known */
    double own, best;     /* seconds of an iteration without contention: of the job, of the best that fits */
    const char *layout;   /* of the best, in short */
    const char *command;  /* that runs it */
};

/* How much longer than the best's an iteration takes, as a share of that; negative: it takes less. */
double nearest_distance(const struct nearest *nearest);

/* "0.42 % from the best of 14,400 layouts, d256 t4 m1 Z3, interleaved", or that none is faster. Memory from the arena.
 */
const char *nearest_sentence(const struct nearest *nearest, struct arena *arena);

#endif
