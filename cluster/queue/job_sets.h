/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the jobs that run at one time meet on links, and which sets of them are of one class. */
#ifndef STAGESIM_QUEUE_JOB_SETS_H
#define STAGESIM_QUEUE_JOB_SETS_H

#include "cluster/queue/traffic.h"

struct set_job {
    struct footprint footprint;
    const uint32_t *nodes; /* [count] */
    uint32_t type, count;  /* type: at a clock, where caps change it */
    double iteration;      /* seconds of one alone */
    bool runs;
    double slow; /* how much longer it takes */
    /* Filled by job_sets_find where it is of a set: */
    double load; /* sum over those whom it meets: what each puts on a link, over what that carries, where it is most */
    uint32_t link;   /* on which others put most; LINK_NONE: it meets nobody */
    uint32_t first;  /* number of the first job of its set */
    uint64_t colour; /* filled by job_sets_class: jobs of one colour in sets of one class do the same */
};

#define LINK_NONE UINT32_MAX

struct job_set {
    struct set_job **jobs; /* [count], in the order in which they were given */
    uint32_t count;
};

struct job_sets;

/* The platform is borrowed. The caller owns the result. */
struct job_sets *job_sets_create(const struct platform *platform);
void job_sets_destroy(struct job_sets *sets);

/* Finds the sets of jobs that meet; job_sets_next gives them, one after the other, those of two or more jobs. */
void job_sets_find(struct job_sets *sets, struct set_job *const *jobs, uint32_t count);
bool job_sets_next(struct job_sets *sets, struct job_set *set);

/* The class of a set that was found last. */
uint64_t job_sets_class(const struct job_sets *sets, const struct job_set *set);

/* Of the jobs on the link on which a job meets others most, those beside which it would meet somebody there if no
 * others ran: the job, then those that put most on the link, `most` in all, and more only while they do not meet. */
void job_sets_part(const struct job_sets *sets, struct set_job *job, uint32_t most, struct job_set *part);

#endif
