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

/* ---- gateways ---- */

static void add_point(struct gateways *gateways, struct gateway_point point)
{
    gateways->points =
        array_grow(gateways->points, &gateways->point_capacity, gateways->point_count + 1, sizeof *gateways->points);
    gateways->points[gateways->point_count++] = point;
}

void gateways_point(struct gateways *gateways, const char *name, uint32_t zone, struct arena *arena)
{
    add_point(gateways, (struct gateway_point){arena_copy(arena, name), zone, 0});
}

uint32_t gateways_zone(struct gateways *gateways, const char *name, uint32_t zone, struct arena *arena)
{
    add_point(gateways, (struct gateway_point){arena_copy(arena, name), zone, ++gateways->zones});
    return gateways->zones;
}

void gateways_use(struct gateways *gateways, const char *zone, const char *gateway, struct place at,
                  struct arena *arena)
{
    if (!*gateway)
        return;
    gateways->uses =
        array_grow(gateways->uses, &gateways->use_capacity, gateways->use_count + 1, sizeof *gateways->uses);
    gateways->uses[gateways->use_count++] =
        (struct gateway_use){arena_copy(arena, zone), arena_copy(arena, gateway), at};
}

static int compare_points(const void *left, const void *right)
{
    const struct gateway_point *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* NULL: a <cluster> makes it, or nothing. */
static const struct gateway_point *find_point(const struct gateways *gateways, const char *name)
{
    const struct gateway_point wanted = {name, 0, 0};
    return bsearch(&wanted, gateways->points, gateways->point_count, sizeof wanted, compare_points);
}

static bool is_deep(const struct gateways *gateways, const struct gateway_use *use)
{
    const struct gateway_point *zone = find_point(gateways, use->zone), *gateway = find_point(gateways, use->gateway);
    return zone && zone->inside && gateway && gateway->zone != zone->inside;
}

const char *gateways_find_deep(struct gateways *gateways, struct arena *arena)
{
    const char *deep = NULL;
    if (gateways->point_count)
        qsort(gateways->points, gateways->point_count, sizeof *gateways->points, compare_points);
    for (size_t i = 0; i < gateways->use_count && !deep; i++) {
        const struct gateway_use *use = &gateways->uses[i];
        if (is_deep(gateways, use))
            deep = arena_print(arena, "%s:%u:%u: gateway '%.200s' of zone '%.200s' stands in a zone within it",
                               use->at.file, use->at.line, use->at.column, use->gateway, use->zone);
    }
    free(gateways->points);
    free(gateways->uses);
    *gateways = (struct gateways){.zones = gateways->zones};
    return deep;
}
