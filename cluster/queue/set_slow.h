/* SPDX-License-Identifier: Apache-2.0 */
/* What sets of jobs come to.
 *
 * A set is simulated once (set_speeds.h) and remembered by its class: types and sizes of its jobs, how fast each is
 * alone, and what each puts on the links on which they meet. Sets that are too large to be simulated, and those behind
 * the last that may be, are estimated from those that were: each job by the load that others put on the link on which
 * it meets most. Where too little is known of a kind of jobs, a part of the set is simulated: the job with those beside
 * which it meets somebody there. How far estimates are off is measured on sets that are simulated, before they are; a
 * class is simulated once, so that each is estimated from other ones. Of the larger sets a few are simulated for that.
 */
#ifndef STAGESIM_QUEUE_SET_SLOW_H
#define STAGESIM_QUEUE_SET_SLOW_H

#include "cluster/queue/job_sets.h"

/* Of jobs of simulated sets that were estimated before: how many, and how far estimates were off, relative: mean with
 * its sign, mean without, largest. */
struct set_errors {
    uint64_t checked;
    double bias, error, worst;
};

struct set_counts {
    uint64_t sets;                        /* asked for */
    uint64_t simulated, known, estimated; /* which these are; known: of a class that was simulated before */
    uint64_t parts;                       /* simulated beside those, for estimates */
    uint64_t uneven, failed;              /* classes that were to be simulated, and could not be */
    uint64_t guessed;                     /* jobs that nothing was known of: they are as fast as alone */
    uint64_t largest;                     /* jobs of a set */
    uint64_t most;                        /* jobs of a set or part that was simulated */
    struct set_errors all, larger;        /* larger: of sets of more than `together` jobs */
    double slowest;                       /* the largest slow-down of a job */
};

struct set_slow;

/* At most `sets` sets and parts are simulated, of at most `together` jobs, or of as few as meet; with `more`, larger
 * sets where that is cheap. The platform is borrowed. The caller owns the result. */
struct set_slow *set_slow_create(struct platform *platform, uint64_t together, bool more, uint64_t sets);
void set_slow_destroy(struct set_slow *slow);

/* Fills how much longer each job of a set takes; the set is what `finder` found last. */
void set_slow_find(struct set_slow *slow, const struct job_sets *finder, const struct job_set *set);

struct set_counts set_slow_counts(const struct set_slow *slow);

#endif
