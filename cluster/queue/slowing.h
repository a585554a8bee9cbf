/* SPDX-License-Identifier: Apache-2.0 */
/* How much jobs of a queue that run at one time slow each other down.
 *
 * Two jobs meet where both send over a link that cannot carry what all that use it may send at once. Jobs that meet,
 * directly or by way of others, are a set. What a set comes to is simulated once (set_speeds.h) and remembered by its
 * class: types and sizes of its jobs, how fast each is alone, and what each puts on the links on which they meet. Sets
 * that are too large to be simulated, and those behind the last that may be, are estimated from those that were: each
 * job by the load that others put on the link on which it meets most. How far such estimates are off is measured on
 * sets that are simulated, before they are. */
#ifndef STAGESIM_QUEUE_SLOWING_H
#define STAGESIM_QUEUE_SLOWING_H

#include "cluster/queue/throughput.h"

struct slowing;

struct slowing_counts {
    uint64_t sets;                        /* asked for */
    uint64_t simulated, known, estimated; /* of them; known: of a class that was simulated before */
    uint64_t largest;                     /* jobs of a set */
    uint64_t checked;                     /* jobs of simulated sets that were estimated before */
    double bias, error, worst;            /* of the estimates, relative: mean with its sign, mean without, largest */
    double slowest;                       /* the largest slow-down of a job */
};

/* The throughput is borrowed. The caller owns the result. */
struct slowing *slowing_create(const struct queue_scenario *queue, struct throughput *throughput);
void slowing_destroy(struct slowing *slowing); /* NULL is fine */

/* See struct queue_request, beside. */
void slowing_share(struct slowing *slowing, struct queue_neighbour *running, uint32_t count);

/* NULL: all 0. */
struct slowing_counts slowing_counts(const struct slowing *slowing);

#endif
