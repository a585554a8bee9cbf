/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that run and when they are due, for policies that make reservations. The policy's own state begins with a struct
 * running. */
#ifndef STAGESIM_QUEUE_RUNNING_H
#define STAGESIM_QUEUE_RUNNING_H

#include "cluster/scheduling/queue_state.h"

/* The first to be due first. */
struct running {
    uint32_t *jobs, count;
    size_t capacity;
};

/* queue->own is a struct running alone; running_finish frees it. */
void running_begin(struct queue *queue);
void running_finish(struct queue *queue);
/* Whether as many nodes are free as the job asks for. */
bool running_fits(const struct queue *queue, uint32_t job);
/* A job that waits starts on as many nodes as it asks for. */
void running_start(struct queue *queue, uint32_t job);
/* It is due at another time. */
void running_postponed(struct queue *queue, uint32_t job);
/* When the job will have its nodes if those that run end when they are due, and how many are left then. Those that are
 * overdue are taken to end at once. INFINITY where not enough nodes are up. */
double running_reserve(const struct queue *queue, uint32_t job, uint32_t *extra);
/* A job ends: its nodes are free again. */
void running_ended(struct queue *queue, uint32_t job);

#endif
