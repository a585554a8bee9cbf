/* SPDX-License-Identifier: Apache-2.0 */
/* Which operators of a network are alike: cells of a recurrent layer, blocks that repeat. */
#include "base/arena.h"
#include "studies/operators/operators.h"

#include <string.h>

static bool same_window(const struct box_window *a, const struct box_window *b)
{
    return a->kernel == b->kernel && a->stride == b->stride && a->padding == b->padding && a->whole == b->whole;
}

static bool same_shape(const struct layer_shape *a, const struct layer_shape *b)
{
    return a->channels == b->channels && a->height == b->height && a->width == b->width;
}

static bool same_amount(const struct stagesim_amount *a, const struct stagesim_amount *b)
{
    return a->given == b->given && a->elements == b->elements && a->bytes == b->bytes;
}

/* The same times, parameters and memory, however they are divided. */
static bool same_work(const struct layer_operator *a, const struct layer_operator *b)
{
    const struct layer *one = a->layer, *other = b->layer;
    return one->type == other->type && one->flops == other->flops && one->steps == other->steps &&
           same_amount(&one->parameters, &other->parameters) && same_amount(&one->inputs, &other->inputs) &&
           same_amount(&one->outputs, &other->outputs) && same_amount(&one->activations, &other->activations) &&
           same_shape(&a->output, &b->output) && same_shape(&a->input, &b->input) &&
           same_window(&a->height, &b->height) && same_window(&a->width, &b->width) && a->mixes == b->mixes;
}

static bool same_space(const struct operator_space *a, const struct operator_space *b)
{
    return a->count == b->count && !memcmp(a->configurations, b->configurations, a->count * sizeof *a->configurations);
}

static bool same_edge(const struct layer_edge *a, const struct layer_edge *b)
{
    return a->channel == b->channel && a->added == b->added;
}

static bool same_reads(const struct layer_operator *a, const struct layer_operator *b)
{
    bool same = a->edge_count == b->edge_count;
    for (uint32_t k = 0; same && k < a->edge_count; k++)
        same = same_edge(&a->edges[k], &b->edges[k]);
    return same;
}

static uint32_t class_of(const struct operators *o, uint32_t layer)
{
    const struct layer_operator *operators = o->graph->operators;
    uint32_t first = 0;
    while (first < layer &&
           (o->classes[first] != first || !same_work(&operators[first], &operators[layer]) ||
            !same_reads(&operators[first], &operators[layer]) || !same_space(&o->spaces[first], &o->spaces[layer])))
        first++;
    return first;
}

/* The newest edge before `edge` that carries the same. */
static uint32_t edge_before(const struct operators *o, uint32_t edge)
{
    const struct operator_edge *own = &o->edges[edge];
    for (uint32_t e = edge; e-- > 0;)
        if (o->classes[o->edges[e].source] == o->classes[own->source] &&
            o->classes[o->edges[e].reader] == o->classes[own->reader] && same_edge(o->edges[e].edge, own->edge))
            return e;
    return STAGESIM_NONE;
}

void operators_classify(struct operators *o)
{
    o->classes = array_zeroed(o->graph->count, sizeof *o->classes);
    o->alike = array_zeroed(o->edge_count, sizeof *o->alike);
    for (uint32_t i = 0; i < o->graph->count; i++)
        o->classes[i] = class_of(o, i);
    for (uint32_t e = 0; e < o->edge_count; e++)
        o->alike[e] = edge_before(o, e);
}
