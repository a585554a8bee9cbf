/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/graph.h"

#include "base/arena.h"
#include "base/diagnostics.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = STAGESIM_NONE;

struct named {
    const char *name;
    uint32_t layer;
};

struct builder {
    struct layers_graph *graph;
    const struct row_reporter *reporter;
    struct layer_shape input;
    struct named *names; /* by name, then by number */
    size_t edge_capacity;
    uint32_t mistakes;
};

#define report(b, row, ...) row_mistake((b)->reporter, &(b)->mistakes, row, __VA_ARGS__)

/* ---- names ---- */

static int by_name(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->layer > b->layer) - (a->layer < b->layer);
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct named *)entry)->name);
}

static void sort_names(struct builder *b, const struct layer *layers)
{
    b->names = array_zeroed(b->graph->count, sizeof *b->names);
    for (uint32_t i = 0; i < b->graph->count; i++)
        b->names[i] = (struct named){layers[i].name, i};
    qsort(b->names, b->graph->count, sizeof *b->names, by_name);
}

static void report_unknown(struct builder *b, uint32_t layer, const char *key, const char *name)
{
    char near[96];
    report(b, layer, "%s: no layer above is called '%.60s'%s", key, name,
           row_nearest(b->graph->operators, layer, name, near, sizeof near));
}

/* The layer above that has this name; NONE after a mistake was reported. */
static uint32_t find_layer(struct builder *b, uint32_t layer, const char *key, const char *name)
{
    const struct named *last = b->names + b->graph->count - 1;
    const struct named *found = bsearch(name, b->names, b->graph->count, sizeof *b->names, compare_name);
    if (!found) {
        report_unknown(b, layer, key, name);
        return NONE;
    }
    if ((found > b->names && !strcmp(found[-1].name, name)) || (found < last && !strcmp(found[1].name, name)))
        report(b, layer, "%s: several layers are called '%.60s'; expected names of their own", key, name);
    else if (found->layer >= layer)
        report(b, layer, "%s: '%.60s' is not above; a layer reads what layers above it have written", key, name);
    else
        return found->layer;
    return NONE;
}

/* ---- shapes ---- */

double graph_outputs(const struct layer_operator *layer)
{
    return (double)layer->output.channels * (double)layer->output.height * (double)layer->output.width;
}

/* Outputs that are given in bytes have no shape: one channel stands for all of them. */
static void set_output(struct builder *b, uint32_t index)
{
    struct layer_operator *op = &b->graph->operators[index];
    const struct layer *layer = op->layer;
    double outputs = layer->outputs.elements;
    struct layer_shape *shape = &op->output;
    bool counted = outputs >= 1 && outputs == floor(outputs) && outputs < 0x1p53;
    *shape = (struct layer_shape){layer->channels, layer->height ? layer->height : 1, layer->width ? layer->width : 1};
    double area = (double)shape->height * (double)shape->width;
    if (!shape->channels && !counted && area == 1) {
        shape->channels = 1;
        return;
    }
    if (!shape->channels && counted && fmod(outputs, area) == 0)
        shape->channels = (uint64_t)(outputs / area);
    if (shape->channels && (double)shape->channels * area == outputs)
        return;
    if (!shape->channels)
        report(b, index, "outputs are no multiple of height %" PRIu64 " x width %" PRIu64, shape->height, shape->width);
    else
        report(b, index, "channels %" PRIu64 " x height %" PRIu64 " x width %" PRIu64 " are %.0f outputs, not %.0f",
               shape->channels, shape->height, shape->width, (double)shape->channels * area, outputs);
    shape->channels = shape->channels ? shape->channels : 1;
}

/* The number for the height (side 0) or the width (1). */
static uint64_t pick(const struct stagesim_list *list, unsigned side, uint64_t otherwise)
{
    return list->count ? (uint64_t)list->values[list->count > 1 ? side : 0] : otherwise;
}

static void set_window(struct builder *b, uint32_t index, unsigned side)
{
    static const char *const names[] = {"height", "width"};
    struct layer_operator *op = &b->graph->operators[index];
    const struct layer *layer = op->layer;
    struct box_window *window = side ? &op->width : &op->height;
    uint64_t output = side ? op->output.width : op->output.height, input = side ? op->input.width : op->input.height;
    *window = (struct box_window){.kernel = pick(&layer->kernel, side, 1),
                                  .stride = pick(&layer->stride, side, 1),
                                  .padding = pick(&layer->padding, side, 0)};
    bool given = layer->kernel.count || layer->stride.count || layer->padding.count;
    if (!given || !input) {
        window->whole = input && output != input;
        return;
    }
    uint64_t expected = window_outputs(window, input);
    if (expected == output)
        return;
    report(b, index,
           "%s %" PRIu64 " does not follow from %" PRIu64 " inputs, kernel %" PRIu64 ", stride %" PRIu64
           " and padding %" PRIu64 "; expected %" PRIu64,
           names[side], output, input, window->kernel, window->stride, window->padding, expected);
}

static void set_windows(struct builder *b, uint32_t index)
{
    const struct layer *layer = b->graph->operators[index].layer;
    const struct stagesim_list *lists[] = {&layer->kernel, &layer->stride, &layer->padding};
    static const char *const names[] = {"kernel", "stride", "padding"};
    for (int i = 0; i < 3; i++)
        if (lists[i]->count > 2) {
            report(b, index, "%s has %zu numbers; expected one, or one for the height and one for the width", names[i],
                   lists[i]->count);
            return;
        }
    set_window(b, index, 0);
    set_window(b, index, 1);
}

/* ---- edges ---- */

static void add_edge(struct builder *b, uint32_t index, uint32_t source, bool added)
{
    struct layers_graph *graph = b->graph;
    struct layer_operator *op = &graph->operators[index];
    graph->edges = array_grow(graph->edges, &b->edge_capacity, graph->edge_count + 1, sizeof *graph->edges);
    graph->edges[graph->edge_count++] =
        (struct layer_edge){.source = source, .channel = added ? 0 : op->input.channels, .added = added};
    op->edge_count++;
}

/* An output whose channels follow those that the layer reads already. */
static void add_input(struct builder *b, uint32_t index, uint32_t source)
{
    struct layer_operator *op = &b->graph->operators[index];
    const struct layer_shape *shape = &b->graph->operators[source].output;
    struct layer_shape *input = &op->input;
    add_edge(b, index, source, false);
    if (input->channels && (input->height != shape->height || input->width != shape->width))
        report(b, index,
               "from: '%.60s' is %" PRIu64 " x %" PRIu64 ", the layers before it %" PRIu64 " x %" PRIu64
               "; expected the same height and width",
               b->graph->operators[source].layer->name, shape->height, shape->width, input->height, input->width);
    *input = (struct layer_shape){input->channels + shape->channels, shape->height, shape->width};
}

static void add_inputs(struct builder *b, uint32_t index)
{
    struct layer_operator *op = &b->graph->operators[index];
    const struct stagesim_texts *from = &op->layer->from;
    bool network = from->count ? from->count == 1 && !strcmp(from->texts[0], "input") : index == 0;
    if (network) {
        op->input = b->input;
        return;
    }
    if (!from->count)
        add_input(b, index, index - 1);
    for (size_t i = 0; i < from->count; i++) {
        uint32_t source = find_layer(b, index, "from", from->texts[i]);
        if (source != NONE)
            add_input(b, index, source);
    }
}

static void add_additions(struct builder *b, uint32_t index)
{
    const struct layer_operator *op = &b->graph->operators[index];
    const struct stagesim_texts *added = &op->layer->added;
    for (size_t i = 0; i < added->count; i++) {
        uint32_t source = find_layer(b, index, "added", added->texts[i]);
        if (source == NONE)
            continue;
        const struct layer_shape *shape = &b->graph->operators[source].output, *own = &op->output;
        if (shape->channels != own->channels || shape->height != own->height || shape->width != own->width)
            report(b, index,
                   "added: '%.60s' is %" PRIu64 " x %" PRIu64 " x %" PRIu64 "; expected channels, height and width of "
                   "the layer, %" PRIu64 " x %" PRIu64 " x %" PRIu64,
                   added->texts[i], shape->channels, shape->height, shape->width, own->channels, own->height,
                   own->width);
        add_edge(b, index, source, true);
    }
}

static void set_weights(struct builder *b, uint32_t index)
{
    struct layer_operator *op = &b->graph->operators[index];
    const struct layer *layer = op->layer;
    op->weights = index;
    if (!layer->weights)
        return;
    uint32_t owner = find_layer(b, index, "weights", layer->weights);
    if (owner == NONE)
        return;
    if (layer->parameters.given)
        report(b, index, "a layer has weights of another one, or parameters of its own; expected one of them");
    op->weights = b->graph->operators[owner].weights;
}

/* A layer that has weights, other than factors for each channel, sums over all its inputs. */
static bool mixes(const struct layer_operator *op)
{
    static const bool sums[] = {[LAYER_CONVOLUTION] = true, [LAYER_DENSE] = true,    [LAYER_RECURRENT] = true,
                                [LAYER_EMBEDDING] = true,   [LAYER_POOLING] = false, [LAYER_OTHER] = false};
    return sums[op->layer->type] || op->input.channels != op->output.channels;
}

static void add_operator(struct builder *b, const struct layer *layer, uint32_t index)
{
    struct layer_operator *op = &b->graph->operators[index];
    op->layer = layer;
    set_output(b, index);
    add_inputs(b, index);
    set_windows(b, index);
    add_additions(b, index);
    set_weights(b, index);
    op->mixes = mixes(op);
}

struct layers_graph *graph_create(const struct layer *layers, uint32_t count, const struct layer_shape *input,
                                  const struct row_reporter *reporter)
{
    struct layers_graph *graph = array_zeroed(1, sizeof *graph);
    struct builder builder = {.graph = graph, .reporter = reporter, .input = *input};
    *graph = (struct layers_graph){.count = count, .operators = array_zeroed(count, sizeof *graph->operators)};
    sort_names(&builder, layers);
    for (uint32_t i = 0; i < count && builder.mistakes < ROW_MISTAKES_MAX; i++)
        add_operator(&builder, &layers[i], i);
    const struct layer_edge *edges = graph->edges;
    for (uint32_t i = 0; i < count; i++) {
        graph->operators[i].edges = edges;
        if (graph->operators[i].edge_count) /* without any there is no array to move in */
            edges += graph->operators[i].edge_count;
    }
    free(builder.names);
    if (!builder.mistakes)
        return graph;
    graph_destroy(graph);
    return NULL;
}

void graph_destroy(struct layers_graph *graph)
{
    if (!graph)
        return;
    free(graph->operators);
    free(graph->edges);
    free(graph);
}
