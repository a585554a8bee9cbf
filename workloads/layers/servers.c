/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter servers (Li et al., OSDI 2014): workers push gradients to the servers that hold the shards, which update
 * them and send the weights back: when all workers' gradients are in, when no worker is further ahead of the slowest
 * than the staleness allows (stale synchronous, Ho et al., NIPS 2013), or at once. */
#include "workloads/layers/steps.h"

#include "base/arena.h"

#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;

/* A server's part of a bucket. */
struct shard {
    double gradient, parameters; /* bytes; count */
    uint32_t push, pull;         /* costs; NONE: the server holds nothing of the bucket */
    uint32_t update;             /* with all workers' gradients where synchronous, otherwise with one worker's */
};

struct layers_servers {
    const struct layers_steps *s;
    uint32_t count;
    struct shard *shards; /* [bucket * count + server] */
    uint32_t *gates;    /* [(round % (staleness + 1)) * buckets * count + ...]: operations that end with a round's last
                           gradient */
    uint32_t *arrivals; /* [worker]: scratch */
    uint32_t nothing;   /* cost of an operation without time */
};

/* Delay lanes of a server's position: its updates, the gates, and for each worker its updates and its releases. */
enum { LANE_UPDATE, LANE_GATE, LANE_WORKERS };

static const struct layers_parameters *parameters_of(const struct layers_servers *servers)
{
    return servers->s->j->parameters;
}

static uint32_t server_position(const struct layers_servers *servers, uint32_t server)
{
    return parameters_of(servers)->colocated ? server : servers->s->worker_count + server;
}

static struct shard *shard_of(const struct layers_servers *servers, uint32_t bucket, uint32_t server)
{
    return &servers->shards[(size_t)bucket * servers->count + server];
}

/* ---- who holds what ---- */

static void shard_evenly(struct layers_servers *servers)
{
    for (uint32_t bucket = 0; bucket < servers->s->bucket_count; bucket++)
        for (uint32_t server = 0; server < servers->count; server++) {
            struct shard *shard = shard_of(servers, bucket, server);
            shard->gradient = servers->s->buckets[bucket].bytes / servers->count;
            shard->parameters = servers->s->buckets[bucket].parameters / servers->count;
        }
}

struct sized {
    uint32_t layer;
    double bytes;
};

static int larger_first(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->layer > b->layer) - (a->layer < b->layer);
}

static uint32_t bucket_of(const struct layers_steps *s, uint32_t layer)
{
    uint32_t bucket = 0;
    while (bucket < s->bucket_count && (layer < s->buckets[bucket].first || layer >= s->buckets[bucket].end))
        bucket++;
    return bucket;
}

/* The largest layer goes to the server that holds least so far, then the next. */
static void shard_by_layers(struct layers_servers *servers)
{
    const struct layers_steps *s = servers->s;
    struct sized *layers = array_zeroed(s->j->count, sizeof *layers);
    double *load = array_zeroed(servers->count, sizeof *load);
    for (uint32_t layer = 0; layer < s->j->count; layer++)
        layers[layer] = (struct sized){layer, s->j->costs[layer].gradient};
    qsort(layers, s->j->count, sizeof *layers, larger_first);
    for (uint32_t i = 0; i < s->j->count && layers[i].bytes > 0; i++) {
        uint32_t least = 0;
        for (uint32_t server = 1; server < servers->count; server++)
            least = load[server] < load[least] ? server : least;
        load[least] += layers[i].bytes;
        struct shard *shard = shard_of(servers, bucket_of(s, layers[i].layer), least);
        shard->gradient += layers[i].bytes;
        shard->parameters += s->j->costs[layers[i].layer].parameters;
    }
    free(layers);
    free(load);
}

/* Adding n gradients reads each of them; the update then moves what the optimizer does. */
static double update_time(const struct layers_servers *servers, uint32_t server, const struct shard *shard)
{
    const struct layers_job *j = servers->s->j;
    const struct layers_parameters *p = j->parameters;
    double bandwidth = p->server_bandwidth;
    if (bandwidth <= 0)
        bandwidth = j->api->device(j->job, server_position(servers, server)).memory_bandwidth;
    double added = p->consistency == CONSISTENCY_SYNCHRONOUS ? (j->data - 1) * shard->gradient : 0;
    return bandwidth > 0 ? (added + shard->parameters * j->state.update) / bandwidth : 0;
}

static void add_costs(struct layers_servers *servers)
{
    const struct layers_steps *s = servers->s;
    const struct layers_job *j = s->j;
    servers->nothing = layers_cost_entry(s, (struct stagesim_cost){0});
    for (uint32_t bucket = 0; bucket < s->bucket_count; bucket++)
        for (uint32_t server = 0; server < servers->count; server++) {
            struct shard *shard = shard_of(servers, bucket, server);
            shard->push = shard->pull = NONE;
            if (shard->gradient <= 0)
                continue;
            shard->push =
                layers_cost_entry(s, (struct stagesim_cost){.bytes = shard->gradient / j->parameters->compression});
            shard->pull = layers_cost_entry(s, (struct stagesim_cost){.bytes = shard->parameters * j->state.weight});
            shard->update =
                layers_cost_entry(s, (struct stagesim_cost){.seconds = update_time(servers, server, shard)});
        }
}

double layers_servers_parameters(const struct layers_servers *servers, uint32_t position)
{
    double sum = 0;
    for (uint32_t server = 0; server < servers->count; server++)
        for (uint32_t bucket = 0; server_position(servers, server) == position && bucket < servers->s->bucket_count;
             bucket++)
            sum += shard_of(servers, bucket, server)->parameters;
    return sum;
}

static void set_memory(const struct layers_servers *servers)
{
    const struct layers_job *j = servers->s->j;
    for (uint32_t server = 0; server < servers->count && !j->parameters->colocated; server++) {
        uint32_t position = server_position(servers, server);
        double count = layers_servers_parameters(servers, position);
        struct stagesim_static_memory memory = {.parameters = count * j->state.weight,
                                                .gradients = count * j->state.gradient,
                                                .optimizer = count * j->state.optimizer};
        j->api->static_memory(j->job, position, &memory);
    }
}

struct layers_servers *layers_servers_create(const struct layers_steps *s)
{
    const struct layers_parameters *p = s->j->parameters;
    if (!p->servers)
        return NULL;
    struct layers_servers *servers = array_zeroed(1, sizeof *servers);
    size_t cells = (size_t)s->bucket_count * p->servers;
    *servers = (struct layers_servers){.s = s,
                                       .count = (uint32_t)p->servers,
                                       .shards = array_zeroed(cells + 1, sizeof *servers->shards),
                                       .gates = array_zeroed((p->staleness + 1) * cells + 1, sizeof *servers->gates),
                                       .arrivals = array_zeroed(s->worker_count, sizeof *servers->arrivals)};
    (p->shards == SHARDS_LAYERS ? shard_by_layers : shard_evenly)(servers);
    add_costs(servers);
    set_memory(servers);
    return servers;
}

void layers_servers_destroy(struct layers_servers *servers)
{
    if (!servers)
        return;
    free(servers->shards);
    free(servers->gates);
    free(servers->arrivals);
    free(servers);
}

/* ---- a round: gradients in, weights out ---- */

/* Of one bucket on one server. */
struct exchange {
    struct layers_servers *servers;
    struct layers_steps *s;
    uint32_t bucket, server, position;
    const struct shard *shard;
};

static void wait_for(const struct exchange *x, uint32_t operation, uint32_t awaited)
{
    x->s->j->api->wait(x->s->j->job, x->position, operation, awaited);
}

static uint32_t add_delay(const struct exchange *x, uint32_t lane, enum stagesim_kind kind, uint32_t cost)
{
    return x->s->j->api->delay(x->s->j->job, x->position, lane, layers_identity(x->s, kind), cost);
}

/* A worker on the server's own host sends nothing: its gradient is there when it is complete. */
static void push(const struct exchange *x, const struct layers_worker *worker, uint32_t *arrival)
{
    const struct stagesim_api *api = x->s->j->api;
    uint32_t complete = worker->complete[x->bucket], send;
    *arrival = complete;
    if (worker->position == x->position)
        return;
    api->message(x->s->j->job, worker->position, x->position, layers_identity(x->s, STAGESIM_GRADIENT_SYNC),
                 x->shard->push, &send, arrival);
    api->wait(x->s->j->job, worker->position, send, complete);
}

static void pull(const struct exchange *x, struct layers_worker *worker, uint32_t released)
{
    uint32_t send, *awaited = &worker->awaited[x->s->buckets[x->bucket].first * x->s->awaited_each + x->server];
    *awaited = released;
    if (worker->position == x->position)
        return;
    x->s->j->api->message(x->s->j->job, x->position, worker->position, layers_identity(x->s, STAGESIM_PARAMETER_GATHER),
                          x->shard->pull, &send, awaited);
    wait_for(x, send, released);
}

/* One update with the gradients of all. A server on a worker's host leaves the compute stream to the worker. */
static void answer_together(const struct exchange *x)
{
    const struct stagesim_api *api = x->s->j->api;
    uint32_t update =
        parameters_of(x->servers)->colocated
            ? add_delay(x, LANE_UPDATE, STAGESIM_OPTIMIZER, x->shard->update)
            : api->compute(x->s->j->job, x->position, layers_identity(x->s, STAGESIM_OPTIMIZER), x->shard->update);
    for (uint32_t i = 0; i < x->s->worker_count; i++)
        wait_for(x, update, x->servers->arrivals[i]);
    for (uint32_t i = 0; i < x->s->worker_count; i++)
        pull(x, &x->s->workers[i], update);
}

/* Where a round's gate is kept: as many rounds as a worker may be ahead. */
static uint32_t *gate_of(const struct exchange *x, uint32_t round)
{
    const struct layers_servers *servers = x->servers;
    size_t cells = (size_t)x->s->bucket_count * servers->count;
    return &servers->gates[round % (parameters_of(servers)->staleness + 1) * cells +
                           (size_t)x->bucket * servers->count + x->server];
}

/* The operation after which a worker may have the weights of a round: its own update, and all gradients of `staleness`
 * rounds before. */
static uint32_t release(const struct exchange *x, uint32_t worker, uint32_t update, uint32_t round)
{
    uint64_t staleness = parameters_of(x->servers)->staleness;
    if (parameters_of(x->servers)->consistency != CONSISTENCY_STALE || round < staleness)
        return update;
    uint32_t id = add_delay(x, LANE_WORKERS + x->s->worker_count + worker, STAGESIM_OTHER, x->servers->nothing);
    wait_for(x, id, update);
    wait_for(x, id, *gate_of(x, round - (uint32_t)staleness));
    return id;
}

/* An update with each gradient as it arrives. */
static void answer_each(const struct exchange *x)
{
    const struct layers_servers *servers = x->servers;
    uint32_t round = x->s->iteration / (uint32_t)parameters_of(servers)->period;
    if (parameters_of(servers)->consistency == CONSISTENCY_STALE) {
        uint32_t gate = *gate_of(x, round) = add_delay(x, LANE_GATE, STAGESIM_OTHER, servers->nothing);
        for (uint32_t i = 0; i < x->s->worker_count; i++)
            wait_for(x, gate, servers->arrivals[i]);
    }
    for (uint32_t i = 0; i < x->s->worker_count; i++) {
        uint32_t update = add_delay(x, LANE_WORKERS + i, STAGESIM_OPTIMIZER, x->shard->update);
        wait_for(x, update, servers->arrivals[i]);
        pull(x, &x->s->workers[i], release(x, i, update, round));
    }
}

void layers_servers_add(struct layers_servers *servers, struct layers_steps *s)
{
    for (uint32_t bucket = 0; bucket < s->bucket_count; bucket++)
        for (uint32_t server = 0; server < servers->count; server++) {
            const struct shard *shard = shard_of(servers, bucket, server);
            struct exchange x = {servers, s, bucket, server, server_position(servers, server), shard};
            if (shard->push == NONE)
                continue;
            for (uint32_t i = 0; i < s->worker_count; i++)
                push(&x, &s->workers[i], &servers->arrivals[i]);
            if (parameters_of(servers)->consistency == CONSISTENCY_SYNCHRONOUS)
                answer_together(&x);
            else
                answer_each(&x);
        }
}
