/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs of a queue put on links that others may use as well. */
#ifndef STAGESIM_QUEUE_TRAFFIC_H
#define STAGESIM_QUEUE_TRAFFIC_H

#include "cluster/jobs/job_run.h"
#include "cluster/queue/throughput.h"

/* Between two nodes in an iteration; hosts are counted within the job's. */
struct traffic_transfer {
    uint32_t from, to;
    double bytes;
};

/* Of a type on nodes of a shape. */
struct traffic {
    struct cluster_job described; /* for simulations beside others */
    struct traffic_transfer *transfers;
    size_t count;
    double operations;   /* of all ranks, in an iteration */
    double first, alone; /* seconds of the first iteration and of each later one, as simulations beside others measure
                            them; 0: not known yet */
};

struct traffic_use {
    uint32_t link, flows;
    double bytes; /* in an iteration */
    double most;  /* bytes a second that it can use at once, at most what the link carries: what else bounds its flows
                     may be one of several equal links, of which those with lower numbers count */
};

/* Of a job on its nodes. */
struct footprint {
    struct traffic *traffic;
    uint32_t *hosts;          /* of the platform */
    struct traffic_use *uses; /* of links that flows share, by link */
    uint32_t use_count;
};

/* Of a type's job on these hosts of the platform, whose arithmetic takes `stretch` times as long. False with the
 * mistakes reported. Memory from the arena. */
bool traffic_create(struct throughput *throughput, uint32_t type, const uint32_t *hosts, uint32_t host_count,
                    double stretch, struct arena *arena, struct diag *diag, struct traffic *traffic);

/* Of the same traffic on other hosts of the same shape; footprint_finish frees what it has. */
void footprint_create(struct footprint *footprint, struct traffic *traffic, struct platform *platform,
                      const uint32_t *hosts, uint32_t host_count);
void footprint_finish(struct footprint *footprint);

#endif
