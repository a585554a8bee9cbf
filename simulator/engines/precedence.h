/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that are alike and share links: in which order they get ahead.
 *
 * Max-min sharing makes a lead grow. Of n groups whose collectives share a link, let one begin d seconds before the
 * others. It has the link for itself until they come, so it ends (n - 1) d before them, and begins its next collective
 * with that lead. Where groups are exactly alike no one leads, and they share to the end; but a GPU that is slower by
 * one part in a billion makes them part after some ten collectives, and the job takes another time. What a real job
 * does is the latter, for no two GPUs are equal. So groups that are alike are given weights that differ a little, as
 * flows of other latencies have (CM02 shares in inverse proportion to latencies): who leads then follows from the mesh,
 * and not from roundings. The weights of the flows of a link are 1 on average, so it carries what it did: where groups
 * wait for each other after each collective nothing changes. A graph may be `even`: then no group has a turn. */
#ifndef STAGESIM_PRECEDENCE_H
#define STAGESIM_PRECEDENCE_H

#include <stdint.h>

struct class_graph;

/* Gives instances of each group that use a link in common different turns, as few as come by going through them in
 * their order. After the links that cannot bind were dropped. */
void precedence_find(struct class_graph *graph);

/* Parts that are alike and share links, directly or by way of others, are no longer of one colour: one of them may get
 * ahead. */
void precedence_find_parts(struct class_graph *graph);

/* By what the latency of a flow is multiplied where it is a weight, for the turn of `turns`. */
double precedence_weight(uint32_t turn, uint32_t turns);

#endif
