/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/reach.h"

#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Arcs by the point where they begin: those of point p are heads[first[p]] up to heads[first[p + 1]]. */
struct arcs {
    size_t *first, *heads;
};

struct graph {
    const char **names; /* sorted */
    size_t points;
    size_t (*ends)[2]; /* of each arc */
    size_t arcs;
};

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static size_t number_of(const struct graph *graph, const char *name)
{
    const char **found = bsearch(&name, graph->names, graph->points, sizeof *graph->names, compare_names);
    return (size_t)(found - graph->names);
}

static void graph_fill(struct graph *graph, const struct reach_route *routes, size_t count)
{
    graph->names = array_zeroed(2 * count, sizeof *graph->names);
    graph->ends = array_zeroed(2 * count, sizeof *graph->ends);
    for (size_t i = 0; i < count; i++) {
        graph->names[2 * i] = routes[i].from;
        graph->names[2 * i + 1] = routes[i].to;
    }
    qsort(graph->names, 2 * count, sizeof *graph->names, compare_names);
    for (size_t i = 0; i < 2 * count; i++)
        if (!i || strcmp(graph->names[i], graph->names[graph->points - 1]) != 0)
            graph->names[graph->points++] = graph->names[i];
    for (size_t i = 0; i < count; i++) {
        size_t from = number_of(graph, routes[i].from), to = number_of(graph, routes[i].to);
        memcpy(graph->ends[graph->arcs++], (size_t[2]){from, to}, sizeof *graph->ends);
        if (routes[i].both_ways)
            memcpy(graph->ends[graph->arcs++], (size_t[2]){to, from}, sizeof *graph->ends);
    }
}

static struct arcs sort_arcs(const struct graph *graph, unsigned tail)
{
    struct arcs arcs = {array_zeroed(graph->points + 1, sizeof(size_t)), array_zeroed(graph->arcs, sizeof(size_t))};
    for (size_t i = 0; i < graph->arcs; i++)
        arcs.first[graph->ends[i][tail] + 1]++;
    for (size_t p = 0; p < graph->points; p++)
        arcs.first[p + 1] += arcs.first[p];
    size_t *next = array_zeroed(graph->points, sizeof *next);
    for (size_t i = 0; i < graph->arcs; i++) {
        size_t point = graph->ends[i][tail];
        arcs.heads[arcs.first[point] + next[point]++] = graph->ends[i][1 - tail];
    }
    free(next);
    return arcs;
}

/* Whether all points are found from the first one, along the arcs (tail 0) or against them (1). */
static bool spans(const struct graph *graph, unsigned tail)
{
    struct arcs arcs = sort_arcs(graph, tail);
    size_t *found = array_zeroed(graph->points, sizeof *found), count = 1; /* the first point is number 0 */
    bool *is_found = array_zeroed(graph->points, sizeof *is_found);
    is_found[0] = true;
    for (size_t at = 0; at < count; at++)
        for (size_t i = arcs.first[found[at]]; i < arcs.first[found[at] + 1]; i++)
            if (!is_found[arcs.heads[i]]) {
                is_found[arcs.heads[i]] = true;
                found[count++] = arcs.heads[i];
            }
    free(arcs.first);
    free(arcs.heads);
    free(found);
    free(is_found);
    return count == graph->points;
}

bool reach_all(const struct reach_route *routes, size_t count)
{
    struct graph graph = {NULL, 0, NULL, 0};
    if (!count)
        return true;
    graph_fill(&graph, routes, count);
    bool all = spans(&graph, 0) && spans(&graph, 1);
    free(graph.names);
    free(graph.ends);
    return all;
}
