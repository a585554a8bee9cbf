/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/operators/operators.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)CONFIGURATION_DIMENSIONS == (int)SPLIT_DIMENSIONS, "a configuration has all dimensions of a split");

/* ---- configurations ---- */

/* Dimensions that are proposed. Input channels are not among FlexFlow's: partial sums would have to be added. */
static const enum split_dimension dimensions[] = {SPLIT_SAMPLE, SPLIT_HEIGHT, SPLIT_WIDTH, SPLIT_OUT};
enum { PROPOSED = sizeof dimensions / sizeof *dimensions };

/* Recurrent operators pass their state on at every step, and are divided by samples alone, as in the authors' code. */
static bool divides(const struct operators *o, uint32_t layer, enum split_dimension dimension)
{
    return o->graph->operators[layer].layer->type != LAYER_RECURRENT || dimension == SPLIT_SAMPLE;
}

/* Parts that the dimension may have in all layers that change together. */
static double most_of(const struct operators *o, uint32_t unit, enum split_dimension dimension)
{
    double most = o->devices;
    for (uint32_t i = 0; i < o->graph->count; i++) {
        if (operator_unit(o, i) != unit)
            continue;
        double own = divides(o, i, dimension) ? split_most(o->graph, i, dimension, o->samples) : 1;
        most = own < most ? own : most;
    }
    return most;
}

struct listing {
    const struct operators *o;
    double most[PROPOSED];
    struct operator_space *space;
    size_t capacity;
};

/* On neighbouring devices, and on devices that are evenly spread. */
static void list_places(struct listing *l, const struct configuration *parts)
{
    uint32_t devices = l->o->devices, spread = devices / parts->count;
    for (uint32_t way = 0; way < 2; way++)
        for (uint32_t place = 0; place < spread; place++) {
            struct configuration next = *parts;
            next.first = way ? place : place * parts->count;
            next.stride = way ? spread : 1;
            if (way && (spread == 1 || parts->count == 1))
                continue;
            l->space->configurations = array_grow(l->space->configurations, &l->capacity, l->space->count + (size_t)1,
                                                  sizeof *l->space->configurations);
            l->space->configurations[l->space->count++] = next;
        }
}

/* All ways to share `left` parts out to the dimensions from `next` on. */
static void list_degrees(struct listing *l, struct configuration *parts, uint32_t next, uint32_t left)
{
    if (next == PROPOSED) {
        if (left == 1)
            list_places(l, parts);
        return;
    }
    for (uint32_t degree = 1; degree <= left && degree <= l->most[next]; degree++) {
        if (left % degree)
            continue;
        parts->degrees[dimensions[next]] = degree;
        list_degrees(l, parts, next + 1, left / degree);
    }
    parts->degrees[dimensions[next]] = 1;
}

static void list_configurations(struct operators *o, uint32_t unit)
{
    struct listing listing = {.o = o, .space = &o->spaces[unit]};
    for (uint32_t i = 0; i < PROPOSED; i++)
        listing.most[i] = most_of(o, unit, dimensions[i]);
    for (uint32_t count = 1; count <= o->devices; count++) {
        struct configuration parts = {.degrees = {1, 1, 1, 1, 1}, .count = count};
        if (o->devices % count == 0)
            list_degrees(&listing, &parts, 0, count);
    }
}

struct layer_split configuration_split(const struct configuration *configuration, uint32_t *devices)
{
    struct layer_split split = {.count = configuration->count, .devices = devices};
    memcpy(split.degrees, configuration->degrees, sizeof split.degrees);
    for (uint32_t k = 0; k < split.count; k++)
        devices[k] = configuration->first + k * configuration->stride;
    return split;
}

uint32_t operator_find(const struct operators *o, uint32_t layer, const struct configuration *wanted)
{
    const struct operator_space *space = &o->spaces[layer];
    for (uint32_t i = 0; i < space->count; i++) {
        const struct configuration *known = &space->configurations[i];
        if (!memcmp(known->degrees, wanted->degrees, sizeof known->degrees) && known->first == wanted->first &&
            (known->stride == wanted->stride || known->count == 1))
            return i;
    }
    return STAGESIM_NONE;
}

uint32_t operator_unit(const struct operators *o, uint32_t layer)
{
    return o->graph->operators[layer].weights;
}

/* ---- the network ---- */

static void list_edges(struct operators *o)
{
    const struct layers_graph *graph = o->graph;
    o->edges = array_zeroed(graph->edge_count, sizeof *o->edges);
    o->written = array_zeroed(graph->edge_count, sizeof *o->written);
    o->first_read = array_zeroed(graph->count + (size_t)1, sizeof *o->first_read);
    o->first_written = array_zeroed(graph->count + (size_t)1, sizeof *o->first_written);
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct layer_operator *op = &graph->operators[i];
        for (uint32_t k = 0; k < op->edge_count; k++)
            o->edges[o->edge_count++] = (struct operator_edge){&op->edges[k], op->edges[k].source, i};
        o->first_read[i + 1] = o->edge_count;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        for (uint32_t e = o->first_read[i + 1]; e < o->edge_count; e++)
            if (o->edges[e].source == i)
                o->written[count++] = e;
        o->first_written[i + 1] = count;
    }
}

static void list_users(struct operators *o)
{
    const struct layers_graph *graph = o->graph;
    o->users = array_zeroed(graph->count, sizeof *o->users);
    o->first_user = array_zeroed(graph->count + (size_t)1, sizeof *o->first_user);
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        for (uint32_t user = i; user < graph->count; user++)
            if (graph->operators[user].weights == i)
                o->users[count++] = user;
        o->first_user[i + 1] = count;
    }
}

void operators_prepare(struct operators *o)
{
    o->edge_count = 0;
    o->spaces = array_zeroed(o->graph->count, sizeof *o->spaces);
    for (uint32_t i = 0; i < o->graph->count; i++)
        if (operator_unit(o, i) == i)
            list_configurations(o, i);
        else
            o->spaces[i] = o->spaces[operator_unit(o, i)];
    list_edges(o);
    list_users(o);
    operators_classify(o);
}

void operators_finish(struct operators *o)
{
    for (uint32_t i = 0; o->spaces && i < o->graph->count; i++)
        if (operator_unit(o, i) == i)
            free(o->spaces[i].configurations);
    free(o->spaces);
    free(o->edges);
    free(o->first_read);
    free(o->written);
    free(o->first_written);
    free(o->users);
    free(o->first_user);
    free(o->classes);
    free(o->alike);
}
