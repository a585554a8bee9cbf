/* SPDX-License-Identifier: Apache-2.0 */
/* Refinement of colours: the coarsest partition of a graph's nodes in which nodes of one colour have equally many edges
 * of each label to nodes of each colour. What happens at a node follows from its colour and from what happens at those
 * that its edges lead to; so with all of one colour the same happens at the same time, and one can stand for all.
 *
 * Colours are 64-bit hashes of content, so they are the same on every machine; that two different ones of n nodes
 * coincide has a chance of n^2 / 2^65. (B. Weisfeiler and A. Leman, 1968.) */
#ifndef STAGESIM_REFINE_H
#define STAGESIM_REFINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct refine_edge {
    uint32_t from, to; /* what happens at `from` depends on what happens at `to` */
    uint64_t label;
};

/* All zero: no nodes. */
struct refine {
    uint64_t *colours; /* [node] */
    size_t nodes, nodes_capacity;
    struct refine_edge *edges;
    size_t edge_count, edge_capacity;
};

/* Returns the number of the new node. */
uint32_t refine_add_node(struct refine *refine, uint64_t colour);
void refine_add_edge(struct refine *refine, uint32_t from, uint32_t to, uint64_t label);
/* Each knows of the other. */
void refine_add_pair(struct refine *refine, uint32_t a, uint32_t b, uint64_t label_ab, uint64_t label_ba);
/* Refines until the partition is stable; returns the number of colours. 0: that would take too long, and nothing is
 * known of nodes of one colour. */
size_t refine_run(struct refine *refine);
void refine_destroy(struct refine *refine);

static inline uint64_t refine_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) + UINT64_C(0xD1B54A32D192ED03);
    hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
    return hash ^ hash >> 31;
}

static inline uint64_t refine_mix_number(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return refine_mix(hash, bits);
}

#endif
