/* SPDX-License-Identifier: Apache-2.0 */
/* The least sum of costs of nodes and of pairs of nodes, each node with one of three choices. Nodes are eliminated one
 * after the other, each into a table over its neighbours (Bertele and Brioschi, Nonserial Dynamic Programming, 1972):
 * exact on every graph, with 9 sums a node on a chain, and tables of at most nine entries where the graph is
 * series-parallel. */
#ifndef STAGESIM_PARTITION_PAIRWISE_H
#define STAGESIM_PARTITION_PAIRWISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIRWISE_CHOICES = 3, PAIRWISE_WIDTH = 9 }; /* neighbours of a node when it is eliminated, at most */

struct pairwise_edge {
    uint32_t from, to;                                /* nodes, unlike each other */
    double costs[PAIRWISE_CHOICES][PAIRWISE_CHOICES]; /* [choice of from][choice of to] */
};

struct pairwise {
    uint32_t count;                          /* of nodes */
    const double (*costs)[PAIRWISE_CHOICES]; /* [node][choice]; INFINITY: it is no choice of the node */
    const struct pairwise_edge *edges;       /* several may join the same nodes */
    size_t edge_count;
};

/* A node that is eliminated, and those that its table is over. */
struct pairwise_step {
    uint32_t node, size;
    uint32_t scope[PAIRWISE_WIDTH];
};

/* In which order nodes are eliminated: always one with the fewest neighbours, of these the first. It depends on the
 * edges' ends alone. NULL where a table would be over more than PAIRWISE_WIDTH nodes. An array of as many steps as
 * there are nodes, the caller's to free. */
struct pairwise_step *pairwise_order(const struct pairwise *sum);

/* Fills `choices` with those of the least sum, and returns it. Among equal sums a node takes its first choice; later
 * steps decide before earlier ones. INFINITY where there is none: then the choices mean nothing. */
double pairwise_minimize(const struct pairwise *sum, const struct pairwise_step *order, uint8_t *choices);

#endif
