/* SPDX-License-Identifier: Apache-2.0 */
/* Networks as graphs: edges, shapes, windows, and what is no network. */
#include "workloads/layers/graph.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct reports {
    char text[2048];
    uint32_t layer;
    unsigned count;
};

static void keep(void *user, uint32_t layer, const char *text)
{
    struct reports *reports = user;
    size_t length = strlen(reports->text);
    snprintf(reports->text + length, sizeof reports->text - length, "%s\n", text);
    reports->layer = layer;
    reports->count++;
}

static struct layers_graph *make(const struct layer *layers, uint32_t count, const struct layer_shape *input,
                                 struct reports *reports)
{
    const struct row_reporter reporter = {keep, reports};
    *reports = (struct reports){"", 0, 0};
    return graph_create(layers, count, input, &reporter);
}

#define NUMBERS(...) ((struct stagesim_list){sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__}})
#define TEXTS(...)                                                                                                     \
    ((struct stagesim_texts){sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__}})
#define COUNT(number) ((struct stagesim_amount){number, 0, true})

/* ResNet's head, with a shortcut, and two branches whose channels are concatenated. */
Test(graph, branches)
{
    const struct layer layers[] = {
        {.name = "conv1",
         .type = LAYER_CONVOLUTION,
         .outputs = COUNT(64 * 112 * 112),
         .channels = 64,
         .height = 112,
         .width = 112,
         .kernel = NUMBERS(7),
         .stride = NUMBERS(2),
         .padding = NUMBERS(3)},
        {.name = "pool1",
         .type = LAYER_POOLING,
         .outputs = COUNT(64 * 56 * 56),
         .height = 56,
         .width = 56,
         .kernel = NUMBERS(3),
         .stride = NUMBERS(2),
         .padding = NUMBERS(1)},
        {.name = "side", .type = LAYER_CONVOLUTION, .outputs = COUNT(256 * 56 * 56), .height = 56, .width = 56},
        {.name = "tall",
         .type = LAYER_CONVOLUTION,
         .from = TEXTS("pool1"),
         .added = TEXTS("side"),
         .outputs = COUNT(256 * 56 * 56),
         .height = 56,
         .width = 56,
         .kernel = NUMBERS(3, 1),
         .padding = NUMBERS(1, 0)},
        {.name = "both", .type = LAYER_POOLING, .from = TEXTS("pool1", "tall"), .outputs = COUNT(320)},
        {.name = "words", .type = LAYER_EMBEDDING, .from = TEXTS("input"), .outputs = COUNT(8)},
        {.name = "again", .type = LAYER_EMBEDDING, .from = TEXTS("input"), .weights = "words", .outputs = COUNT(8)},
        {.name = "third", .type = LAYER_EMBEDDING, .from = TEXTS("input"), .weights = "again", .outputs = COUNT(8)},
    };
    struct reports reports;
    struct layers_graph *graph = make(layers, 8, &(struct layer_shape){3, 224, 224}, &reports);
    cr_assert(graph, "%s", reports.text);
    const struct layer_operator *op = graph->operators;
    cr_assert(op[0].edge_count == 0 && op[0].input.channels == 3 && op[0].mixes && op[0].height.kernel == 7);
    cr_assert(op[1].output.channels == 64 && op[1].edge_count == 1 && op[1].edges[0].source == 0 && !op[1].mixes);
    cr_assert(op[3].edge_count == 2 && op[3].edges[0].source == 1 && !op[3].edges[0].added);
    cr_assert(op[3].edges[1].source == 2 && op[3].edges[1].added && op[3].input.channels == 64);
    cr_assert(op[3].height.kernel == 3 && op[3].width.kernel == 1 && op[3].width.padding == 0);
    cr_assert(op[4].edges[0].channel == 0 && op[4].edges[1].channel == 64 && op[4].input.channels == 320);
    cr_assert(op[4].height.whole && op[4].width.whole && !op[4].mixes);
    cr_assert(op[5].edge_count == 0 && op[5].weights == 5 && op[6].weights == 5 && op[7].weights == 5);
    cr_assert(graph_outputs(&op[0]) == 64 * 112 * 112);
    graph_destroy(graph);
}

/* Without any new key a network is a chain of vectors. */
Test(graph, chain)
{
    const struct layer layers[] = {{.name = "a", .outputs = COUNT(10)},
                                   {.name = "a", .type = LAYER_DENSE, .outputs = COUNT(0.5)},
                                   {.name = "b", .outputs = {0, 93e3, true}}};
    struct reports reports;
    struct layers_graph *graph = make(layers, 3, &(struct layer_shape){0}, &reports);
    cr_assert(graph, "%s", reports.text);
    cr_assert(graph->operators[0].output.channels == 10 && graph->operators[0].edge_count == 0);
    cr_assert(graph->operators[1].output.channels == 1 && graph->operators[2].output.channels == 1);
    cr_assert(graph->operators[2].edge_count == 1 && graph->operators[2].edges[0].source == 1);
    graph_destroy(graph);
}

static void expect(const struct layer *last, const char *text)
{
    struct layer layers[] = {
        {.name = "first", .outputs = COUNT(3 * 8 * 8), .channels = 3, .height = 8, .width = 8},
        {.name = "twice", .outputs = COUNT(5)},
        {.name = "twice", .outputs = COUNT(5)},
        *last,
        {.name = "last", .outputs = COUNT(1)},
    };
    struct reports reports;
    cr_assert_null(make(layers, 5, &(struct layer_shape){0}, &reports));
    cr_assert_eq(reports.count, 1, "%s", reports.text);
    cr_assert_eq(reports.layer, 3);
    cr_assert(strstr(reports.text, text), "%s", reports.text);
}

Test(graph, mistakes)
{
    expect(&(struct layer){.name = "x", .outputs = COUNT(1), .from = TEXTS("firs")}, "did you mean 'first'?");
    expect(&(struct layer){.name = "x", .outputs = COUNT(1), .from = TEXTS("last")}, "'last' is not above");
    expect(&(struct layer){.name = "x", .outputs = COUNT(1), .from = TEXTS("x")}, "'x' is not above");
    expect(&(struct layer){.name = "x", .outputs = COUNT(1), .added = TEXTS("twice")}, "several layers are called");
    expect(&(struct layer){.name = "x", .outputs = COUNT(1), .weights = "second"}, "weights: no layer above");
    expect(&(struct layer){.name = "x", .outputs = COUNT(1), .weights = "first", .parameters = COUNT(1)},
           "expected one of them");
    expect(&(struct layer){.name = "x", .outputs = COUNT(191), .channels = 3, .height = 8, .width = 8},
           "are 192 outputs, not 191");
    expect(&(struct layer){.name = "x", .outputs = COUNT(191), .height = 8}, "no multiple of height 8 x width 1");
    expect(&(struct layer){.name = "x",
                           .outputs = COUNT(16),
                           .height = 4,
                           .width = 4,
                           .from = TEXTS("first"),
                           .kernel = NUMBERS(3),
                           .stride = NUMBERS(2),
                           .padding = NUMBERS(1, 0)},
           "width 4 does not follow from 8 inputs, kernel 3, stride 2 and padding 0; expected 3");
    expect(&(struct layer){.name = "x", .outputs = COUNT(16), .kernel = NUMBERS(3, 3, 3)}, "kernel has 3 numbers");
    expect(&(struct layer){.name = "x",
                           .outputs = COUNT(192),
                           .channels = 3,
                           .height = 8,
                           .width = 8,
                           .from = TEXTS("first", "first", "twice")},
           "several layers");
    expect(&(struct layer){.name = "x", .outputs = COUNT(1), .from = TEXTS("first"), .added = TEXTS("first")},
           "'first' is 3 x 8 x 8; expected channels, height and width of the layer, 1 x 1 x 1");
}

/* Outputs of unlike height and width have no channels behind each other. */
Test(graph, unlike_inputs)
{
    const struct layer layers[] = {{.name = "a", .outputs = COUNT(64), .height = 8, .width = 8},
                                   {.name = "b", .outputs = COUNT(16), .height = 4, .width = 4},
                                   {.name = "c", .outputs = COUNT(1), .from = TEXTS("a", "b")}};
    struct reports reports;
    cr_assert_null(make(layers, 3, &(struct layer_shape){0}, &reports));
    cr_assert(strstr(reports.text, "'b' is 4 x 4, the layers before it 8 x 8"), "%s", reports.text);
}
