/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a queue by the sizes of jobs and by users. */
#ifndef STAGESIM_QUEUE_GROUPS_H
#define STAGESIM_QUEUE_GROUPS_H

#include "cluster/scheduling/figures.h"

/* Some jobs: all with numbers of nodes between two powers of two, or all of a user. */
struct queue_group {
    const char *name;                /* "5 to 8 nodes"; the user */
    uint32_t jobs, stops;            /* the latter of all of them */
    double wait, wait_p50, wait_p95; /* seconds */
    double slowdown;                 /* bounded, mean */
    double node_hours;               /* that they had */
    double useful;                   /* share of these in which steps were done that count */
    double slowdown_plain;           /* mean slowdown */
    double joules, grams, cost;      /* of all of them; 0: not known */
};

struct queue_groups {
    struct queue_group *groups; /* count of them */
    size_t count;
};

/* The smallest first. Memory from the arena. */
struct queue_groups queue_groups_by_size(const struct queue_run *run, const struct queue_figures *figures,
                                         struct arena *arena);
/* Those with the most node hours first; jobs without a user are one group. None where no job has one. */
struct queue_groups queue_groups_by_user(const struct queue_run *run, const struct queue_figures *figures,
                                         struct arena *arena);

#endif
