/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/transfers.h"

#include "base/arena.h"

#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;

struct layer_part **parts_create(const struct layers_graph *graph, const struct layers_strategy *strategy,
                                 double samples)
{
    struct layer_part **parts = array_zeroed(graph->count, sizeof *parts);
    for (uint32_t layer = 0; layer < graph->count; layer++) {
        const struct layer_split *split = &strategy->splits[layer];
        parts[layer] = array_zeroed(split->count, sizeof **parts);
        for (uint32_t k = 0; k < split->count; k++)
            parts[layer][k] = split_part(graph, layer, split, samples, k);
    }
    return parts;
}

void parts_destroy(const struct layers_graph *graph, struct layer_part **parts)
{
    for (uint32_t layer = 0; parts && layer < graph->count; layer++)
        free(parts[layer]);
    free(parts);
}

/* An edge while its transfers are found. */
struct crossing {
    struct layers_transfers *list;
    const struct layers_graph *graph;
    const struct layer_split *from, *to;
    const struct layer_part *sources;
    uint32_t source, layer;
    double element_bytes;
};

static void add(const struct crossing *x, uint32_t from, uint32_t to, double bytes)
{
    struct layers_transfers *list = x->list;
    list->items = array_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = (struct layers_transfer){x->source, x->layer, from, to, bytes};
}

/* Coordinates from <= c < to along a dimension. */
struct coordinates {
    uint32_t from, to;
};

/* The first coordinate whose part of the source ends (`ends`), or else begins, behind the index. Parts lie one behind
 * the other. */
static uint32_t find_coordinate(const struct crossing *x, enum split_dimension dimension, enum box_dimension side,
                                double index, bool ends)
{
    uint32_t low = 0, high = x->from->degrees[dimension], at[SPLIT_DIMENSIONS] = {0};
    while (low < high) {
        at[dimension] = low + (high - low) / 2;
        struct range range = x->sources[split_index(x->from, at)].output.ranges[side];
        if (ends ? range.to > index : range.from >= index)
            high = at[dimension];
        else
            low = at[dimension] + 1;
    }
    return low;
}

/* Parts of the source with a part of the range. */
static struct coordinates find_coordinates(const struct crossing *x, enum split_dimension dimension,
                                           enum box_dimension side, const struct box *needed)
{
    struct range range = needed->ranges[side];
    return (struct coordinates){find_coordinate(x, dimension, side, range.from, true),
                                find_coordinate(x, dimension, side, range.to, false)};
}

/* What a part gets of one part of the source, on another rank. */
static void add_pair(const struct crossing *x, uint32_t from, uint32_t to, const struct box *needed,
                     const struct box *held)
{
    static const double half = 0.5;
    struct box common = box_intersect(needed, &x->sources[from].owned);
    double bytes = (box_volume(&common) - box_common(&common, held)) * x->element_bytes;
    if (bytes >= half)
        add(x, from, to, bytes);
}

/* What a part needs along the edge. `own`: the source's part on the same rank, or NONE. */
static void add_part(const struct crossing *x, uint32_t to, const struct box *needed, uint32_t own)
{
    struct box held = {0};
    if (own != NONE)
        held = split_held(x->graph, x->source, &x->sources[own]);
    if (own != NONE && box_common(needed, &held) > 0)
        add(x, own, to, 0);
    const struct coordinates samples = find_coordinates(x, SPLIT_SAMPLE, BOX_SAMPLE, needed),
                             rows = find_coordinates(x, SPLIT_HEIGHT, BOX_HEIGHT, needed),
                             columns = find_coordinates(x, SPLIT_WIDTH, BOX_WIDTH, needed),
                             channels = find_coordinates(x, SPLIT_OUT, BOX_CHANNEL, needed);
    uint32_t at[SPLIT_DIMENSIONS];
    for (at[SPLIT_SAMPLE] = samples.from; at[SPLIT_SAMPLE] < samples.to; at[SPLIT_SAMPLE]++)
        for (at[SPLIT_HEIGHT] = rows.from; at[SPLIT_HEIGHT] < rows.to; at[SPLIT_HEIGHT]++)
            for (at[SPLIT_WIDTH] = columns.from; at[SPLIT_WIDTH] < columns.to; at[SPLIT_WIDTH]++)
                for (at[SPLIT_IN] = 0; at[SPLIT_IN] < x->from->degrees[SPLIT_IN]; at[SPLIT_IN]++)
                    for (at[SPLIT_OUT] = channels.from; at[SPLIT_OUT] < channels.to; at[SPLIT_OUT]++) {
                        uint32_t from = split_index(x->from, at);
                        if (from != own)
                            add_pair(x, from, to, needed, &held);
                    }
}

void transfers_add(struct layers_transfers *list, const struct layers_graph *graph,
                   const struct layers_strategy *strategy, struct layer_part *const *parts, const double *element_bytes,
                   uint32_t layer)
{
    const struct layer_operator *op = &graph->operators[layer];
    uint32_t *part_of = array_zeroed(strategy->ranks, sizeof *part_of);
    for (uint32_t i = 0; i < op->edge_count; i++) {
        const struct layer_edge *edge = &op->edges[i];
        struct crossing x = {.list = list,
                             .graph = graph,
                             .from = &strategy->splits[edge->source],
                             .to = &strategy->splits[layer],
                             .sources = parts[edge->source],
                             .source = edge->source,
                             .layer = layer,
                             .element_bytes = element_bytes[edge->source]};
        for (uint32_t rank = 0; rank < strategy->ranks; rank++)
            part_of[rank] = NONE;
        for (uint32_t k = 0; k < x.from->count; k++)
            part_of[x.from->devices[k]] = k;
        for (uint32_t k = 0; k < x.to->count && list->count < list->most; k++) {
            struct box needed = split_input(graph, layer, edge, &parts[layer][k]);
            add_part(&x, k, &needed, part_of[x.to->devices[k]]);
        }
    }
    free(part_of);
}
