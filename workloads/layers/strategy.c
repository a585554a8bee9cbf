/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/strategy.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/words/pattern.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = STAGESIM_NONE;
enum { ROWS_MAX = 10000 };

#define DEGREE(name, dimension, text)                                                                                  \
    {                                                                                                                  \
        name, STAGESIM_FIELD_COUNT, offsetof(struct split_row, degrees[dimension]), .least = 1, .most = 65536,         \
                                                                                    .doc = text                        \
    }

static const struct stagesim_field columns[] = {
    {"layer", STAGESIM_FIELD_TEXT, offsetof(struct split_row, layer), .required = true,
     .doc = "the layer's name; * stands for any text"},
    DEGREE("sample", SPLIT_SAMPLE,
           "number of parts of the samples; default: devices divided by the parts of the other dimensions"),
    DEGREE("height", SPLIT_HEIGHT, "number of parts of the output's height; default 1"),
    DEGREE("width", SPLIT_WIDTH, "number of parts of the output's width; default 1"),
    DEGREE("in", SPLIT_IN, "number of parts of the input channels, whose results are added; default 1"),
    DEGREE("out", SPLIT_OUT, "number of parts of the output channels; default 1"),
    {"devices", STAGESIM_FIELD_COUNTS, offsetof(struct split_row, devices), .least = 0, .most = 1e9,
     .doc = "ranks that hold a part, samples outermost and output channels innermost; in a pipeline those of a stage, "
            "counted from 0; default: all"},
    {"shares", STAGESIM_FIELD_RATIOS, offsetof(struct split_row, shares), .least = 1e-9, .most = 1e9,
     .doc = "relative sizes of the parts of the divided dimension; if several are divided, those of one dimension "
            "after the other; default: all equal"},
    {0},
};

const struct stagesim_row_type split_row_type = {
    .what = "a split", .fields = columns, .size = sizeof(struct split_row)};

struct builder {
    const struct layers_graph *graph;
    const struct row_reporter *reporter;
    const struct split_row *rows;
    struct layer_split *splits; /* [row]; count 0: a row with mistakes */
    uint32_t row_count, ranks, mistakes;
    double samples;
};

#define report(b, row, ...) row_mistake((b)->reporter, &(b)->mistakes, row, __VA_ARGS__)

/* ---- rows ---- */

/* Degrees, of which that of the samples may follow from the devices. False after a mistake was reported. */
static bool set_degrees(struct builder *b, uint32_t index, uint32_t devices, struct layer_split *split)
{
    const struct split_row *row = &b->rows[index];
    double product = 1;
    for (int d = 0; d < SPLIT_DIMENSIONS; d++) {
        split->degrees[d] = row->degrees[d] ? (uint32_t)row->degrees[d] : 1;
        product *= split->degrees[d];
    }
    if (!row->degrees[SPLIT_SAMPLE] && fmod(devices, product) == 0) {
        split->degrees[SPLIT_SAMPLE] = (uint32_t)(devices / product);
        product = devices;
    }
    split->count = devices;
    if (product == devices)
        return true;
    report(b, index, "%.0f part%s on %u device%s%s; expected as many parts as devices", product,
           product == 1 ? "" : "s", devices, devices == 1 ? "" : "s",
           row->devices.count ? "" : ", all ranks along data and tensor");
    return false;
}

/* Every device once, and in the job. False after a mistake was reported. */
static bool set_devices(struct builder *b, uint32_t index, uint32_t *devices)
{
    const struct stagesim_list *given = &b->rows[index].devices;
    uint32_t mistakes = b->mistakes;
    bool *used = array_zeroed(b->ranks, sizeof *used);
    for (uint32_t i = 0; i < given->count && b->mistakes == mistakes; i++) {
        devices[i] = (uint32_t)given->values[i];
        if (devices[i] >= b->ranks)
            report(b, index, "devices: there is no rank %u, only 0 to %u", devices[i], b->ranks - 1);
        else if (used[devices[i]])
            report(b, index, "devices: rank %u is there twice; expected one part of a layer on each", devices[i]);
        else
            used[devices[i]] = true;
    }
    free(used);
    return b->mistakes == mistakes;
}

static bool set_shares(struct builder *b, uint32_t index, struct layer_split *split)
{
    const struct stagesim_list *given = &b->rows[index].shares;
    size_t expected = 0;
    if (!given->count)
        return true;
    for (int d = 0; d < SPLIT_DIMENSIONS; d++) {
        if (split->degrees[d] == 1)
            continue;
        if (expected < given->count)
            split->shares[d] = given->values + expected;
        expected += split->degrees[d];
    }
    if (given->count == expected)
        return true;
    report(b, index, "%zu shares; expected one for each part of each divided dimension, %zu", given->count, expected);
    return false;
}

static void read_row(struct builder *b, uint32_t index, const uint32_t *all, uint32_t *devices)
{
    struct layer_split split = {.devices = b->rows[index].devices.count ? devices : all};
    size_t count = b->rows[index].devices.count;
    if (count > b->ranks) {
        report(b, index, "devices: %zu of them for a job of %u rank%s", count, b->ranks, b->ranks == 1 ? "" : "s");
        return;
    }
    if (set_devices(b, index, devices) && set_degrees(b, index, count ? (uint32_t)count : b->ranks, &split) &&
        set_shares(b, index, &split))
        b->splits[index] = split;
}

/* ---- layers ---- */

/* Every part has something to do. */
static void check_layer(struct builder *b, uint32_t row, uint32_t layer, const struct layer_split *split)
{
    const char *name = b->graph->operators[layer].layer->name;
    for (enum split_dimension d = 0; d < SPLIT_DIMENSIONS; d++) {
        double most = split_most(b->graph, layer, d, b->samples);
        if (split->degrees[d] > most)
            report(b, row, "%s: %u parts of layer '%.60s'; expected at most %g%s", split_names[d], split->degrees[d],
                   name, most, d == SPLIT_SAMPLE ? ", as there are samples in a micro-batch of all ranks" : "");
    }
    bool uneven = split->shares[SPLIT_HEIGHT] || split->shares[SPLIT_WIDTH];
    for (uint32_t k = 0; uneven && k < split->count; k++) {
        struct layer_part part = split_part(b->graph, layer, split, b->samples, k);
        if (part.computed > 0)
            continue;
        report(b, row, "shares: part %u of layer '%.60s' has no rows or columns", k, name);
        return;
    }
}

/* Layers with the same weights divide them alike. */
static void check_weights(struct builder *b, uint32_t row, uint32_t layer, const struct layer_split *splits)
{
    const struct layer_split *own = &splits[layer], *first = &splits[b->graph->operators[layer].weights];
    bool alike = true;
    for (enum split_dimension d = SPLIT_IN; d <= SPLIT_OUT; d++) {
        alike &= own->degrees[d] == first->degrees[d] && !own->shares[d] == !first->shares[d];
        for (uint32_t i = 0; alike && own->shares[d] && i < own->degrees[d]; i++)
            alike = own->shares[d][i] == first->shares[d][i];
    }
    if (!alike)
        report(b, row, "layer '%.60s' uses the weights of '%.60s'; expected the same in, out and shares of them",
               b->graph->operators[layer].layer->name,
               b->graph->operators[b->graph->operators[layer].weights].layer->name);
}

static void report_unknown(struct builder *b, uint32_t row)
{
    const char *name = b->rows[row].layer;
    char near[96];
    report(b, row, "no layer is called '%.60s'%s", name,
           row_nearest(b->graph->operators, b->graph->count, name, near, sizeof near));
}

static bool is_layer(const struct builder *b, const char *name)
{
    for (uint32_t i = 0; i < b->graph->count; i++)
        if (!strcmp(b->graph->operators[i].layer->name, name))
            return true;
    return false;
}

/* The last row that names each layer, or NONE; rows that name none are reported. */
static uint32_t *find_rows(struct builder *b)
{
    uint32_t *found = array_zeroed(b->graph->count, sizeof *found);
    for (uint32_t i = 0; i < b->graph->count; i++)
        found[i] = NONE;
    for (uint32_t row = 0; row < b->row_count; row++) {
        bool any = false, exact = is_layer(b, b->rows[row].layer);
        for (uint32_t i = 0; i < b->graph->count; i++)
            if (pattern_means(b->rows[row].layer, b->graph->operators[i].layer->name, exact)) {
                found[i] = row;
                any = true;
            }
        if (!any && b->mistakes < ROW_MISTAKES_MAX)
            report_unknown(b, row);
    }
    return found;
}

static void split_layers(struct builder *b, struct layers_strategy *strategy)
{
    const struct layer_split all = {.degrees = {b->ranks, 1, 1, 1, 1}, .count = b->ranks, .devices = strategy->devices};
    uint32_t *rows = find_rows(b);
    for (uint32_t i = 0; i < b->graph->count && b->mistakes < ROW_MISTAKES_MAX; i++) {
        strategy->splits[i] = rows[i] == NONE ? all : b->splits[rows[i]];
        if (!strategy->splits[i].count) /* of a row with mistakes */
            strategy->splits[i] = all;
        else
            check_layer(b, rows[i], i, &strategy->splits[i]);
        check_weights(b, rows[i], i, strategy->splits);
    }
    free(rows);
}

struct layers_strategy *strategy_create(const struct layers_graph *graph, const struct stagesim_rows *rows,
                                        uint32_t ranks, double samples, const struct row_reporter *reporter)
{
    struct builder b = {.graph = graph, .reporter = reporter, .rows = rows->rows, .ranks = ranks, .samples = samples};
    if (rows->count > ROWS_MAX) {
        report(&b, NONE, "%zu rows; at most %d are possible", rows->count, ROWS_MAX);
        return NULL;
    }
    b.row_count = (uint32_t)rows->count;
    size_t devices = ranks;
    for (uint32_t row = 0; row < b.row_count; row++)
        devices += b.rows[row].devices.count;
    struct layers_strategy *strategy = array_zeroed(1, sizeof *strategy);
    *strategy = (struct layers_strategy){.splits = array_zeroed(graph->count, sizeof *strategy->splits),
                                         .ranks = ranks,
                                         .devices = array_zeroed(devices, sizeof *strategy->devices)};
    b.splits = array_zeroed(b.row_count, sizeof *b.splits);
    for (uint32_t i = 0; i < ranks; i++)
        strategy->devices[i] = i;
    uint32_t *next = strategy->devices + ranks;
    for (uint32_t row = 0; row < b.row_count && b.mistakes < ROW_MISTAKES_MAX; row++) {
        read_row(&b, row, strategy->devices, next);
        next += b.rows[row].devices.count;
    }
    split_layers(&b, strategy);
    free(b.splits);
    if (!b.mistakes)
        return strategy;
    strategy_destroy(strategy);
    return NULL;
}

void strategy_destroy(struct layers_strategy *strategy)
{
    if (!strategy)
        return;
    free(strategy->splits);
    free(strategy->devices);
    free(strategy);
}
