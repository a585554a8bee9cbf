/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a queue that fail and come back, and what becomes of the jobs on them. */
#ifndef STAGESIM_QUEUE_OUTAGES_H
#define STAGESIM_QUEUE_OUTAGES_H

#include "cluster/scheduling/queue_state.h"

/* For queue->request->failures, which are there; all nodes are up and free. */
struct outages *outages_create(struct queue *queue);
void outages_destroy(struct outages *outages); /* NULL is fine */

/* When a node comes back or something fails next. */
double outages_next(const struct outages *outages);
/* Nodes come back, then things fail, as far as that is so now; false where neither is. */
bool outages_pass(struct queue *queue);

/* What came up for a job comes: true where a failure of it is noticed, which is then seen to; false where it ends. */
bool outages_noticed(struct queue *queue, uint32_t job);
/* A job that runs gives way: it saves its state and waits again. */
void outages_yield(struct queue *queue, uint32_t job);
/* It moves: it saves its state and has other nodes then. */
void outages_move(struct queue *queue, uint32_t job);
/* Seconds of its steps that are left to it now, at full speed. */
double outages_left(const struct queue *queue, uint32_t job);
/* It ends now. */
void outages_ended(struct queue *queue, uint32_t job);

/* Whether nobody gets on any more. */
bool outages_stuck(const struct queue *queue);
/* The last job has ended: what was written down belongs to queue->run, in its arena. */
void outages_finish(struct queue *queue);

#endif
