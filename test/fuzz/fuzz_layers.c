/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes networks given as csv: from the file's text to the costs of layers. */
#include "abi/fields/fields.h"
#include "abi/fields/fields_rows.h"
#include "base/arena.h"
#include "workloads/layers/transfers.h"
#include "workloads/workload_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Reports read the file again to show its line: one in memory that has a name. */
static int write_copy(const unsigned char *data, size_t size, char *name, size_t name_size)
{
    int descriptor = memfd_create("layers", 0);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    snprintf(name, name_size, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

static const struct stagesim_field *find_table(void)
{
    const struct stagesim_field *field = layers_workload.fields;
    while (!field->rows)
        field++;
    return field;
}

static void check_costs(const struct layers_parameters *parameters, const struct layers_graph *graph, uint32_t data,
                        uint32_t tensor)
{
    struct efficiency efficiency;
    efficiency_constant(&efficiency, 0.5);
    struct efficiency_device device = {.efficiency = &efficiency, .peak = 1e12, .bandwidth = 1e12};
    struct layers_job job = {.parameters = parameters,
                             .layers = parameters->layers.rows,
                             .count = (uint32_t)parameters->layers.count,
                             .graph = graph,
                             .samples = 4,
                             .element_bytes = 2,
                             .data = data,
                             .tensor = tensor,
                             .state = transformer_state_of(OPTIMIZER_ADAM, 2, 2)};
    struct layer_cost *costs = calloc(job.count, sizeof *costs);
    layers_cost(&job, &device, costs);
    for (uint32_t i = 0; i < job.count; i++) {
        const struct layer_cost *cost = &costs[i];
        const double values[] = {cost->forward,     cost->backward - cost->weight,
                                 cost->weight,      cost->gathered,
                                 cost->stepped,     cost->gradient,
                                 cost->activation,  cost->message,
                                 cost->memory_bound};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            if (!isfinite(values[k]) || values[k] < 0)
                abort();
        if (cost->memory_bound > (cost->forward + cost->backward) * (1 + 1e-9))
            abort();
    }
    free(costs);
}

static void ignore(void *user, uint32_t layer, const char *text)
{
    (void)user, (void)layer, (void)text;
}

/* All layers in the same parts: each gets of the layers that it reads what it needs, and no more. */
static void check_split(const struct layers_graph *graph, const uint64_t *degrees)
{
    enum { RANKS = 6 };
    const struct row_reporter reporter = {ignore, NULL};
    struct split_row row = {.layer = "*"};
    memcpy(row.degrees, degrees, sizeof row.degrees);
    struct layers_strategy *strategy = strategy_create(graph, &(struct stagesim_rows){1, &row}, RANKS, 6, &reporter);
    if (!strategy)
        return;
    struct layers_transfers list = {.most = 100000};
    struct layer_part **parts = parts_create(graph, strategy, 6);
    double *bytes = calloc(graph->count, sizeof *bytes);
    for (uint32_t i = 0; i < graph->count; i++)
        bytes[i] = 4;
    for (uint32_t i = 0; i < graph->count; i++)
        transfers_add(&list, graph, strategy, parts, bytes, i);
    for (size_t i = 0; i < list.count; i++) {
        const struct layers_transfer *transfer = &list.items[i];
        double most = 4 * box_volume(&parts[transfer->source][transfer->from].owned);
        if (!(transfer->bytes >= 0 && transfer->bytes <= most) || transfer->source >= transfer->layer)
            abort();
    }
    free(bytes);
    free(list.items);
    parts_destroy(graph, parts);
    strategy_destroy(strategy);
}

/* What is no graph is refused. */
static void check_network(struct layers_parameters *parameters)
{
    const struct row_reporter reporter = {ignore, NULL};
    struct layers_graph *graph = graph_create(parameters->layers.rows, (uint32_t)parameters->layers.count,
                                              &(struct layer_shape){3, 224, 224}, &reporter);
    for (unsigned dense = 0; graph && dense < 2; dense++) {
        parameters->dense = dense;
        check_costs(parameters, graph, 1, 1);
        check_costs(parameters, graph, 8, 4);
    }
    static const uint64_t degrees[][SPLIT_DIMENSIONS] = {{6}, {3, 2}, {1, 2, 3}, {2, 1, 1, 3}, {1, 1, 1, 2, 3}};
    for (size_t i = 0; graph && i < sizeof degrees / sizeof *degrees; i++)
        check_split(graph, degrees[i]);
    graph_destroy(graph);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char name[64];
    struct arena *arena = arena_create();
    struct diag diag = {.out = fopen("/dev/null", "w")};
    int descriptor = write_copy(data, size, name, sizeof name);
    const struct stagesim_field *field = find_table();
    struct layers_parameters parameters;
    memcpy(&parameters, layers_workload.defaults, sizeof parameters);
    struct fields_reader reader = {.directory = "/", .arena = arena, .diag = &diag};
    struct node *list = fields_parse_rows(name, (const char *)data, size, field->rows, arena, &diag);
    bool good = list && fields_read_value(&reader, field, "layers", list, &parameters);
    if (!good != (diag.errors > 0))
        abort();
    if (good)
        check_network(&parameters);
    fclose(diag.out);
    close(descriptor);
    arena_destroy(arena);
    return 0;
}
