/* SPDX-License-Identifier: Apache-2.0 */
/* How much jobs of a queue that run at one time slow each other down.
 *
 * Two jobs meet where both send over a link that cannot carry what all that use it may send at once. Jobs that meet,
 * directly or by way of others, are a set (job_sets.h). What a set comes to, set_slow.h says. */
#ifndef STAGESIM_QUEUE_SLOWING_H
#define STAGESIM_QUEUE_SLOWING_H

#include "cluster/queue/set_slow.h"
#include "cluster/queue/throughput.h"

struct slowing;

/* The throughput is borrowed. The caller owns the result. */
struct slowing *slowing_create(const struct queue_scenario *queue, struct throughput *throughput);
void slowing_destroy(struct slowing *slowing); /* NULL is fine */

/* See struct queue_request, beside. Where GPUs are capped arithmetic takes `stretch` times as long, of `most` at most,
 * which is always the same. */
void slowing_share(struct slowing *slowing, struct queue_neighbour *working, uint32_t count, double stretch,
                   double most);

/* NULL: all 0. */
struct set_counts slowing_counts(const struct slowing *slowing);

#endif
