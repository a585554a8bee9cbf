/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a loaded platform that tell what it can do: what a node is, which equal nodes there are, and the rates of
 * transfers alone and together. Rates share links max-min fairly: the slowest grow first, until a link of theirs is
 * full. */
#ifndef STAGESIM_VIEW_H
#define STAGESIM_VIEW_H

#include "platforms/platform.h"

struct arena;

/* Pairs of hosts of a node between which a transfer is equally fast. */
struct view_pairs {
    uint32_t count;    /* ordered pairs */
    double bandwidth;  /* bytes per second of one transfer alone */
    double latency;    /* seconds */
    uint32_t from, to; /* one of them, as hosts of the platform */
};

/* Nodes that are alike: as many hosts of the same kind, with the same pairs. A node is the innermost zone. */
struct view_node {
    uint32_t count;       /* nodes that are like this */
    uint32_t first, size; /* hosts of the first of them: first .. first + size - 1 */
    uint32_t pair_count;
    const struct view_pairs *pairs; /* fastest first */
    bool sampled;                   /* only pairs with the node's first host were looked at */
    double ring; /* bytes per second of the slowest transfer when each host sends to the next, the last to the first; 0
                    for one host */
    double out;  /* bytes per second in all from this node to the next node of the platform, each host to its
                    counterpart; 0 without */
};

/* Links that are alike: names that differ in digits only, same rates. Both directions of a split link count. */
struct view_links {
    uint32_t count;
    char name[96]; /* see view_link_class */
    double bandwidth, latency;
    enum link_sharing sharing;
};

struct view {
    struct platform *platform;
    uint32_t node_total;
    uint32_t node_count;
    const struct view_node *nodes;
    uint32_t link_count;
    const struct view_links *links;
    double bisection; /* bytes per second from the first half of the hosts to the second, host i to host i + n/2 */
};

/* The view lives in the arena. Hosts of one node follow each other in a generated platform; where they do not, each run
 * of hosts counts as a node. */
const struct view *view_create(struct platform *platform, struct arena *arena);

/* Rates of transfers that run at the same time: from[i] to to[i], `count` of them; rates[i] in bytes per second,
 * INFINITY for a transfer over no link, 0 for one without a route. */
void view_rates(struct platform *platform, const uint32_t *from, const uint32_t *to, uint32_t count, double *rates);

/* The class of a link's name: digits as #, without _UP and _DOWN and without numbers at the end ("nvlink" for
 * nvlink-0-3_UP). Writes at most size bytes. */
void view_link_class(const char *name, char *text, size_t size);

/* For qsort, of what begins with struct view_links: by name, the fastest and then the quickest first; 0: alike. */
int view_links_order(const void *left, const void *right);

#endif
