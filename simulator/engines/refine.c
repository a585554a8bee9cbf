/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/refine.h"

#include "base/bulk.h"

#include <stdbool.h>
#include <stdlib.h>

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

/* ---- the partition while it is refined ---- */

/* More than this takes longer than most simulations. */
#define EDGES_MOST 2e9

/* The members of a class follow each other in `members`. */
struct class
{
    uint32_t first, size;
    uint64_t colour;
    uint64_t sum; /* that members have which are not dirty */
};

/* A node whose sum has changed since its class was looked at. */
struct dirty {
    uint32_t class, node;
    uint64_t sum;
};

struct refining {
    const struct refine *refine;
    uint64_t *sums;             /* [node]: over its edges, of label and colour together */
    uint32_t *heads, *sources;  /* edges by the node that they lead to: heads[node] .. heads[node + 1] */
    uint64_t *labels;           /* beside sources */
    uint32_t *members, *places; /* [place]: node; [node]: place */
    uint32_t *class_of;         /* [node] */
    struct class *classes;      /* at most as many as nodes */
    uint32_t class_count;
    bool *is_dirty;
    struct dirty *dirty; /* [dirty_count] */
    size_t dirty_count;
    uint32_t *recoloured; /* classes with a new colour of which neighbours do not know yet, and their old one */
    uint64_t *before;
    size_t recoloured_count;
    uint64_t colours; /* given so far */
    double visited;   /* edges */
};

static void note_dirty(struct refining *refining, uint32_t node)
{
    if (!refining->is_dirty[node])
        refining->dirty[refining->dirty_count++].node = node;
    refining->is_dirty[node] = true;
}

static void sort_edges(struct refining *refining)
{
    const struct refine *refine = refining->refine;
    for (size_t i = 0; i < refine->edge_count; i++)
        refining->heads[refine->edges[i].to + 1]++;
    for (size_t i = 0; i < refine->nodes; i++)
        refining->heads[i + 1] += refining->heads[i];
    for (size_t i = refine->edge_count; i-- > 0;) {
        const struct refine_edge *edge = &refine->edges[i];
        uint32_t place = refining->heads[edge->to] + refining->places[edge->to]++;
        refining->sources[place] = edge->from;
        refining->labels[place] = edge->label;
    }
}

/* ---- classes ---- */

static int by_class_and_sum(const void *left, const void *right)
{
    const struct dirty *a = left, *b = right;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    if (a->sum != b->sum)
        return a->sum < b->sum ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Makes the last of a class's members, of which there are so many, a class of their own. */
static uint32_t cut_off(struct refining *refining, uint32_t class, uint32_t count, uint64_t sum)
{
    struct class *from = &refining->classes[class];
    uint32_t own = refining->class_count++;
    from->size -= count;
    refining->classes[own] = (struct class){from->first + from->size, count, from->colour, sum};
    for (uint32_t i = 0; i < count; i++)
        refining->class_of[refining->members[refining->classes[own].first + i]] = own;
    return own;
}

/* Puts a member at a place of its class. */
static void move_to(struct refining *refining, uint32_t node, uint32_t place)
{
    uint32_t other = refining->members[place], old = refining->places[node];
    refining->members[place] = node;
    refining->places[node] = place;
    refining->members[old] = other;
    refining->places[other] = old;
}

/* Members with these sums, which are equal, leave the class. */
static uint32_t split(struct refining *refining, uint32_t class, const struct dirty *equal, uint32_t count)
{
    uint32_t end = refining->classes[class].first + refining->classes[class].size;
    for (uint32_t i = 0; i < count; i++)
        move_to(refining, equal[i].node, end - 1 - i);
    return cut_off(refining, class, count, equal->sum);
}

static void recolour(struct refining *refining, uint32_t class)
{
    refining->before[refining->recoloured_count] = refining->classes[class].colour;
    refining->recoloured[refining->recoloured_count++] = class;
    refining->classes[class].colour = refine_mix(0, ++refining->colours); /* small numbers collide with labels */
}

/* Splits one class by the sums of its dirty members. The largest part keeps the colour, so that a node changes its own
 * no more than log n times. */
static void divide(struct refining *refining, const struct dirty *dirty, uint32_t count)
{
    uint32_t class = dirty->class, first_new = refining->class_count, largest = class;
    uint32_t clean = refining->classes[class].size - count;
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && dirty[end].sum == dirty[begin].sum;)
            end++;
        if (!clean && end == count) /* the last of the parts stays where it is */
            refining->classes[class].sum = dirty[begin].sum;
        else if (!clean || dirty[begin].sum != refining->classes[class].sum)
            split(refining, class, &dirty[begin], end - begin);
    }
    for (uint32_t i = first_new; i < refining->class_count; i++)
        if (refining->classes[i].size > refining->classes[largest].size)
            largest = i;
    for (uint32_t i = first_new; i < refining->class_count; i++)
        if (i != largest)
            recolour(refining, i);
    if (largest != class)
        recolour(refining, class);
}

static void divide_all(struct refining *refining)
{
    struct dirty *dirty = refining->dirty;
    size_t count = refining->dirty_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t node = dirty[i].node;
        dirty[i] = (struct dirty){refining->class_of[node], node, refining->sums[node]};
        refining->is_dirty[node] = false;
    }
    if (count)
        qsort(dirty, count, sizeof *dirty, by_class_and_sum);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && dirty[end].class == dirty[begin].class;)
            end++;
        divide(refining, &dirty[begin], (uint32_t)(end - begin));
    }
    refining->dirty_count = 0;
}

/* Tells those with edges to the classes that have a new colour. */
static void pass_on(struct refining *refining)
{
    for (size_t i = 0; i < refining->recoloured_count; i++) {
        const struct class *class = &refining->classes[refining->recoloured[i]];
        for (uint32_t m = class->first; m < class->first + class->size; m++) {
            uint32_t node = refining->members[m];
            for (uint32_t k = refining->heads[node]; k < refining->heads[node + 1]; k++) {
                uint64_t label = refining->labels[k];
                refining->sums[refining->sources[k]] +=
                    refine_mix(label, class->colour) - refine_mix(label, refining->before[i]);
                note_dirty(refining, refining->sources[k]);
            }
            refining->visited += refining->heads[node + 1] - refining->heads[node];
        }
    }
    refining->recoloured_count = 0;
}

/* Classes of equal first colours: as if all nodes had been in one and the colours were their sums. */
static void begin(struct refining *refining)
{
    const struct refine *refine = refining->refine;
    refining->classes[refining->class_count++] = (struct class){0, (uint32_t)refine->nodes, 0, 0};
    for (uint32_t node = 0; node < refine->nodes; node++) {
        refining->members[node] = refining->places[node] = node;
        refining->sums[node] = refine->colours[node];
        note_dirty(refining, node);
    }
    divide_all(refining);
    refining->recoloured_count = 0;
    memset(refining->sums, 0, refine->nodes * sizeof *refining->sums);
    for (size_t i = 0; i < refine->edge_count; i++) {
        const struct refine_edge *edge = &refine->edges[i];
        refining->sums[edge->from] += refine_mix(edge->label, refining->classes[refining->class_of[edge->to]].colour);
    }
    for (uint32_t node = 0; node < refine->nodes; node++)
        note_dirty(refining, node);
}

static struct refining refining_create(const struct refine *refine)
{
    size_t nodes = refine->nodes, edges = refine->edge_count;
    struct refining refining = {.refine = refine};
    refining.sums = bulk_alloc((nodes + 1) * sizeof *refining.sums);
    refining.heads = bulk_alloc((nodes + 2) * sizeof *refining.heads);
    refining.sources = bulk_alloc((edges + 1) * sizeof *refining.sources);
    refining.labels = bulk_alloc((edges + 1) * sizeof *refining.labels);
    refining.members = bulk_alloc((nodes + 1) * sizeof *refining.members);
    refining.places = bulk_alloc((nodes + 1) * sizeof *refining.places);
    refining.class_of = bulk_alloc((nodes + 1) * sizeof *refining.class_of);
    refining.classes = bulk_alloc((nodes + 1) * sizeof *refining.classes);
    refining.is_dirty = bulk_alloc((nodes + 1) * sizeof *refining.is_dirty);
    refining.dirty = bulk_alloc((nodes + 1) * sizeof *refining.dirty);
    refining.recoloured = bulk_alloc((nodes + 1) * sizeof *refining.recoloured);
    refining.before = bulk_alloc((nodes + 1) * sizeof *refining.before);
    return refining;
}

static void refining_destroy(struct refining *refining)
{
    size_t nodes = refining->refine->nodes, edges = refining->refine->edge_count;
    bulk_free(refining->sums, (nodes + 1) * sizeof *refining->sums);
    bulk_free(refining->heads, (nodes + 2) * sizeof *refining->heads);
    bulk_free(refining->sources, (edges + 1) * sizeof *refining->sources);
    bulk_free(refining->labels, (edges + 1) * sizeof *refining->labels);
    bulk_free(refining->members, (nodes + 1) * sizeof *refining->members);
    bulk_free(refining->places, (nodes + 1) * sizeof *refining->places);
    bulk_free(refining->class_of, (nodes + 1) * sizeof *refining->class_of);
    bulk_free(refining->classes, (nodes + 1) * sizeof *refining->classes);
    bulk_free(refining->is_dirty, (nodes + 1) * sizeof *refining->is_dirty);
    bulk_free(refining->dirty, (nodes + 1) * sizeof *refining->dirty);
    bulk_free(refining->recoloured, (nodes + 1) * sizeof *refining->recoloured);
    bulk_free(refining->before, (nodes + 1) * sizeof *refining->before);
}

size_t refine_run(struct refine *refine)
{
    struct refining refining = refining_create(refine);
    sort_edges(&refining);
    begin(&refining);
    while (refining.dirty_count && refining.visited <= EDGES_MOST) {
        divide_all(&refining);
        pass_on(&refining);
    }
    bool stable = refining.dirty_count == 0;
    for (size_t node = 0; node < refine->nodes; node++)
        refine->colours[node] = refining.class_of[node];
    size_t count = refine->nodes ? refining.class_count : 0;
    refining_destroy(&refining);
    return stable ? count : 0;
}

void refine_destroy(struct refine *refine)
{
    bulk_free(refine->colours, refine->nodes_capacity * sizeof *refine->colours);
    bulk_free(refine->edges, refine->edge_capacity * sizeof *refine->edges);
}
