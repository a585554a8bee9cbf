/* SPDX-License-Identifier: Apache-2.0 */
/* How many nodes each elastic job gets when what is idle has changed.
 *
 * Nodes are alike and no job moves, so a choice is a size for each job whose sum is at most the idle nodes; a size is 0
 * or least .. most. A job that has C nodes and gets N is worth, over the time T for which the choice is expected to
 * last,
 *
 *     T * O(N) - grow * O(C)    where N > C   (O(N) in place of O(C) where `grow_new`)
 *     T * O(N) - shrink * O(C)  where N < C
 *
 * with O its objective a second. That is the objective of BFTrainer (arXiv 2106.12091). */
#ifndef STAGESIM_CHOICE_H
#define STAGESIM_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct choice_job {
    const double *objective; /* [most + 1]: a second, on so many nodes; 0 below `least` */
    uint32_t least, most;
    uint32_t now;        /* nodes that it has */
    double grow, shrink; /* seconds in which it produces nothing when it grows, shrinks */
};

/* What a choice is about; jobs are in the order of their arrival. */
struct choice {
    const struct choice_job *jobs;
    size_t count;
    uint32_t nodes;  /* idle ones, those that the jobs have among them */
    double forward;  /* T, seconds */
    bool grow_new;   /* a job that grows loses time at its new rate */
    uint32_t *sizes; /* [count]: the answer */
};

struct chooser {
    const char *name, *summary;
    bool forward; /* it looks at how long the choice is expected to last */
    /* Memory that is needed only for the choice is from the arena. */
    void (*choose)(const struct choice *choice, struct arena *arena);
};

/* All of them, NULL-terminated; the exact one first. */
extern const struct chooser *const chooser_table[];
extern const char *const chooser_names[]; /* the same, for readers */

/* What a job with this size is worth. */
double choice_value(const struct choice *choice, const struct choice_job *job, uint32_t size);
/* The most that a second is worth with 0 .. nodes nodes when nothing is lost in changing sizes: best[nodes + 1]. */
void choice_best(const struct choice_job *jobs, size_t count, uint32_t nodes, double *best, struct arena *arena);

extern const struct chooser chooser_optimal, chooser_greedy, chooser_equal, chooser_first;

#endif
