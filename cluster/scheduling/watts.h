/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs of a queue draw, and how a budget of power is divided: all GPUs of jobs that have nodes have the same cap,
 * the others their idle watts. */
#ifndef STAGESIM_QUEUE_WATTS_H
#define STAGESIM_QUEUE_WATTS_H

#include "cluster/scheduling/queue_state.h"

struct watts;

struct watts *watts_create(const struct queue *queue);
void watts_destroy(struct watts *watts); /* NULL is fine */

/* Of each GPU now; 0: none. */
double watts_cap(const struct queue *queue);
/* A job has nodes and a rate without a cap: its rate and watts are those under the cap of now. */
void watts_resume(struct queue *queue, uint32_t job);
/* Counts what it drew until now. */
void watts_charge(struct queue *queue, uint32_t job);
/* From now on others leave it this rate: its GPUs compute for a smaller share of the time. */
void watts_slow(struct queue *queue, uint32_t job, double rate);
/* After all that happens at one time: a budget is divided anew, and jobs go on at other rates. */
void watts_divide(struct queue *queue);

#endif
