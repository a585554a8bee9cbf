/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/operators/starts.h"

#include "studies/operators/metropolis.h"

/* The choice with most parts among those that divide nothing but one dimension, on neighbouring devices. */
static uint32_t most_divided(const struct operators *o, uint32_t layer, enum split_dimension dimension)
{
    const struct operator_space *space = &o->spaces[layer];
    uint32_t best = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        const struct configuration *c = &space->configurations[i];
        if (c->degrees[dimension] == c->count && c->count > space->configurations[best].count && c->stride == 1 &&
            c->first == 0)
            best = i;
    }
    return best;
}

void start_data(const struct operators *o, uint32_t *choices)
{
    for (uint32_t i = 0; i < o->graph->count; i++)
        choices[i] = most_divided(o, i, SPLIT_SAMPLE);
}

static bool is_recurrent(const struct operators *o)
{
    for (uint32_t i = 0; i < o->graph->count; i++)
        if (o->graph->operators[i].layer->type == LAYER_RECURRENT)
            return true;
    return false;
}

/* Nodes share the samples; the layer is on the device of that number in each of them. */
static uint32_t by_layer(const struct operators *o, uint32_t layer, uint32_t node, uint32_t number)
{
    struct configuration wanted = {.degrees = {1, 1, 1, 1, 1}, .count = o->devices / node, .first = number};
    wanted.degrees[SPLIT_SAMPLE] = wanted.count;
    wanted.stride = node;
    uint32_t found = operator_find(o, layer, &wanted);
    return found == STAGESIM_NONE ? most_divided(o, layer, SPLIT_SAMPLE) : found;
}

void start_expert(const struct operators *o, uint32_t node, uint32_t *choices)
{
    bool recurrent = is_recurrent(o);
    uint32_t owners = 0;
    for (uint32_t i = 0; i < o->graph->count; i++) {
        const struct layer_operator *op = &o->graph->operators[i];
        if (op->weights != i)
            choices[i] = choices[op->weights];
        else if (recurrent && node > 0 && o->devices % node == 0)
            choices[i] = by_layer(o, i, node, owners++ % node);
        else
            choices[i] = most_divided(o, i, op->layer->type == LAYER_DENSE ? SPLIT_OUT : SPLIT_SAMPLE);
    }
}

void start_divided(const struct operators *o, const uint32_t (*degrees)[2], uint32_t *choices)
{
    for (uint32_t i = 0; i < o->graph->count; i++) {
        uint32_t unit = operator_unit(o, i);
        struct configuration wanted = {.degrees = {1, 1, 1, 1, 1}, .stride = 1};
        wanted.degrees[SPLIT_SAMPLE] = degrees[unit][0];
        wanted.degrees[SPLIT_OUT] = degrees[unit][1];
        wanted.count = degrees[unit][0] * degrees[unit][1];
        uint32_t found = operator_find(o, i, &wanted);
        choices[i] = found == STAGESIM_NONE ? most_divided(o, i, SPLIT_SAMPLE) : found;
    }
}

void start_random(const struct operators *o, struct draws *random, uint32_t *choices)
{
    for (uint32_t i = 0; i < o->graph->count; i++) {
        uint32_t unit = operator_unit(o, i);
        choices[i] = unit < i ? choices[unit] : (uint32_t)draw_below(random, o->spaces[i].count);
    }
}
