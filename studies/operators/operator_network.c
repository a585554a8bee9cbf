/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/operators/operator_network.h"

#include "base/arena.h"
#include "base/paths.h"
#include "job/placement.h"
#include "platforms/device.h"
#include "simulator/collectives/communicator.h"
#include "workloads/layers/graph.h"

#include <stdlib.h>
#include <string.h>

/* What the workload asks of a job; it is told of devices and sizes, and builds nothing. */
struct stagesim_job {
    const struct scenario *scenario;
    const struct platform *platform;
    const uint32_t *hosts; /* [rank] */
    struct arena *arena;
};

struct known_communicator {
    const uint32_t *devices;
    uint32_t count;
    struct communicator *communicator;
    struct known_communicator *next;
};

struct operator_network {
    struct stagesim_job job;
    struct platform *platform;
    struct layers_job layers;
    struct operators operators;
    struct efficiency *efficiencies;   /* [kind] */
    struct efficiency_device *devices; /* [kind] */
    uint32_t *kinds, *hosts, node, kind_count;
    struct operator_route *routes;
    uint32_t *queues, queue_count; /* [link] of the platform: its queue */
    bool shares;                   /* links are shared */
    struct layers_graph *graph;
    struct known_communicator *communicators;
};

/* ---- what the workload asks ---- */

static uint32_t api_axis(const struct stagesim_job *job, const char *name)
{
    return mesh_size(&job->scenario->mesh, name);
}

static uint32_t api_workers(const struct stagesim_job *job)
{
    return job->scenario->workers;
}

static double api_micro_batch_size(const struct stagesim_job *job)
{
    return (double)job->scenario->micro_batch_size;
}

static struct stagesim_device api_device(const struct stagesim_job *job, uint32_t position)
{
    return device_of_host(&job->platform->hosts[job->hosts[position]]);
}

static double api_clock(struct stagesim_job *job, uint32_t position)
{
    (void)job, (void)position;
    return 1;
}

static const char *api_efficiency_table(struct stagesim_job *job, const char *model)
{
    return path_find_installed(INSTALLED_EFFICIENCY, model, ".csv", job->arena);
}

/* The job was built before, and the same mistakes reported. */
static void api_error(struct stagesim_job *job, const char *key, const char *format, ...)
{
    (void)job, (void)key, (void)format;
}

static const struct stagesim_api api = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof api,
    .axis = api_axis,
    .workers = api_workers,
    .micro_batch_size = api_micro_batch_size,
    .device = api_device,
    .clock = api_clock,
    .efficiency_table = api_efficiency_table,
    .error = api_error,
};

/* ---- times ---- */

/* Times hold at a device's full speed; one that is slowed down takes as much longer for everything. */
static double slowdown(const struct operator_network *network, uint32_t device)
{
    const struct platform_host *host = &network->platform->hosts[network->hosts[device]];
    return platform_full_speed(host) / host->speed;
}

static struct part_cost part_cost(void *user, uint32_t layer, const struct layer_part *part, uint32_t device)
{
    struct operator_network *network = user;
    struct layer_cost cost;
    double slower = slowdown(network, device);
    layers_part_cost(&network->layers, &network->devices[network->kinds[device]], layer, part,
                     network->operators.samples, &cost);
    return (struct part_cost){.forward = cost.forward * slower,
                              .backward = cost.backward * slower,
                              .parameters = cost.weights,
                              .activation = cost.activation};
}

static struct communicator *communicator_of(struct operator_network *network, const uint32_t *devices, uint32_t count)
{
    struct arena *arena = network->job.arena;
    for (struct known_communicator *known = network->communicators; known; known = known->next)
        if (known->count == count && !memcmp(known->devices, devices, count * sizeof *devices))
            return known->communicator;
    struct known_communicator *known = arena_alloc(arena, sizeof *known);
    uint32_t *copy = arena_array(arena, count, sizeof *copy), *hosts = arena_array(arena, count, sizeof *hosts);
    memcpy(copy, devices, count * sizeof *copy);
    for (uint32_t i = 0; i < count; i++)
        hosts[i] = network->hosts[devices[i]];
    *known = (struct known_communicator){copy, count, communicator_create(network->platform, hosts, count, arena),
                                         network->communicators};
    network->communicators = known;
    return known->communicator;
}

static double all_reduce(void *user, const uint32_t *devices, uint32_t count, double bytes)
{
    struct operator_network *network = user;
    const struct collective_policy *policy = &network->job.scenario->collectives;
    return communicator_choose(communicator_of(network, devices, count), STAGESIM_ALL_REDUCE,
                               policy->algorithms[STAGESIM_ALL_REDUCE], bytes)
        .seconds;
}

static double update(void *user, uint32_t device, double parameters)
{
    struct operator_network *network = user;
    return slowdown(network, device) *
           layers_optimizer_time(&network->layers, &network->devices[network->kinds[device]], parameters);
}

/* ---- devices ---- */

static bool same_device(const struct platform_host *a, const struct platform_host *b)
{
    struct stagesim_device one = device_of_host(a), other = device_of_host(b);
    return a->speed == b->speed && device_same(&one, &other);
}

/* Devices of one kind are numbered as they come; what each kind reaches is read once. */
static bool set_kinds(struct operator_network *network, uint32_t devices)
{
    const struct platform_host *hosts = network->platform->hosts;
    uint32_t *first = array_zeroed(devices, sizeof *first);
    network->kinds = array_zeroed(devices, sizeof *network->kinds);
    network->efficiencies = array_zeroed(devices, sizeof *network->efficiencies);
    network->devices = array_zeroed(devices, sizeof *network->devices);
    bool ok = true;
    for (uint32_t i = 0; i < devices && ok; i++) {
        uint32_t kind = 0;
        while (kind < network->kind_count &&
               !same_device(&hosts[network->hosts[i]], &hosts[network->hosts[first[kind]]]))
            kind++;
        network->kinds[i] = kind;
        if (kind < network->kind_count)
            continue;
        first[network->kind_count++] = i;
        ok = layers_device(&network->layers, i, &network->efficiencies[kind], &network->devices[kind]);
    }
    free(first);
    return ok;
}

/* The first, or the last, of the slowest links of a route. */
static uint32_t slowest_link(const struct platform *platform, const struct platform_route *route, bool last)
{
    uint32_t slowest = route->links[0];
    for (uint32_t i = 1; i < route->link_count; i++) {
        double rate = platform->links[route->links[i]].bandwidth, least = platform->links[slowest].bandwidth;
        if (rate < least || (last && rate == least))
            slowest = route->links[i];
    }
    return slowest;
}

/* The queue of a link, numbered from 1 as they come; links that do not make flows share their rate have none. */
static uint32_t queue_of(struct operator_network *network, uint32_t link)
{
    if (network->platform->links[link].sharing != LINK_SHARED)
        return 0;
    if (!network->queues[link])
        network->queues[link] = ++network->queue_count;
    return network->queues[link];
}

static void set_routes(struct operator_network *network, uint32_t devices)
{
    struct platform *platform = network->platform;
    network->queues = array_zeroed(platform->link_count, sizeof *network->queues);
    network->routes = array_zeroed((size_t)devices * devices, sizeof *network->routes);
    for (uint32_t a = 0; a < devices; a++)
        for (uint32_t b = 0; b < devices; b++) {
            struct platform_route route;
            if (a == b)
                continue;
            platform->route(platform, network->hosts[a], network->hosts[b], &route);
            network->routes[a * devices + b] = (struct operator_route){route.latency, 1 / route.bandwidth, 0, 0};
            if (!network->shares || !route.link_count)
                continue;
            uint32_t out = slowest_link(platform, &route, false), in = slowest_link(platform, &route, true);
            network->routes[a * devices + b].out = queue_of(network, out);
            network->routes[a * devices + b].in = out == in ? 0 : queue_of(network, in);
        }
}

static bool same_node(const struct operator_network *network, uint32_t a, uint32_t b)
{
    const struct platform_host *hosts = network->platform->hosts;
    return !strcmp(hosts[network->hosts[a]].node, hosts[network->hosts[b]].node);
}

static void set_node(struct operator_network *network, uint32_t devices)
{
    uint32_t size = 1;
    while (size < devices && same_node(network, 0, size))
        size++;
    network->node = devices % size ? 1 : size;
    for (uint32_t i = 0; i < devices && network->node > 1; i++)
        if (!same_node(network, i, i - i % size))
            network->node = 1;
}

static double least_memory(const struct operator_network *network, uint32_t devices)
{
    double least = 0;
    for (uint32_t i = 0; i < devices; i++) {
        double memory = network->platform->hosts[network->hosts[i]].memory;
        if (memory > 0 && (least <= 0 || memory < least))
            least = memory;
    }
    return least * (1 - network->job.scenario->reserve);
}

static void fill(struct operator_network *network, uint32_t devices)
{
    const struct layers_job *layers = &network->layers;
    const struct scenario *scenario = network->job.scenario;
    set_routes(network, devices);
    set_node(network, devices);
    network->operators =
        (struct operators){.graph = network->graph,
                           .samples = (double)scenario->micro_batch_size * scenario->data,
                           .element_bytes = layers->element_bytes,
                           .gradient_bytes = layers->state.gradient,
                           .state_bytes = layers->state.weight + layers->state.gradient + layers->state.optimizer,
                           .overlap = layers->parameters->overlap,
                           .bucket = layers->parameters->bucket,
                           .devices = devices,
                           .messages_most = OPERATORS_MESSAGES_MAX,
                           .routes = network->routes,
                           .queues = network->queue_count,
                           .kinds = network->kinds,
                           .capacity = least_memory(network, devices),
                           .costs = {network, part_cost, all_reduce, update}};
    operators_prepare(&network->operators);
}

struct operator_network *operator_network_create(const struct scenario *scenario, struct platform *platform,
                                                 bool shares, struct diag *diag)
{
    struct operator_network *network = array_zeroed(1, sizeof *network);
    uint32_t devices = scenario->mesh.ranks;
    network->platform = platform;
    network->shares = shares;
    network->hosts = array_zeroed(platform->host_count, sizeof *network->hosts);
    network->job = (struct stagesim_job){scenario, platform, network->hosts, arena_create()};
    network->layers = (struct layers_job){.parameters = scenario->parameters, .job = &network->job, .api = &api};
    bool ok = placement_fill(scenario, platform, network->hosts, diag);
    if (ok) {
        layers_describe(&network->layers);
        network->graph = layers_make_graph(&network->layers);
        network->layers.graph = network->graph;
        ok = network->graph && set_kinds(network, devices);
    }
    if (ok)
        fill(network, devices);
    if (ok)
        return network;
    operator_network_destroy(network);
    return NULL;
}

void operator_network_destroy(struct operator_network *network)
{
    if (!network)
        return;
    operators_finish(&network->operators);
    graph_destroy(network->graph);
    arena_destroy(network->job.arena);
    free(network->efficiencies);
    free(network->devices);
    free(network->kinds);
    free(network->hosts);
    free(network->routes);
    free(network->queues);
    free(network);
}

const struct operators *operator_network_problem(const struct operator_network *network)
{
    return &network->operators;
}

uint32_t operator_network_node(const struct operator_network *network)
{
    return network->node;
}
