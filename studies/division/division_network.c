/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/division/division_network.h"

#include "base/arena.h"
#include "base/numbers/divisor.h"
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

/* Ranks by kind, and how many each has; false if there are too many kinds. */
static bool sort_ranks(const struct job *job, struct division_study *study)
{
    const struct platform_host *hosts = job->platform->hosts;
    uint32_t count = job->program->mesh->ranks, *kind_of = array_zeroed(count, sizeof *kind_of);
    uint32_t first[PARTITION_KINDS], place = 0;
    bool few = true;
    for (uint32_t rank = 0; rank < count && few; rank++) {
        uint32_t kind = 0;
        while (kind < study->kind_count && !same_kind(&hosts[job->hosts[rank]], &hosts[job->hosts[first[kind]]]))
            kind++;
        few = kind < PARTITION_KINDS;
        if (few && kind == study->kind_count)
            first[study->kind_count++] = rank;
        kind_of[rank] = kind;
    }
    for (uint32_t kind = 0; kind < study->kind_count && few; kind++)
        for (uint32_t rank = 0; rank < count; rank++)
            if (kind_of[rank] == kind) {
                study->ranks[place++] = rank;
                study->counts[kind]++;
            }
    free(kind_of);
    return few;
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

/* Devices beside each other, as places in the study's ranks. */
struct stretch_of_ranks {
    uint32_t first, count;
};

/* The rank in `all` that is so far behind the group's end, around. */
static uint32_t rank_behind(const uint32_t *ranks, struct stretch_of_ranks all, struct stretch_of_ranks group,
                            uint32_t distance)
{
    uint32_t place = (group.first - all.first + group.count + distance) % all.count;
    return ranks[all.first + place];
}

/* Of the widest route that a rank receives over from one of those beside its group, the one opposite first; UINT32_MAX:
 * it has no link. */
static uint32_t widest_link(const struct job *job, const uint32_t *ranks, struct stretch_of_ranks all,
                            struct stretch_of_ranks group, uint32_t member)
{
    const struct platform_link *links = job->platform->links;
    uint32_t to = job->hosts[ranks[group.first + member]], others = all.count - group.count;
    uint32_t widest = narrowest_link(job->platform, job->hosts[rank_behind(ranks, all, group, member % others)], to);
    for (uint32_t i = 1; i < others && i < SENDERS_MAX && widest != UINT32_MAX; i++) {
        uint32_t from = job->hosts[rank_behind(ranks, all, group, (member + i) % others)];
        uint32_t link = narrowest_link(job->platform, from, to);
        if (link == UINT32_MAX || links[link].bandwidth > links[widest].bandwidth)
            widest = link;
    }
    return widest;
}

/* Bytes per second that a group receives together from the others of `all`. */
static double bandwidth_into(const struct job *job, const uint32_t *ranks, struct stretch_of_ranks all,
                             struct stretch_of_ranks group)
{
    uint32_t *links = array_zeroed(group.count, sizeof *links), known = 0;
    double sum = 0;
    for (uint32_t i = 0; i < group.count; i++) {
        uint32_t link = widest_link(job, ranks, all, group, i), k = 0;
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

/* Of groups number `from` to `until` of `all`, of so many devices each, the least. */
static double least_bandwidth(const struct job *job, const uint32_t *ranks, struct stretch_of_ranks all, uint32_t each,
                              uint32_t from, uint32_t until)
{
    double least = INFINITY;
    for (uint32_t i = from; i < until; i++)
        least = fmin(least, bandwidth_into(job, ranks, all, (struct stretch_of_ranks){all.first + i * each, each}));
    return least;
}

static void set_bandwidths(const struct job *job, const struct division_study *study, struct partition_devices *devices)
{
    uint32_t each = study->device_count;
    for (uint32_t level = 0; level < study->levels; level++) {
        uint32_t parent = each, group = 0, ways = study->ways[level];
        each /= ways;
        bool apart = level == 0 && study->kind_count > 1, two = ways == 2 && !apart;
        for (uint32_t kind = 0, first = 0; kind < study->kind_count; first += study->counts[kind++]) {
            struct stretch_of_ranks all = {level ? first : 0, parent};
            uint32_t from = apart ? group : 0, until = apart ? group += devices->groups[kind] : ways;
            double *bandwidth = devices->bandwidth[level][kind];
            bandwidth[0] = least_bandwidth(job, study->ranks, all, each, from, two ? 1 : until);
            bandwidth[1] = two ? least_bandwidth(job, study->ranks, all, each, 1, 2) : bandwidth[0];
        }
    }
}

static bool refuse_devices(const struct job *job, struct diag *diag, bool few)
{
    uint32_t count = job->program->mesh->ranks;
    struct place place = scenario_place(job->scenario, "parallel");
    if (count < 2 || count > 1u << PARTITION_LEVELS_MAX)
        diag_error(diag, place, "%u rank%s cannot be divided again and again; expected 2 to %u", count,
                   count == 1 ? "" : "s", 1u << PARTITION_LEVELS_MAX);
    else if (!few)
        diag_error(diag, place, "the ranks are on devices of more than %d kinds; expected fewer", PARTITION_KINDS);
    else
        return false;
    return true;
}

/* Level 0 divides kinds, in groups of as many devices; the others by prime factors of that number. */
static void set_levels(struct division_study *study, struct partition_devices *devices)
{
    uint32_t each = study->device_count;
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        each = (uint32_t)common_divisor(each, study->counts[kind]);
    if (study->kind_count > 1)
        study->ways[study->levels++] = study->device_count / each;
    for (uint32_t prime = 2; each > 1; prime++)
        for (; each % prime == 0; each /= prime)
            study->ways[study->levels++] = prime;
    *devices = (struct partition_devices){.levels = study->levels, .kinds = study->kind_count};
    memcpy(devices->ways, study->ways, sizeof devices->ways);
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        devices->groups[kind] =
            study->kind_count > 1 ? study->counts[kind] / (study->device_count / study->ways[0]) : 1;
}

bool division_devices(const struct job *job, struct arena *arena, struct diag *diag, struct division_study *study,
                      struct partition_devices *devices)
{
    study->device_count = job->program->mesh->ranks;
    study->ranks = arena_array(arena, study->device_count, sizeof *study->ranks);
    if (refuse_devices(job, diag, sort_ranks(job, study)))
        return false;
    for (uint32_t kind = 0, first = 0; kind < study->kind_count; first += study->counts[kind++])
        study->kinds[kind] = name_of_kind(job, study->ranks[first], arena);
    set_levels(study, devices);
    set_bandwidths(job, study, devices);
    return true;
}
