/* SPDX-License-Identifier: Apache-2.0 */
/* `pairs:` which two jobs share a divided GPU, and how they divide its watts: all pairs of jobs with all pairs of
 * caps under a budget, each job on partitions of its own. */
#ifndef STAGESIM_PAIRS_H
#define STAGESIM_PAIRS_H

#include "job/scenario/scenario_kind.h"

enum { PAIRS_JOBS_MAX = 64, PAIRS_CAPS_MAX = 64, PAIRS_SHOWN = 10 };

enum pairs_objective { PAIRS_THROUGHPUT, PAIRS_ENERGY, PAIRS_ENERGY_DELAY };

struct pairs {
    const double *caps; /* watts of each GPU of a job, ascending; cap_count of them */
    size_t cap_count;
    const char *const *cap_texts;
    double budget; /* watts of all GPUs of both */
    enum pairs_objective objective;
    uint32_t count; /* of jobs: the scenario's parts */
};

/* What a job does at a cap. */
struct pairs_point {
    double speed; /* share of that without a cap */
    double watts; /* mean over an iteration, all its GPUs */
    double most;  /* the same if all compute */
};

/* A pair of points: its value is better where it is larger. */
struct pairs_choice {
    uint32_t jobs[2];
    size_t caps[2];
    double throughput; /* sum of the speeds */
    double watts, joules;
    double value;
};

/* Both jobs with these points. */
struct pairs_choice pairs_of(enum pairs_objective objective, const struct pairs_point *first,
                             const struct pairs_point *second);
/* All pairs and caps within the budget, the best first, of equals the first jobs and lowest caps; points are
 * [job][cap]. *choices is in memory of its own. */
size_t pairs_rank(const struct pairs *pairs, const struct pairs_point *points, struct pairs_choice **choices);

extern const struct scenario_kind pairs_kind;

#endif
