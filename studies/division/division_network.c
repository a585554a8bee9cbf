/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/division/division_network.h"

#include "base/arena.h"
#include "workloads/layers/graph.h"
#include "workloads/layers/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the network ---- */

static double elements_of(const struct stagesim_amount *amount, double element_bytes, double otherwise)
{
    return amount->given ? amount->elements + amount->bytes / element_bytes : otherwise;
}

/* What the graph's mistakes are reported with. */
struct reporting {
    const struct scenario *scenario;
    struct diag *diag;
};

static void report_layer(void *user, uint32_t layer, const char *text)
{
    const struct reporting *reporting = user;
    (void)layer;
    diag_error(reporting->diag, scenario_workload_place(reporting->scenario, "model.layers"), "%s", text);
}

static struct layers_graph *create_graph(const struct scenario *scenario, struct diag *diag)
{
    const struct layers_parameters *p = scenario->parameters;
    const struct stagesim_list *input = &p->input;
    struct layer_shape shape = {0};
    if (input->count == 3)
        shape =
            (struct layer_shape){(uint64_t)input->values[0], (uint64_t)input->values[1], (uint64_t)input->values[2]};
    struct reporting reporting = {scenario, diag};
    return graph_create(p->layers.rows, (uint32_t)p->layers.count, &shape,
                        &(struct row_reporter){report_layer, &reporting});
}

/* Only what mixes channels has sums over input channels. Weights of a layer that works channel by channel lie with its
 * channels. */
static enum partition_role role_of(const struct layers_graph *graph, const struct layer_operator *op)
{
    if (!op->mixes || elements_of(&graph->operators[op->weights].layer->parameters, 1, 0) <= 0)
        return PARTITION_PASSIVE;
    return op->layer->type == LAYER_DENSE ? PARTITION_DENSE : PARTITION_CONVOLUTION;
}

static uint64_t most_parts(const struct layers_graph *graph, uint32_t layer, enum split_dimension dimension,
                           double samples)
{
    double most = split_most(graph, layer, dimension, samples);
    return most < UINT32_MAX ? (uint64_t)most : UINT32_MAX;
}

static double input_elements(const struct layers_graph *graph, const struct layer_operator *op, double element_bytes)
{
    double sum = 0;
    for (uint32_t i = 0; i < op->edge_count; i++)
        if (!op->edges[i].added)
            sum += graph_outputs(&graph->operators[op->edges[i].source]);
    return op->edge_count ? sum : elements_of(&op->layer->inputs, element_bytes, 0);
}

static void set_layer(const struct scenario *scenario, const struct layers_graph *graph, uint32_t index,
                      struct partition_layer *layer)
{
    const struct layer_operator *op = &graph->operators[index];
    double element_bytes = division_element_bytes(scenario), samples = (double)scenario->global_batch,
           at_once = samples / scenario->micro_batches;
    layer->role = role_of(graph, op);
    layer->weights = op->weights == index ? elements_of(&op->layer->parameters, element_bytes, 0) : 0;
    layer->inputs = samples * input_elements(graph, op, element_bytes);
    layer->outputs = samples * graph_outputs(op);
    layer->most[PARTITION_SAMPLES] = most_parts(graph, index, SPLIT_SAMPLE, at_once);
    layer->most[PARTITION_INPUTS] = most_parts(graph, index, SPLIT_IN, at_once);
    layer->most[PARTITION_OUTPUTS] = most_parts(graph, index, SPLIT_OUT, at_once);
}

/* What a layer reads, and that it has the weights of another one; how many edges. */
static size_t set_edges(const struct layers_graph *graph, uint32_t index, double samples, struct partition_edge *edges)
{
    const struct layer_operator *op = &graph->operators[index];
    for (uint32_t k = 0; k < op->edge_count; k++) {
        uint32_t source = op->edges[k].source;
        edges[k] = (struct partition_edge){source, index, samples * graph_outputs(&graph->operators[source]),
                                           op->edges[k].added, false};
    }
    if (op->weights == index)
        return op->edge_count;
    edges[op->edge_count] = (struct partition_edge){op->weights, index, 0, false, true};
    return op->edge_count + 1;
}

struct partition_network *division_network(const struct scenario *scenario, struct arena *arena, struct diag *diag)
{
    struct layers_graph *graph = create_graph(scenario, diag);
    if (!graph)
        return NULL;
    struct partition_network *network = arena_alloc(arena, sizeof *network);
    struct partition_layer *layers = arena_array(arena, graph->count, sizeof *layers);
    struct partition_edge *edges = arena_array(arena, graph->edge_count + graph->count, sizeof *edges);
    *network = (struct partition_network){.layers = layers, .count = graph->count, .edges = edges};
    for (uint32_t i = 0; i < graph->count; i++) {
        set_layer(scenario, graph, i, &layers[i]);
        network->edge_count += set_edges(graph, i, (double)scenario->global_batch, edges + network->edge_count);
    }
    graph_destroy(graph);
    return network;
}

double division_element_bytes(const struct scenario *scenario)
{
    const struct layers_parameters *parameters = scenario->parameters;
    return layers_element_bytes(parameters);
}

/* ---- the devices ---- */

static bool same_kind(const struct platform_host *a, const struct platform_host *b)
{
    return a->speed == b->speed && !a->model == !b->model && (!a->model || !strcmp(a->model, b->model));
}

/* Ranks of the kind of rank 0, then the others; how many the first ones are. False if there are more kinds. */
static bool sort_ranks(const struct job *job, uint32_t *ranks, uint32_t *first)
{
    const struct platform_host *hosts = job->platform->hosts;
    uint32_t count = job->program->mesh->ranks, others = 0, other = count;
    uint32_t *behind = array_zeroed(count, sizeof *behind);
    bool two = true;
    *first = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        const struct platform_host *host = &hosts[job->hosts[rank]];
        if (same_kind(host, &hosts[job->hosts[0]])) {
            ranks[(*first)++] = rank;
            continue;
        }
        other = other < count ? other : rank;
        two &= same_kind(host, &hosts[job->hosts[other]]);
        behind[others++] = rank;
    }
    memcpy(ranks + *first, behind, others * sizeof *ranks);
    free(behind);
    return two;
}

static const char *name_of_kind(const struct job *job, uint32_t rank, struct arena *arena)
{
    const struct platform_host *host = &job->platform->hosts[job->hosts[rank]];
    return arena_copy(arena, host->model ? host->model : host->name);
}

/* Narrowest link from one host to another; UINT32_MAX: none. */
static uint32_t narrowest_link(struct platform *platform, uint32_t from, uint32_t to)
{
    struct platform_route route;
    uint32_t narrowest = UINT32_MAX;
    platform->route(platform, from, to, &route);
    for (uint32_t i = 0; i < route.link_count; i++)
        if (narrowest == UINT32_MAX || platform->links[route.links[i]].bandwidth < platform->links[narrowest].bandwidth)
            narrowest = route.links[i];
    return narrowest;
}

/* How many senders are looked at for each receiver: more than devices of a node. */
enum { SENDERS_MAX = 16 };

/* Of the widest route that a rank receives over from one of `count` others, the one opposite first; UINT32_MAX: it has
 * no link. */
static uint32_t widest_link(const struct job *job, const uint32_t *from, uint32_t to, uint32_t opposite, uint32_t count)
{
    const struct platform_link *links = job->platform->links;
    uint32_t widest = narrowest_link(job->platform, job->hosts[from[opposite]], job->hosts[to]);
    for (uint32_t i = 1; i < count && i < SENDERS_MAX && widest != UINT32_MAX; i++) {
        uint32_t link = narrowest_link(job->platform, job->hosts[from[(opposite + i) % count]], job->hosts[to]);
        if (link == UINT32_MAX || links[link].bandwidth > links[widest].bandwidth)
            widest = link;
    }
    return widest;
}

/* Bytes per second that `count` ranks receive together, each from one of as many others. */
static double bandwidth_between(const struct job *job, const uint32_t *from, const uint32_t *to, uint32_t count)
{
    uint32_t *links = array_zeroed(count, sizeof *links), known = 0;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t link = widest_link(job, from, to[i], i, count), k = 0;
        while (k < known && links[k] != link)
            k++;
        if (k < known)
            continue;
        links[known++] = link;
        sum += link == UINT32_MAX ? INFINITY : job->platform->links[link].bandwidth;
    }
    free(links);
    return sum;
}

static void set_bandwidths(const struct job *job, const struct division_study *study, struct partition_devices *devices)
{
    uint32_t all = 1u << study->levels;
    for (uint32_t level = 0; level < study->levels; level++)
        for (uint32_t kind = 0; kind < study->kind_count; kind++) {
            uint32_t half = all >> (level + 1);
            const uint32_t *first = study->ranks + (level ? kind * (all / 2) : 0), *second = first + half;
            devices->bandwidth[level][kind][0] = bandwidth_between(job, second, first, half);
            devices->bandwidth[level][kind][1] = bandwidth_between(job, first, second, half);
        }
}

static bool refuse_devices(const struct job *job, struct diag *diag, bool two, uint32_t first)
{
    uint32_t count = job->program->mesh->ranks;
    struct place place = scenario_place(job->scenario, "parallel");
    if (count < 2 || (count & (count - 1)) || count > 1u << PARTITION_LEVELS_MAX)
        diag_error(diag, place, "%u ranks cannot be halved again and again; expected 2, 4, 8, ... or %u", count,
                   1u << PARTITION_LEVELS_MAX);
    else if (!two)
        diag_error(diag, place, "the ranks are on devices of more than two kinds; expected one or two");
    else if (first < count && first != count / 2)
        diag_error(diag, place, "%u rank%s on '%s' and %u on others; expected as many of each kind", first,
                   first == 1 ? " is" : "s are",
                   job->platform->hosts[job->hosts[0]].model ? job->platform->hosts[job->hosts[0]].model : "hosts",
                   count - first);
    else
        return false;
    return true;
}

bool division_devices(const struct job *job, struct arena *arena, struct diag *diag, struct division_study *study,
                      struct partition_devices *devices)
{
    uint32_t count = job->program->mesh->ranks, first;
    study->ranks = arena_array(arena, count, sizeof *study->ranks);
    bool two = sort_ranks(job, study->ranks, &first);
    if (refuse_devices(job, diag, two, first))
        return false;
    study->kind_count = first < count ? 2 : 1;
    study->kinds[0] = name_of_kind(job, study->ranks[0], arena);
    study->kinds[1] = study->kind_count > 1 ? name_of_kind(job, study->ranks[first], arena) : NULL;
    for (study->levels = 0; 1u << study->levels < count;)
        study->levels++;
    *devices = (struct partition_devices){.levels = study->levels, .kinds = study->kind_count};
    set_bandwidths(job, study, devices);
    return true;
}
