/* SPDX-License-Identifier: Apache-2.0 */
/* `failures:` and `checkpoint:` beside `queue:`, from what they say to what fails in a run. */
#ifndef STAGESIM_QUEUE_FAILURES_H
#define STAGESIM_QUEUE_FAILURES_H

#include "cluster/queue/queue_scenario.h"

/* Takes them from the scenario in which they were read; what means nothing in a queue is a mistake. */
void queue_take_failures(struct queue_scenario *queue, const struct node *root, const struct scenario *shell,
                         struct diag *diag);

/* Plans of jobs are added, one after the other. */
struct queue_failing {
    const struct queue_scenario *queue;
    struct arena *arena;
    struct queue_failures failures;
    struct training_plan cluster, *jobs; /* [job_count] */
};

/* False where nothing fails, and then it is not used. */
bool queue_failing_begin(struct queue_failing *failing, const struct queue_scenario *queue, uint32_t nodes,
                         uint32_t gpus_per_node, struct arena *arena);
/* Of a job with a state of so many bytes (0: not known) and so many seconds a step. It is expected to run as long as
 * that takes with its checkpoints where nothing fails. */
void queue_failing_add(struct queue_failing *failing, uint32_t number, struct queue_job *job, double bytes,
                       double step);

#endif
