/* SPDX-License-Identifier: Apache-2.0 */
/* The partition of random graphs against one that is found step by step: nodes are compared pair by pair, edge by edge,
 * until nothing changes. */
#include "simulator/engines/refine.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>

enum { NODES_MAX = 40, EDGES_MAX = 160 };

struct graph {
    uint32_t nodes, edges;
    uint32_t colours[NODES_MAX]; /* of the nodes, to begin with */
    uint32_t from[EDGES_MAX], to[EDGES_MAX], labels[EDGES_MAX];
};

/* Whether both nodes have equally many edges of each label to each class. */
static bool see_the_same(const struct graph *graph, const uint32_t *classes, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < graph->edges; i++) {
        int difference = 0;
        for (uint32_t k = 0; k < graph->edges; k++)
            if (graph->labels[k] == graph->labels[i] && classes[graph->to[k]] == classes[graph->to[i]])
                difference += (graph->from[k] == a) - (graph->from[k] == b);
        if (difference)
            return false;
    }
    return true;
}

/* Classes as the first of their nodes. */
static void refine_by_pairs(const struct graph *graph, uint32_t *classes)
{
    uint32_t next[NODES_MAX] = {0};
    for (uint32_t a = 0; a < graph->nodes; a++)
        for (classes[a] = 0; graph->colours[classes[a]] != graph->colours[a];)
            classes[a]++;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t a = 0; a < graph->nodes; a++) {
            for (next[a] = 0; classes[next[a]] != classes[a] || !see_the_same(graph, classes, next[a], a);)
                next[a]++;
            changed |= next[a] != classes[a];
        }
        memcpy(classes, next, sizeof next);
    }
}

/* Rings of several lengths and single edges, so that differences travel. */
static void draw(struct graph *graph)
{
    *graph = (struct graph){.nodes = 1 + (uint32_t)(rand() % NODES_MAX)};
    uint32_t colours = 1 + (uint32_t)(rand() % 2), labels = 1 + (uint32_t)(rand() % 8);
    bool few = rand() % 2;
    for (uint32_t node = 0; node < graph->nodes; node++)
        graph->colours[node] = few ? node == 0 : (uint32_t)rand() % colours;
    for (uint32_t begin = 0, length; begin < graph->nodes; begin += length) {
        length = 1 + (uint32_t)rand() % 12;
        length = length < graph->nodes - begin ? length : graph->nodes - begin;
        for (uint32_t i = 0; i < length; i++, graph->edges++) {
            graph->from[graph->edges] = begin + i;
            graph->to[graph->edges] = begin + (i + 1) % length;
        }
    }
    for (uint32_t more = (uint32_t)rand() % (rand() % 2 ? 6 : 60); more > 0; more--, graph->edges++) {
        graph->from[graph->edges] = (uint32_t)rand() % graph->nodes;
        graph->to[graph->edges] = (uint32_t)rand() % graph->nodes;
        graph->labels[graph->edges] = (uint32_t)rand() % labels;
    }
}

static struct refine refine_of(const struct graph *graph)
{
    struct refine refine = {0};
    for (uint32_t node = 0; node < graph->nodes; node++)
        refine_add_node(&refine, graph->colours[node]);
    for (uint32_t i = 0; i < graph->edges; i++)
        refine_add_edge(&refine, graph->from[i], graph->to[i], graph->labels[i]);
    return refine;
}

Test(refine, random_graphs)
{
    size_t most = 0, least = NODES_MAX;
    srand(1);
    for (int trial = 0; trial < 400; trial++) {
        struct graph graph;
        uint32_t classes[NODES_MAX] = {0}, count = 0;
        draw(&graph);
        refine_by_pairs(&graph, classes);
        struct refine refine = refine_of(&graph);
        size_t found = refine_run(&refine);
        for (uint32_t a = 0; a < graph.nodes; a++) {
            count += classes[a] == a;
            for (uint32_t b = 0; b < a; b++)
                cr_assert_eq(refine.colours[a] == refine.colours[b], classes[a] == classes[b],
                             "trial %d: nodes %u and %u", trial, b, a);
        }
        cr_assert_eq(found, count, "trial %d: %zu classes, expected %u", trial, found, count);
        most = found > most ? found : most;
        least = found < least ? found : least;
        refine_destroy(&refine);
    }
    cr_assert(least == 1 && most > NODES_MAX / 2, "from %zu to %zu classes", least, most);
}

/* A difference goes along half a million nodes: one step at a time, each of which costs no more than a node. */
Test(refine, long_chain, .timeout = 60)
{
    enum { LENGTH = 500000 };
    struct refine refine = {0};
    for (uint32_t node = 0; node < LENGTH; node++)
        refine_add_node(&refine, 1);
    for (uint32_t node = 0; node + 1 < LENGTH; node++)
        refine_add_edge(&refine, node, node + 1, 2);
    cr_assert_eq(refine_run(&refine), LENGTH);
    refine_destroy(&refine);
}

Test(refine, nothing)
{
    struct refine refine = {0};
    cr_assert_eq(refine_run(&refine), 0);
    refine_destroy(&refine);
}
