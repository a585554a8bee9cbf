/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of programs that run side by side on a platform, whose nodes are ranks, links that can bind, flows, and
 * instances of groups. Nodes that refining it leaves alike are of one class. */
#ifndef STAGESIM_CLASS_GRAPH_H
#define STAGESIM_CLASS_GRAPH_H

#include "platforms/platform.h"
#include "simulator/engines/refine.h"
#include "simulator/program/program.h"

struct arena;
struct class_part;

/* What the graph has of a part. Ranks are numbered through all parts. */
struct graph_part {
    const struct program *program;
    uint32_t first_rank;
    size_t first_flow, flow_count;
    uint64_t colour; /* parts of one colour are alike, but for routes */
};

/* A message stream of a rank, or a flow of an instance of a group. */
struct graph_flow {
    uint32_t from, to; /* ranks */
    uint32_t owner;    /* number of the instance among all, UINT32_MAX: a message */
    uint32_t link_count;
    size_t first_link; /* into links; those that can bind */
    double latency;
    uint64_t colour;
    bool
        together; /* it begins with all flows of its instance, when all members have come, and they end with the last */
};

struct graph_owner {
    uint32_t part, group, instance;
    size_t first_flow, flow_count; /* of all sets, one after the other */
    uint32_t turn, turns;          /* see precedence.h; of a group all have as many turns */
};

struct class_graph {
    struct graph_part *parts; /* [part_count] */
    uint32_t part_count, rank_count;
    struct platform *platform;
    uint32_t *hosts; /* [rank] */
    struct arena *arena;
    struct graph_flow *flows;
    size_t flow_count, flow_capacity;
    uint32_t *links;
    size_t link_count, link_capacity;
    struct graph_owner *owners;
    size_t owner_count, owner_capacity;
    struct refine refine;
    uint32_t *ranks; /* scratch: of an instance, numbered within its part */
    char *reason;
    size_t reason_size;
    bool latencies; /* routes that differ in one are not alike */
    bool even;      /* groups that are alike have no turns (precedence.h) */
};

/* Classes of nodes that follow each other, numbered as they come. */
struct class_numbering {
    uint32_t *class_of, *size, *first; /* [node], [class], [class] */
    uint32_t count;
};

/* Says in the graph's text why there are no classes; false. */
bool class_graph_refuse(struct class_graph *graph, const char *reason);

/* A graph of the parts' ranks on hosts, nothing listed yet; whoever begins it finishes it. `reason` of `size` bytes
 * takes why there are no classes. All borrowed. */
struct class_graph class_graph_begin(const struct class_part *parts, uint32_t count, struct platform *platform,
                                     struct arena *arena, char *reason, size_t size);
/* Lists the flows, with the links that can bind, and finds turns; false: this cannot be, for a reason that is given. */
bool class_graph_list(struct class_graph *graph);
/* Finds the coarsest partition of what was listed; false: there is none, for a reason that is given. */
bool class_graph_refine(struct class_graph *graph);
void class_graph_finish(struct class_graph *graph);

/* The number of the node that stands for a link, a flow, an instance; ranks come first. */
uint32_t class_graph_link(const struct class_graph *graph, uint32_t link);
uint32_t class_graph_flow(const struct class_graph *graph, size_t flow);
uint32_t class_graph_owner(const struct class_graph *graph, size_t owner);

/* Numbers the classes of nodes first .. first + count - 1 of a graph that was refined. */
struct class_numbering class_graph_number(const struct class_graph *graph, uint32_t first, size_t count);
void class_numbering_finish(struct class_numbering *numbering);

#endif
