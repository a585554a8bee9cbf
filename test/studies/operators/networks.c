/* SPDX-License-Identifier: Apache-2.0 */
#include "test/studies/operators/networks.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t case_layer(struct network_case *c, unsigned type, struct layer_shape output, double flops, double parameters,
                    const uint32_t *sources, uint32_t source_count)
{
    uint32_t i = c->count++;
    snprintf(c->names[i], sizeof c->names[i], "layer%u", i);
    for (uint32_t k = 0; k < source_count; k++)
        c->from[i][k] = c->names[sources[k]];
    c->layers[i] = (struct layer){
        .name = c->names[i],
        .type = type,
        .flops = flops,
        .steps = 1,
        .parameters = {parameters, 0, parameters > 0},
        .outputs = {(double)(output.channels * output.height * output.width), 0, true},
        .from = {source_count, c->from[i]},
        .channels = output.channels,
        .height = output.height,
        .width = output.width,
    };
    return i;
}

static void set_window(struct network_case *c, uint32_t layer, double kernel, double stride, double padding)
{
    c->windows[layer][0] = kernel;
    c->windows[layer][1] = stride;
    c->windows[layer][2] = padding;
    c->layers[layer].kernel = (struct stagesim_list){1, &c->windows[layer][0]};
    c->layers[layer].stride = (struct stagesim_list){1, &c->windows[layer][1]};
    c->layers[layer].padding = (struct stagesim_list){1, &c->windows[layer][2]};
}

void case_chain(struct network_case *c)
{
    static const uint64_t sizes[] = {16, 8, 8, 4, 4}, channels[] = {16, 16, 32, 32, 64};
    for (int i = 0; i < 5; i++) {
        bool pool = i % 2;
        uint32_t layer = case_layer(c, pool ? LAYER_POOLING : LAYER_CONVOLUTION,
                                    (struct layer_shape){channels[i], sizes[i], sizes[i]}, pool ? 0 : 2e8 * (i + 1),
                                    pool ? 0 : 5000.0 * (i + 1), NULL, 0);
        if (pool)
            set_window(c, layer, 2, 2, 0);
        else
            set_window(c, layer, 3, 1, 1);
    }
    case_layer(c, LAYER_DENSE, (struct layer_shape){512, 1, 1}, 1e7, 524800, NULL, 0);
    case_layer(c, LAYER_DENSE, (struct layer_shape){512, 1, 1}, 5e6, 262656, NULL, 0);
    case_layer(c, LAYER_DENSE, (struct layer_shape){64, 1, 1}, 1e6, 32832, NULL, 0);
}

void case_branches(struct network_case *c)
{
    uint32_t last[4] = {case_layer(c, LAYER_CONVOLUTION, (struct layer_shape){32, 8, 8}, 1e8, 1000, NULL, 0)};
    uint32_t last_count = 1;
    for (int block = 0; block < 3; block++) {
        uint32_t next[4];
        for (uint32_t branch = 0; branch < 4; branch++) {
            uint32_t inner = case_layer(c, LAYER_CONVOLUTION, (struct layer_shape){16, 8, 8}, 1e8 * (branch + 1), 4000,
                                        last, last_count);
            set_window(c, inner, 1, 1, 0);
            next[branch] = case_layer(c, LAYER_CONVOLUTION, (struct layer_shape){16, 8, 8}, 3e8, 2304, &inner, 1);
            set_window(c, next[branch], 3, 1, 1);
            c->added[next[branch]][0] = c->names[inner];
            c->layers[next[branch]].added = (struct stagesim_texts){branch % 2, c->added[next[branch]]};
        }
        for (last_count = 0; last_count < 4; last_count++)
            last[last_count] = next[last_count];
    }
    case_layer(c, LAYER_DENSE, (struct layer_shape){100, 1, 1}, 8e6, 409700, last, last_count);
}

void case_recurrent(struct network_case *c)
{
    enum { PIECES = 3 };
    static const double parameters[] = {320000, 130000, 130000, 640000}, flops[] = {0, 1e8, 1e8, 5e7};
    static const unsigned types[] = {LAYER_EMBEDDING, LAYER_RECURRENT, LAYER_RECURRENT, LAYER_DENSE};
    uint32_t before[PIECES] = {0};
    for (int level = 0; level < 4; level++)
        for (uint32_t piece = 0; piece < PIECES; piece++) {
            uint32_t sources[2] = {before[piece], c->count - 1}, count = level == 0 ? 0 : 1;
            count += types[level] == LAYER_RECURRENT && piece > 0;
            struct layer_shape shape = {level == 3 ? 1000 : 128, 4, 1};
            uint32_t layer = case_layer(c, types[level], shape, flops[level], piece ? 0 : parameters[level], sources,
                                        level == 0 ? 0 : count);
            if (level == 0) {
                c->from[layer][0] = "input";
                c->layers[layer].from = (struct stagesim_texts){1, c->from[layer]};
            }
            c->layers[layer].weights = piece ? c->names[layer - piece] : NULL;
            before[piece] = layer;
        }
}

/* ---- devices ---- */

static struct part_cost part_cost(void *user, uint32_t layer, const struct layer_part *part, uint32_t device)
{
    const struct network_case *c = user;
    const struct layer_operator *op = &c->graph->operators[layer];
    double seconds = 1e-5 + part->computed * c->operators.samples * op->layer->flops / c->speeds[device];
    return (struct part_cost){.forward = seconds,
                              .backward = 2 * seconds,
                              .parameters = part->weights * c->graph->operators[op->weights].layer->parameters.elements,
                              .activation = 4 * box_volume(&part->output)};
}

static double all_reduce(void *user, const uint32_t *devices, uint32_t count, double bytes)
{
    (void)user;
    return 1e-5 * devices[0] + 2e-5 * count + 2.0 * (count - 1) / count * bytes / 5e9;
}

static double update(void *user, uint32_t device, double parameters)
{
    const struct network_case *c = user;
    return 20 * parameters / c->speeds[device];
}

static void refuse(void *user, uint32_t layer, const char *text)
{
    (void)user;
    fprintf(stderr, "layer %u: %s\n", layer, text);
    abort();
}

void case_finish(struct network_case *c, uint32_t devices, double samples)
{
    const struct row_reporter reporter = {refuse, NULL};
    c->graph = graph_create(c->layers, c->count, &(struct layer_shape){0}, &reporter);
    for (uint32_t a = 0; a < devices; a++) {
        c->kinds[a] = a % 3 == 2;
        c->speeds[a] = c->kinds[a] ? 5e12 : 1e13;
        for (uint32_t b = 0; b < devices; b++)
            c->routes[a * devices + b] = a / 2 == b / 2 ? (struct operator_route){2e-6, 1 / 20e9, 0, 0}
                                                        : (struct operator_route){1e-5 + 1e-7 * a, 1 / 10e9, a / 2 + 1,
                                                                                  CASE_DEVICES / 2 + b / 2 + 1};
    }
    c->operators = (struct operators){.graph = c->graph,
                                      .samples = samples,
                                      .element_bytes = 4,
                                      .gradient_bytes = 4,
                                      .state_bytes = 16,
                                      .overlap = true,
                                      .devices = devices,
                                      .routes = c->routes,
                                      .queues = CASE_DEVICES,
                                      .kinds = c->kinds,
                                      .costs = {c, part_cost, all_reduce, update}};
    operators_prepare(&c->operators);
}

void case_destroy(struct network_case *c)
{
    operators_finish(&c->operators);
    graph_destroy(c->graph);
    free(c);
}
