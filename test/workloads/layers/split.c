/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of layers against indices that are listed one by one: what each part computes, owns and reads, and what one
 * rank gets of another. */
#include "workloads/layers/split.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 2, PARTS_MAX = 16 };
static const uint32_t devices[PARTS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void refuse(void *user, uint32_t layer, const char *text)
{
    (void)user;
    cr_assert_fail("layer %u: %s", layer, text);
}

/* Two layers: `a`, whose shape is that of the network's input, and `b`, which reads it. */
static struct layers_graph *make_pair(struct layer *layers, const struct layer_shape *shape, const double *window,
                                      uint64_t channels, unsigned type)
{
    const struct row_reporter reporter = {refuse, NULL};
    double kernel = window[0], stride = window[1], padding = window[2];
    uint64_t height = (uint64_t)((double)shape->height + 2 * padding - kernel) / (uint64_t)stride + 1,
             width = (uint64_t)((double)shape->width + 2 * padding - kernel) / (uint64_t)stride + 1;
    layers[0] = (struct layer){.name = "a",
                               .channels = shape->channels,
                               .height = shape->height,
                               .width = shape->width,
                               .steps = 1,
                               .outputs = {(double)(shape->channels * shape->height * shape->width), 0, true}};
    layers[1] = (struct layer){.name = "b",
                               .type = type,
                               .channels = channels,
                               .height = height,
                               .width = width,
                               .steps = 1,
                               .kernel = {1, &window[0]},
                               .stride = {1, &window[1]},
                               .padding = {1, &window[2]},
                               .outputs = {(double)(channels * height * width), 0, true}};
    return graph_create(layers, 2, &(struct layer_shape){0}, &reporter);
}

static struct layer_split make_split(const uint32_t *degrees)
{
    struct layer_split split = {.count = 1, .devices = devices};
    memcpy(split.degrees, degrees, sizeof split.degrees);
    for (int i = 0; i < SPLIT_DIMENSIONS; i++)
        split.count *= degrees[i];
    return split;
}

/* Which of `parts` equal parts of n indices holds the index. */
static uint32_t holder(uint32_t index, uint32_t n, uint32_t parts)
{
    for (uint32_t k = 0; k < parts; k++)
        if (index < (k + 1) * n / parts)
            return k;
    return parts;
}

/* An index of a layer's output, and the parts of a split. */
struct place4 {
    uint32_t sample, row, column, channel;
};

/* The part that owns an output: among parts that differ in input channels alone, the channels are divided. */
static uint32_t find_owner(const struct layers_graph *graph, uint32_t layer, const struct layer_split *split,
                           struct place4 at)
{
    const struct layer_shape *shape = &graph->operators[layer].output;
    const uint32_t *degrees = split->degrees;
    uint32_t channels = (uint32_t)shape->channels, out = holder(at.channel, channels, degrees[SPLIT_OUT]);
    uint32_t first = out * channels / degrees[SPLIT_OUT], end = (out + 1) * channels / degrees[SPLIT_OUT];
    uint32_t in = holder(at.channel - first, end - first, degrees[SPLIT_IN]);
    return (((holder(at.sample, SAMPLES, degrees[SPLIT_SAMPLE]) * degrees[SPLIT_HEIGHT] +
              holder(at.row, (uint32_t)shape->height, degrees[SPLIT_HEIGHT])) *
                 degrees[SPLIT_WIDTH] +
             holder(at.column, (uint32_t)shape->width, degrees[SPLIT_WIDTH])) *
                degrees[SPLIT_IN] +
            in) *
               degrees[SPLIT_OUT] +
           out;
}

/* First and last index that outputs of a part read along one side, listed one by one; false: none. */
static bool list_side(const double *window, int part, int parts, int outputs, int size, int *first, int *last)
{
    *first = size, *last = -1;
    for (int output = 0; output < outputs; output++)
        for (int k = 0; k < (int)window[0]; k++) {
            int input = output * (int)window[1] - (int)window[2] + k;
            if ((int)holder((uint32_t)output, (uint32_t)outputs, (uint32_t)parts) != part || input < 0 || input >= size)
                continue;
            *first = input < *first ? input : *first;
            *last = input > *last ? input : *last;
        }
    return *last >= *first;
}

/* Counts, index by index, what part k of layer 1 reads of what each part of layer 0 owns. */
static void count_reads(const struct layers_graph *graph, const struct layer_split *splits, const double *window,
                        const struct layer_part *part, unsigned *counts)
{
    const struct layer_operator *reader = &graph->operators[1];
    const struct layer_shape *shape = &graph->operators[0].output;
    const uint32_t *at = part->coordinates, *degrees = splits[1].degrees;
    int rows[2], columns[2];
    memset(counts, 0, PARTS_MAX * sizeof *counts);
    if (!list_side(window, (int)at[SPLIT_HEIGHT], (int)degrees[SPLIT_HEIGHT], (int)reader->output.height,
                   (int)shape->height, &rows[0], &rows[1]) ||
        !list_side(window, (int)at[SPLIT_WIDTH], (int)degrees[SPLIT_WIDTH], (int)reader->output.width,
                   (int)shape->width, &columns[0], &columns[1]))
        return;
    for (uint32_t sample = 0; sample < SAMPLES; sample++)
        for (int row = rows[0]; row <= rows[1]; row++)
            for (int column = columns[0]; column <= columns[1]; column++)
                for (uint32_t channel = 0; channel < shape->channels; channel++) {
                    uint32_t channels = (uint32_t)shape->channels;
                    bool mine = reader->mixes ? holder(channel, channels, degrees[SPLIT_IN]) == at[SPLIT_IN]
                                              : holder(channel, channels, degrees[SPLIT_OUT]) == at[SPLIT_OUT];
                    if (mine && holder(sample, SAMPLES, degrees[SPLIT_SAMPLE]) == at[SPLIT_SAMPLE])
                        counts[find_owner(graph, 0, &splits[0],
                                          (struct place4){sample, (uint32_t)row, (uint32_t)column, channel})]++;
                }
}

static unsigned compared;

static void check_pair(const struct layers_graph *graph, const struct layer_split *splits, const double *window)
{
    for (uint32_t k = 0; k < splits[1].count; k++) {
        struct layer_part part = split_part(graph, 1, &splits[1], SAMPLES, k);
        struct box input = split_input(graph, 1, &graph->operators[1].edges[0], &part);
        unsigned counts[PARTS_MAX];
        cr_assert_eq(split_index(&splits[1], part.coordinates), k);
        count_reads(graph, splits, window, &part, counts);
        for (uint32_t from = 0; from < splits[0].count; from++) {
            struct layer_part source = split_part(graph, 0, &splits[0], SAMPLES, from);
            cr_assert(box_common(&input, &source.owned) == counts[from],
                      "window %g/%g/%g part %u of %u from %u: %g, not %u", window[0], window[1], window[2], k,
                      splits[1].count, from, box_common(&input, &source.owned), counts[from]);
            compared++;
        }
    }
}

static bool fits(const struct layers_graph *graph, uint32_t layer, const struct layer_split *split)
{
    for (enum split_dimension d = 0; d < SPLIT_DIMENSIONS; d++)
        if (split->degrees[d] > split_most(graph, layer, d, SAMPLES))
            return false;
    return split->count <= PARTS_MAX;
}

static void check_window(const struct layer_shape *shape, const double *window,
                         const uint32_t (*degrees)[SPLIT_DIMENSIONS], size_t count, unsigned type)
{
    struct layer layers[2];
    if ((double)shape->height + 2 * window[2] < window[0] || (double)shape->width + 2 * window[2] < window[0])
        return;
    struct layers_graph *graph =
        make_pair(layers, shape, window, type == LAYER_CONVOLUTION ? 6 : shape->channels, type);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) {
            struct layer_split splits[] = {make_split(degrees[i]), make_split(degrees[k])};
            if (fits(graph, 0, &splits[0]) && fits(graph, 1, &splits[1]))
                check_pair(graph, splits, window);
        }
    graph_destroy(graph);
}

/* Height and width with every kernel, stride and padding, in up to four parts on each side. */
Test(split, halos)
{
    static const uint32_t degrees[][SPLIT_DIMENSIONS] = {{1, 1, 1, 1, 1}, {1, 2, 1, 1, 1}, {1, 3, 1, 1, 1},
                                                         {1, 4, 1, 1, 1}, {1, 1, 3, 1, 1}, {1, 2, 2, 1, 1},
                                                         {2, 2, 1, 1, 1}, {1, 4, 3, 1, 1}};
    for (uint64_t size = 4; size <= 11; size += size == 4 ? 4 : 3)
        for (double kernel = 1; kernel <= 7; kernel++)
            for (double stride = 1; stride <= 3; stride++)
                for (double padding = 0; padding < kernel && padding < 4; padding++)
                    check_window(&(struct layer_shape){1, size, size - 1}, (double[]){kernel, stride, padding}, degrees,
                                 sizeof degrees / sizeof *degrees, LAYER_CONVOLUTION);
    cr_assert_gt(compared, 10000);
}

/* All dimensions among each other, of a convolution and of a pooling. */
Test(split, repartition)
{
    static const uint32_t degrees[][SPLIT_DIMENSIONS] = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}, {1, 2, 1, 1, 1},
                                                         {1, 1, 1, 1, 3}, {1, 1, 1, 2, 1}, {1, 1, 1, 3, 2},
                                                         {2, 1, 1, 1, 4}, {2, 2, 2, 1, 2}, {1, 2, 1, 2, 2}};
    for (uint64_t channels = 4; channels <= 6; channels++)
        for (unsigned type = LAYER_CONVOLUTION; type <= LAYER_POOLING; type += LAYER_POOLING - LAYER_CONVOLUTION)
            for (double stride = 1; stride <= 2; stride++)
                check_window(&(struct layer_shape){channels, 5, 4}, (double[]){3, stride, 1}, degrees,
                             sizeof degrees / sizeof *degrees, type);
    cr_assert_gt(compared, 1000);
}

/* 32 images of 3 x 224 x 224 in fp32, 7 x 7, in two parts by height (Dryden et al. 2019: floor(K/2) n C w numbers a
 * side): 3 x 32 x 3 x 224 x 4 B = 258,048 B. With stride 2 K - s = 5 rows are exchanged in all, 3 and 2. */
Test(split, published_halo)
{
    struct layer layers[2];
    const struct layer_split split = make_split((uint32_t[]){1, 2, 1, 1, 1});
    const double rows[][2] = {{3, 3}, {3, 2}};
    for (int stride = 1; stride <= 2; stride++) {
        struct layers_graph *graph =
            make_pair(layers, &(struct layer_shape){3, 224, 224}, (double[]){7, stride, 3}, 64, LAYER_CONVOLUTION);
        for (uint32_t k = 0; k < 2; k++) {
            struct layer_part part = split_part(graph, 1, &split, 32, k), other = split_part(graph, 0, &split, 32, !k);
            struct box input = split_input(graph, 1, &graph->operators[1].edges[0], &part);
            double bytes = 4 * box_common(&input, &other.owned);
            cr_assert(bytes == 258048 / 3 * rows[stride - 1][k ? 0 : 1], "%g", bytes);
        }
        graph_destroy(graph);
    }
}

/* Shares of work and weights add up to one, boxes of owners to the output, with whatever shares. */
Test(split, sums)
{
    static const double two[] = {0.7, 0.3}, three[] = {5, 1, 2};
    struct layer layers[2];
    struct layers_graph *graph =
        make_pair(layers, &(struct layer_shape){5, 9, 7}, (double[]){3, 1, 1}, 7, LAYER_CONVOLUTION);
    for (int given = 0; given < 2; given++) {
        struct layer_split split = make_split((uint32_t[]){2, 3, 1, 2, 1});
        if (given)
            split.shares[SPLIT_SAMPLE] = two, split.shares[SPLIT_HEIGHT] = three, split.shares[SPLIT_IN] = two;
        double computed = 0, owned = 0, weights = 0;
        for (uint32_t k = 0; k < split.count; k++) {
            struct layer_part part = split_part(graph, 1, &split, SAMPLES, k);
            computed += part.computed;
            owned += box_volume(&part.owned);
            weights += part.weights;
        }
        cr_assert_float_eq(computed, 1, 1e-12);
        cr_assert_float_eq(owned, SAMPLES * graph_outputs(&graph->operators[1]), 1e-9);
        cr_assert_float_eq(weights, 2 * 3, 1e-12); /* a copy for each part of the samples and of the height */
    }
    graph_destroy(graph);
}

/* Shares of samples and channels are not rounded; those of rows are. */
Test(split, shares)
{
    static const double shares[] = {0.7, 0.3};
    struct layer layers[2];
    struct layers_graph *graph =
        make_pair(layers, &(struct layer_shape){5, 9, 7}, (double[]){3, 1, 1}, 7, LAYER_CONVOLUTION);
    static const double ends[] = {SAMPLES * 0.7, 6, 5, 5 * 0.7, 7 * 0.7};
    for (int d = 0; d < SPLIT_DIMENSIONS; d++) {
        uint32_t degrees[SPLIT_DIMENSIONS] = {1, 1, 1, 1, 1};
        degrees[d] = 2;
        struct layer_split split = make_split(degrees);
        split.shares[d] = shares;
        struct layer_part part = split_part(graph, 1, &split, SAMPLES, 0);
        const struct range *ranges = part.output.ranges;
        const double found[] = {ranges[BOX_SAMPLE].to, ranges[BOX_HEIGHT].to, ranges[BOX_WIDTH].to, part.in.to,
                                ranges[BOX_CHANNEL].to};
        cr_assert_float_eq(found[d], ends[d], 1e-12, "%s: %g", split_names[d], found[d]);
    }
    graph_destroy(graph);
}

/* Steps of a recurrent layer follow each other; a pooling sums nothing over channels; rows of a table can be divided,
 * and every part of it reads all words. */
Test(split, limits)
{
    struct layer layers[2];
    const double window[] = {1, 1, 0};
    struct layers_graph *graph = make_pair(layers, &(struct layer_shape){4, 6, 1}, window, 4, LAYER_RECURRENT);
    cr_assert(split_most(graph, 1, SPLIT_HEIGHT, SAMPLES) == 1 && split_most(graph, 1, SPLIT_IN, SAMPLES) == 1);
    cr_assert(split_most(graph, 1, SPLIT_OUT, SAMPLES) == 4 && split_most(graph, 1, SPLIT_SAMPLE, SAMPLES) == SAMPLES);
    graph_destroy(graph);
    graph = make_pair(layers, &(struct layer_shape){4, 6, 1}, window, 4, LAYER_POOLING);
    cr_assert(split_most(graph, 1, SPLIT_HEIGHT, SAMPLES) == 6 && split_most(graph, 1, SPLIT_IN, SAMPLES) == 1);
    graph_destroy(graph);
    graph = make_pair(layers, &(struct layer_shape){1, 6, 1}, window, 4, LAYER_EMBEDDING);
    struct layer_split split = make_split((uint32_t[]){1, 1, 1, 3, 1});
    struct layer_part part = split_part(graph, 1, &split, SAMPLES, 1);
    struct box input = split_input(graph, 1, &graph->operators[1].edges[0], &part);
    cr_assert(isinf(split_most(graph, 1, SPLIT_IN, SAMPLES)) && box_volume(&input) == SAMPLES * 6);
    cr_assert_float_eq(part.weights, 1.0 / 3, 1e-12);
    graph_destroy(graph);
}
