/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a job trains on n nodes: straight lines between given points. */
#ifndef STAGESIM_CURVE_H
#define STAGESIM_CURVE_H

#include <stddef.h>
#include <stdint.h>

struct arena;

/* Bounds: a job of more nodes than this makes the exact decision slow. */
enum { CURVE_NODES_MAX = 4096 };

struct curve_point {
    uint32_t nodes;
    double rate; /* samples per second */
};

struct curve {
    uint32_t least, most; /* sizes with which the job can run; it can also wait, with 0 nodes */
    double *rate;         /* [most + 1]: samples per second; 0 below `least` */
};

/* Through the points (count of them, at least one, nodes ascending). Below the first one and beyond the last one each
 * node adds as much as the nodes of that point do on average, or, beyond, as those between the last two points where
 * that is less. Memory from the arena. */
struct curve curve_create(const struct curve_point *points, size_t count, uint32_t least, uint32_t most,
                          struct arena *arena);
/* The rate of `least` nodes times n / least: what is believed of a job of which nothing else is known. */
struct curve curve_linear(const struct curve *curve, struct arena *arena);
/* Between whole numbers of nodes, too; from 0 nodes to `least` on a straight line, beyond `most` that of `most`. */
double curve_between(const struct curve *curve, double nodes);

#endif
