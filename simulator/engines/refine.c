/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/refine.h"

#include "base/bulk.h"

#include <stdbool.h>

uint32_t refine_add_node(struct refine *refine, uint64_t colour)
{
    refine->colours = bulk_grow(refine->colours, &refine->nodes_capacity, refine->nodes + 1, sizeof *refine->colours);
    refine->colours[refine->nodes] = colour;
    return (uint32_t)refine->nodes++;
}

void refine_add_edge(struct refine *refine, uint32_t from, uint32_t to, uint64_t label)
{
    refine->edges = bulk_grow(refine->edges, &refine->edge_capacity, refine->edge_count + 1, sizeof *refine->edges);
    refine->edges[refine->edge_count++] = (struct refine_edge){from, to, label};
}

void refine_add_pair(struct refine *refine, uint32_t a, uint32_t b, uint64_t label_ab, uint64_t label_ba)
{
    refine_add_edge(refine, a, b, label_ab);
    refine_add_edge(refine, b, a, label_ba);
}

/* More than this takes longer than most simulations: differences that travel along rings of hundreds of ranks. */
#define EDGES_MOST 2e9

/* Open addressing; 0 stands for an empty place. */
static size_t count_different(const uint64_t *colours, size_t count, uint64_t *table, size_t size)
{
    size_t different = 0;
    bool zero = false;
    memset(table, 0, size * sizeof *table);
    for (size_t i = 0; i < count; i++) {
        uint64_t colour = colours[i];
        size_t place = (size_t)colour & (size - 1);
        while (table[place] && table[place] != colour)
            place = (place + 1) & (size - 1);
        different += colour ? table[place] != colour : !zero;
        zero |= !colour;
        table[place] = colour;
    }
    return different;
}

/* The sums do not depend on the order of edges. */
static void next_colours(const struct refine *refine, uint64_t *sums)
{
    memset(sums, 0, refine->nodes * sizeof *sums);
    for (size_t i = 0; i < refine->edge_count; i++) {
        const struct refine_edge *edge = &refine->edges[i];
        sums[edge->from] += refine_mix(edge->label, refine->colours[edge->to]);
    }
    for (size_t i = 0; i < refine->nodes; i++)
        refine->colours[i] = refine_mix(refine->colours[i], sums[i]);
}

size_t refine_run(struct refine *refine)
{
    size_t size = 16;
    while (size < 2 * refine->nodes)
        size *= 2;
    uint64_t *sums = bulk_alloc(refine->nodes * sizeof *sums + 1), *table = bulk_alloc(size * sizeof *table);
    size_t before = 0, now = count_different(refine->colours, refine->nodes, table, size);
    double visited = 0;
    while (now > before && visited <= EDGES_MOST) {
        before = now;
        visited += (double)refine->edge_count;
        next_colours(refine, sums);
        now = count_different(refine->colours, refine->nodes, table, size);
    }
    bulk_free(sums, refine->nodes * sizeof *sums + 1);
    bulk_free(table, size * sizeof *table);
    return now > before ? 0 : now;
}

void refine_destroy(struct refine *refine)
{
    bulk_free(refine->colours, refine->nodes_capacity * sizeof *refine->colours);
    bulk_free(refine->edges, refine->edge_capacity * sizeof *refine->edges);
}
