/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the jobs that run at one time meet on links, and which sets of them are of one class. */
#ifndef STAGESIM_QUEUE_JOB_SETS_H
#define STAGESIM_QUEUE_JOB_SETS_H

#include "cluster/queue/traffic.h"

struct set_job {
    struct footprint footprint;
    const uint32_t *nodes; /* [count] */
    uint32_t type, count;
    double iteration; /* seconds of one alone */
    bool runs;
    double slow; /* how much longer it takes */
    /* Filled by job_sets_find where it is of a set: */
    double load;           /* what others put on the link on which that is most, over what the link carries */
    struct set_job *rival; /* the one that puts most of that there */
    uint64_t colour;       /* jobs of one colour in sets of one class do the same */
    uint32_t first;        /* number of the first job of its set */
};

struct job_set {
    struct set_job *const *jobs; /* [count] */
    uint32_t count;
    uint64_t class;
};

struct job_sets;

/* The platform is borrowed. The caller owns the result. */
struct job_sets *job_sets_create(const struct platform *platform);
void job_sets_destroy(struct job_sets *sets);

/* Finds the sets of jobs that meet; job_sets_next gives them, one after the other, those of two or more jobs. */
void job_sets_find(struct job_sets *sets, struct set_job *const *jobs, uint32_t count);
bool job_sets_next(struct job_sets *sets, struct job_set *set);

/* Loads of two jobs as if no others ran. */
void job_sets_load_pair(struct job_sets *sets, struct set_job *const pair[2]);

#endif
