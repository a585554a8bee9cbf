/* SPDX-License-Identifier: Apache-2.0 */
/* Weight streaming (Cerebras' way): weights live on servers alone. For each forward and each backward they are
 * broadcast to all workers, a bucket while the one before is computed with; gradients are reduced on their way back,
 * and updated there. */
#include "workloads/layers/steps.h"

#include "base/arena.h"

#include <stdlib.h>

static const uint32_t NONE = STAGESIM_NONE;

struct layers_stream {
    uint32_t count;                          /* servers */
    uint32_t *down, *up;                     /* [server]: groups of it and all workers, for weights and for gradients */
    uint32_t *weights, *gradients, *updates; /* [bucket]: costs of a server's part */
    uint32_t *updated; /* [bucket * count + server]: newest update at the server; NONE: none yet */
};

static uint32_t server_position(const struct layers_steps *s, uint32_t server)
{
    return s->worker_count + server;
}

static void add_groups(const struct layers_steps *s, struct layers_stream *stream)
{
    const struct layers_job *j = s->j;
    uint32_t *positions = array_zeroed(s->worker_count + (size_t)1, sizeof *positions);
    for (uint32_t i = 0; i < s->worker_count; i++)
        positions[i + 1] = i;
    for (uint32_t server = 0; server < stream->count; server++) {
        positions[0] = server_position(s, server); /* the root */
        stream->down[server] = j->api->group(j->job, "", positions, s->worker_count + (size_t)1);
        stream->up[server] = j->api->group(j->job, "", positions, s->worker_count + (size_t)1);
    }
    free(positions);
}

/* The update moves what the optimizer does; gradients arrive added. */
static void add_costs(const struct layers_steps *s, struct layers_stream *stream)
{
    const struct layers_job *j = s->j;
    double bandwidth = j->parameters->server_bandwidth;
    if (bandwidth <= 0)
        bandwidth = j->api->device(j->job, server_position(s, 0)).memory_bandwidth;
    for (uint32_t i = 0; i < s->bucket_count; i++) {
        double parameters = s->buckets[i].parameters / stream->count;
        double update = bandwidth > 0 ? parameters * j->state.update / bandwidth : 0;
        stream->weights[i] = layers_cost_entry(s, (struct stagesim_cost){.bytes = parameters * j->state.weight});
        stream->gradients[i] =
            layers_cost_entry(s, (struct stagesim_cost){.bytes = s->buckets[i].bytes / stream->count});
        stream->updates[i] = layers_cost_entry(s, (struct stagesim_cost){.seconds = update});
    }
}

/* Workers hold the weights of two buckets and the gradients of one, servers all of their shard. */
static void set_memory(const struct layers_steps *s, const struct layers_stream *stream)
{
    const struct layers_job *j = s->j;
    double all = 0, largest = 0;
    for (uint32_t i = 0; i < s->bucket_count; i++) {
        all += s->buckets[i].parameters / stream->count;
        largest = s->buckets[i].parameters > largest ? s->buckets[i].parameters : largest;
    }
    struct stagesim_static_memory held = {.parameters = 2 * largest * j->state.weight,
                                          .gradients = largest * j->state.gradient,
                                          .buffers = layers_input_memory(j) + layers_workspace(j, 0, j->count)};
    for (uint32_t i = 0; i < s->worker_count; i++)
        j->api->static_memory(j->job, i, &held);
    held = (struct stagesim_static_memory){all * j->state.weight, all * j->state.gradient, all * j->state.optimizer, 0};
    for (uint32_t server = 0; server < stream->count; server++)
        j->api->static_memory(j->job, server_position(s, server), &held);
}

struct layers_stream *layers_stream_create(const struct layers_steps *s)
{
    if (!s->j->parameters->weights)
        return NULL;
    struct layers_stream *stream = array_zeroed(1, sizeof *stream);
    size_t buckets = s->bucket_count + (size_t)1;
    uint32_t count = (uint32_t)s->j->parameters->servers;
    *stream = (struct layers_stream){.count = count,
                                     .down = array_zeroed(count, sizeof *stream->down),
                                     .up = array_zeroed(count, sizeof *stream->up),
                                     .weights = array_zeroed(buckets, sizeof *stream->weights),
                                     .gradients = array_zeroed(buckets, sizeof *stream->gradients),
                                     .updates = array_zeroed(buckets, sizeof *stream->updates),
                                     .updated = array_zeroed(buckets * count, sizeof *stream->updated)};
    for (size_t i = 0; i < buckets * count; i++)
        stream->updated[i] = NONE;
    add_groups(s, stream);
    add_costs(s, stream);
    set_memory(s, stream);
    return stream;
}

void layers_stream_destroy(struct layers_stream *stream)
{
    if (!stream)
        return;
    free(stream->down);
    free(stream->up);
    free(stream->weights);
    free(stream->gradients);
    free(stream->updates);
    free(stream->updated);
    free(stream);
}

static uint32_t add_collective(const struct layers_steps *s, uint32_t position, uint32_t group, bool weights,
                               uint32_t cost)
{
    const struct stagesim_api *api = s->j->api;
    return api->collective(s->j->job, position, group, weights ? STAGESIM_BROADCAST : STAGESIM_REDUCE,
                           layers_identity(s, weights ? STAGESIM_PARAMETER_GATHER : STAGESIM_GRADIENT_SYNC), cost);
}

void layers_stream_fetch(const struct layers_stream *stream, struct layers_steps *s, struct layers_worker *worker,
                         uint32_t bucket, uint32_t layer)
{
    for (uint32_t server = 0; server < stream->count; server++) {
        uint32_t id = add_collective(s, worker->position, stream->down[server], true, stream->weights[bucket]);
        layers_await(s, worker->position, id, worker->boundary);
        worker->awaited[layer * s->awaited_each + server] = id;
    }
    worker->boundary = worker->last;
}

void layers_stream_return(const struct layers_stream *stream, struct layers_steps *s,
                          const struct layers_worker *worker, uint32_t bucket)
{
    for (uint32_t server = 0; server < stream->count; server++)
        layers_await(s, worker->position,
                     add_collective(s, worker->position, stream->up[server], false, stream->gradients[bucket]),
                     worker->complete[bucket]);
}

/* The weights of one pass over a bucket. */
static void serve(const struct layers_stream *stream, const struct layers_steps *s, uint32_t bucket)
{
    for (uint32_t server = 0; server < stream->count; server++) {
        uint32_t position = server_position(s, server);
        uint32_t id = add_collective(s, position, stream->down[server], true, stream->weights[bucket]);
        layers_await(s, position, id, stream->updated[bucket * stream->count + server]);
    }
}

void layers_stream_serve(struct layers_stream *stream, struct layers_steps *s)
{
    const struct layers_job *j = s->j;
    for (uint32_t m = 0; m < j->api->micro_batches(j->job); m++) {
        for (uint32_t bucket = s->bucket_count; bucket-- > 0;)
            serve(stream, s, bucket);
        for (uint32_t bucket = 0; bucket < s->bucket_count; bucket++)
            serve(stream, s, bucket);
    }
    for (uint32_t bucket = 0; bucket < s->bucket_count; bucket++)
        for (uint32_t server = 0; server < stream->count; server++) {
            uint32_t position = server_position(s, server);
            uint32_t sum = add_collective(s, position, stream->up[server], false, stream->gradients[bucket]);
            uint32_t update =
                j->api->compute(j->job, position, layers_identity(s, STAGESIM_OPTIMIZER), stream->updates[bucket]);
            layers_await(s, position, update, sum);
            stream->updated[bucket * stream->count + server] = update;
        }
}
