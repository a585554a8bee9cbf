/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that have no link in common do not disturb each other: a component is what is left of jobs that do. And
 * components are alike where the same jobs start at the same times on hosts and links that are alike, one to one. */
#ifndef STAGESIM_COMPONENTS_H
#define STAGESIM_COMPONENTS_H

#include "cluster/jobs/job_run.h"

struct arena;

/* The links of each job that transfers share, as sets of bits. */
struct job_link_sets {
    uint64_t **sets; /* [job][link / 64] */
    uint32_t words;
};

struct job_link_sets job_link_sets_create(const struct job_run *runs, uint32_t count, struct platform *whole,
                                          struct arena *arena);
/* Whether two jobs have a link in common. */
bool job_links_meet(const struct job_link_sets *sets, uint32_t a, uint32_t b);

/* [job]: the first job of its component. */
uint32_t *components_find(const struct job_link_sets *sets, uint32_t count, struct arena *arena);

/* Everything about jobs that are simulated together that their times depend on: the scenarios, iterations, starts
 * counted from the earliest, hosts, and link by link the routes of all transfers, links by the order of their first
 * use. Equal texts, equal times. */
struct likeness {
    double *values;
    size_t count, capacity;
};

/* The caller frees values. */
struct likeness likeness_of(const struct job_run *const *runs, uint32_t count, struct platform *whole);
bool likeness_equal(const struct likeness *a, const struct likeness *b);

#endif
