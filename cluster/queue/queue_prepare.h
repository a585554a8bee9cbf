/* SPDX-License-Identifier: Apache-2.0 */
/* From a log and a platform to the jobs of a queue. */
#ifndef STAGESIM_QUEUE_PREPARE_H
#define STAGESIM_QUEUE_PREPARE_H

#include "cluster/queue/queue_scenario.h"
#include "cluster/queue/throughput.h"

struct slowing;

/* Fills the request; with a slowing, jobs slow each other down. Both are borrowed. False with the mistakes reported: a
 * job is larger than the platform, or its type cannot run on the nodes that it asks for. Memory from the arena. */
bool queue_prepare(const struct scenario *scenario, struct throughput *throughput, struct slowing *slowing,
                   struct arena *arena, struct diag *diag, struct queue_request *request);

/* For queue_months_run: the jobs of another run are drawn of the scenario's month. */
struct queue_redraw {
    const struct scenario *scenario;
    struct throughput *throughput;
    struct diag *diag;
};
bool queue_redraw(void *user, uint32_t run, struct arena *arena, struct queue_request *request);

#endif
