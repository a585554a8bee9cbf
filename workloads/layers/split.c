/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/split.h"

#include <math.h>
#include <string.h>

const char *const split_names[SPLIT_DIMENSIONS + 1] = {"sample", "height", "width", "in", "out", NULL};

static struct range all_of(uint64_t count)
{
    return (struct range){0, (double)count};
}

/* The range that `in` divides: input channels. Of a table, and of inputs whose shape is not known, it is all that is
 * read, cut into parts of any size. */
static struct range input_channels(const struct layer_operator *op, bool *whole)
{
    bool counted = op->input.channels > 0 && op->layer->type != LAYER_EMBEDDING;
    *whole = counted;
    return counted ? all_of(op->input.channels) : (struct range){0, 1};
}

/* The part's share of a dimension, as a range of indices. */
static struct range cut(const struct layer_split *split, enum split_dimension dimension, struct range range,
                        const struct layer_part *part, bool whole)
{
    return range_part(range, part->coordinates[dimension], split->degrees[dimension], split->shares[dimension], whole);
}

static void set_coordinates(const struct layer_split *split, uint32_t k, uint32_t *coordinates)
{
    for (int dimension = SPLIT_DIMENSIONS; dimension-- > 0;) {
        coordinates[dimension] = k % split->degrees[dimension];
        k /= split->degrees[dimension];
    }
}

uint32_t split_index(const struct layer_split *split, const uint32_t *coordinates)
{
    uint32_t k = 0;
    for (int dimension = 0; dimension < SPLIT_DIMENSIONS; dimension++)
        k = k * split->degrees[dimension] + coordinates[dimension];
    return k;
}

static bool is_whole(struct range range)
{
    return range.from == floor(range.from) && range.to == floor(range.to);
}

struct layer_part split_part(const struct layers_graph *graph, uint32_t layer, const struct layer_split *split,
                             double samples, uint32_t k)
{
    const struct layer_operator *op = &graph->operators[layer];
    struct layer_part part = {.computed = 1};
    bool whole_in;
    struct range in = input_channels(op, &whole_in), channels = all_of(op->output.channels);
    set_coordinates(split, k, part.coordinates);
    struct range *ranges = part.output.ranges;
    ranges[BOX_SAMPLE] = cut(split, SPLIT_SAMPLE, (struct range){0, samples}, &part, false);
    ranges[BOX_HEIGHT] = cut(split, SPLIT_HEIGHT, all_of(op->output.height), &part, true);
    ranges[BOX_WIDTH] = cut(split, SPLIT_WIDTH, all_of(op->output.width), &part, true);
    ranges[BOX_CHANNEL] = cut(split, SPLIT_OUT, channels, &part, !split->shares[SPLIT_OUT]);
    part.in = cut(split, SPLIT_IN, in, &part, whole_in && !split->shares[SPLIT_IN]);
    part.weights =
        range_length(part.in) / range_length(in) * range_length(ranges[BOX_CHANNEL]) / range_length(channels);
    part.computed = part.weights * (range_length(ranges[BOX_SAMPLE]) / samples) *
                    (range_length(ranges[BOX_HEIGHT]) / (double)op->output.height) *
                    (range_length(ranges[BOX_WIDTH]) / (double)op->output.width);
    part.owned = part.output;
    part.owned.ranges[BOX_CHANNEL] = range_part(ranges[BOX_CHANNEL], part.coordinates[SPLIT_IN],
                                                split->degrees[SPLIT_IN], NULL, is_whole(ranges[BOX_CHANNEL]));
    return part;
}

struct box split_input(const struct layers_graph *graph, uint32_t layer, const struct layer_edge *edge,
                       const struct layer_part *part)
{
    const struct layer_operator *op = &graph->operators[layer];
    if (edge->added)
        return part->owned;
    const struct layer_shape *source = &graph->operators[edge->source].output;
    struct range channels = op->mixes ? part->in : part->output.ranges[BOX_CHANNEL];
    if (op->layer->type == LAYER_EMBEDDING)
        channels = all_of(op->input.channels);
    struct range before = {channels.from - (double)edge->channel, channels.to - (double)edge->channel};
    return (struct box){{
        [BOX_SAMPLE] = part->output.ranges[BOX_SAMPLE],
        [BOX_HEIGHT] = window_inputs(&op->height, part->output.ranges[BOX_HEIGHT], source->height),
        [BOX_WIDTH] = window_inputs(&op->width, part->output.ranges[BOX_WIDTH], source->width),
        [BOX_CHANNEL] = range_intersect(before, all_of(source->channels)),
    }};
}

struct box split_held(const struct layers_graph *graph, uint32_t layer, const struct layer_part *part)
{
    const struct layer_operator *op = &graph->operators[layer];
    struct box held = part->owned;
    if (op->layer->type == LAYER_RECURRENT)
        held.ranges[BOX_CHANNEL] = all_of(op->output.channels);
    return held;
}

/* Numbers of the network's input, to which there is no edge, that a part reads; where the input's shape is not known,
 * parts read as much of it as they compute. */
static double network_reads(const struct layer_operator *op, const struct layer_part *part)
{
    struct range ranges[BOX_DIMENSIONS];
    memcpy(ranges, part->output.ranges, sizeof ranges);
    if (op->input.channels > 0) {
        ranges[BOX_HEIGHT] = window_inputs(&op->height, ranges[BOX_HEIGHT], op->input.height);
        ranges[BOX_WIDTH] = window_inputs(&op->width, ranges[BOX_WIDTH], op->input.width);
    }
    if (op->mixes)
        ranges[BOX_CHANNEL] = op->layer->type == LAYER_EMBEDDING ? (struct range){0, 1} : part->in;
    return range_length(ranges[BOX_SAMPLE]) * range_length(ranges[BOX_HEIGHT]) * range_length(ranges[BOX_WIDTH]) *
           range_length(ranges[BOX_CHANNEL]);
}

static double count_reads(const struct layers_graph *graph, uint32_t layer, const struct layer_part *part)
{
    const struct layer_operator *op = &graph->operators[layer];
    double read = 0;
    if (!op->edge_count)
        return network_reads(op, part);
    for (uint32_t i = 0; i < op->edge_count; i++) {
        struct box box = split_input(graph, layer, &op->edges[i], part);
        read += box_volume(&box);
    }
    return read;
}

double split_read_share(const struct layers_graph *graph, uint32_t layer, const struct layer_part *part, double samples)
{
    const struct layer_split none = {.degrees = {1, 1, 1, 1, 1}, .count = 1};
    struct layer_part whole = split_part(graph, layer, &none, samples, 0);
    double all = count_reads(graph, layer, &whole);
    return all > 0 ? count_reads(graph, layer, part) / all : 0;
}

double split_most(const struct layers_graph *graph, uint32_t layer, enum split_dimension dimension, double samples)
{
    const struct layer_operator *op = &graph->operators[layer];
    unsigned type = op->layer->type;
    bool whole;
    switch (dimension) {
    case SPLIT_SAMPLE:
        return samples;
    case SPLIT_HEIGHT: /* a recurrent layer's steps follow each other */
        return type == LAYER_RECURRENT ? 1 : (double)op->output.height;
    case SPLIT_WIDTH:
        return (double)op->output.width;
    case SPLIT_IN: /* only sums can be cut into summands */
        if (type != LAYER_CONVOLUTION && type != LAYER_DENSE && type != LAYER_EMBEDDING)
            return 1;
        input_channels(op, &whole);
        return whole ? (double)op->input.channels : INFINITY;
    default:
        return (double)op->output.channels;
    }
}
