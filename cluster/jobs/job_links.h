/* SPDX-License-Identifier: Apache-2.0 */
/* Over which links a job's transfers go, and when. */
#ifndef STAGESIM_JOB_LINKS_H
#define STAGESIM_JOB_LINKS_H

#include "cluster/jobs/job_run.h"

/* A transfer, or where the job has no timeline all transfers of one way. */
struct link_use {
    const struct platform_route *route;
    const struct moment *moment; /* data move from data_start to end; NULL: without a timeline */
};

/* Visits the messages and the flows of collectives, in an order that depends on the program alone. */
void job_links_visit(const struct job_run *run, struct platform *whole,
                     void (*visit)(void *user, const struct link_use *use), void *user);

/* Whether transfers slow each other down on a link. */
static inline bool link_is_shared(const struct platform_link *link)
{
    return link->sharing != LINK_FATPIPE;
}

#endif
