/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the lowering without a pipeline share. */
#ifndef STAGESIM_LAYERS_STEPS_H
#define STAGESIM_LAYERS_STEPS_H

#include "workloads/layers/layers.h"

/* Consecutive layers whose gradients are synchronised together; bucket 0 holds the last layers and is complete first.
 */
struct layers_bucket {
    uint32_t first, end; /* layers: first <= layer < end */
    double bytes;        /* of gradients */
    double parameters;
};

/* Entries of the cost table that a layer's operations name; STAGESIM_NONE: no such operation. */
struct layer_operations {
    uint32_t forward, backward, gathered, stepped;
};

/* A rank that computes, as its iterations are spelt out. */
struct layers_worker {
    uint32_t position;
    struct layer_operations *operations; /* [layer]; shared by workers on equal devices */
    uint32_t optimizer;                  /* cost */
    uint32_t *awaited;  /* [layer * awaited_each + i]: what the layer's next forward waits for, or STAGESIM_NONE */
    uint32_t *complete; /* [bucket]: what the synchronisation of a bucket waits for */
    uint32_t last;      /* newest computation, or the collective that ends it */
    uint32_t boundary;  /* streamed weights: the newest computation when those of the bucket before were asked for */
    uint32_t exchange;  /* newest collective that the next computation waits for; STAGESIM_NONE: none */
};

struct layers_stream;
struct layers_storage;
struct layers_kfac;

struct layers_steps {
    const struct layers_job *j;
    struct layers_stream *stream;   /* NULL: workers keep their weights */
    struct layers_storage *storage; /* NULL: samples are at hand */
    struct layers_kfac *kfac;       /* NULL: another optimizer */
    struct layers_bucket *buckets;
    uint32_t bucket_count;
    struct layers_worker *workers; /* one where all ranks are replicas */
    uint32_t worker_count;
    uint32_t awaited_each; /* operations that a layer may wait for: one, or one of each server */
    uint32_t sync_group;   /* of replicas; STAGESIM_NONE: one, or servers */
    uint32_t *groups;      /* [layer]: of the ranks that hold its channels, where they exchange anything */
    uint32_t iteration;
};

static inline struct stagesim_identity layers_identity(const struct layers_steps *s, enum stagesim_kind kind)
{
    return (struct stagesim_identity){.kind = kind,
                                      .stage = STAGESIM_NONE,
                                      .micro_batch = STAGESIM_NONE,
                                      .layer = STAGESIM_NONE,
                                      .iteration = s->iteration};
}

static inline uint32_t layers_cost_entry(const struct layers_steps *s, struct stagesim_cost cost)
{
    return s->j->api->cost(s->j->job, &cost);
}

/* Whether gradients, or with local SGD weights, are synchronised at the end of the running iteration. */
static inline bool layers_synchronises(const struct layers_steps *s)
{
    return (s->iteration + 1) % s->j->parameters->period == 0;
}

/* ---- operations.c ---- */

/* The operation of a position waits for another one; STAGESIM_NONE: for none. */
void layers_await(const struct layers_steps *s, uint32_t position, uint32_t operation, uint32_t awaited);
/* A worker's next computation, behind the newest and the collective that ends it. */
uint32_t layers_add_compute(const struct layers_steps *s, struct layers_worker *worker,
                            struct stagesim_identity identity, uint32_t cost);

/* ---- kfac.c ---- */

/* Factors and their collectives; NULL with another optimizer. The caller frees it with layers_kfac_destroy. */
struct layers_kfac *layers_kfac_create(const struct layers_steps *s);
void layers_kfac_destroy(struct layers_kfac *kfac);
/* Costs of a worker on its device; before its iterations. */
void layers_kfac_add_rank(struct layers_kfac *kfac, const struct layers_steps *s, uint32_t worker,
                          const struct efficiency_device *device);
/* Behind the backward of a layer: its factors, where the running iteration computes them, and the synchronisation of
 * those of a bucket that is complete. */
void layers_kfac_add_factors(const struct layers_kfac *kfac, struct layers_steps *s, struct layers_worker *worker,
                             uint32_t micro_batch, uint32_t layer);
/* Before the optimizer's step: inverses, where the running iteration computes them, and the gradient between them.
 * `gradients`, [bucket]: the synchronisations that it waits for, or STAGESIM_NONE. */
void layers_kfac_add_step(const struct layers_kfac *kfac, struct layers_steps *s, struct layers_worker *worker,
                          const uint32_t *gradients);

/* ---- servers.c ---- */

struct layers_servers;

/* Ranks, shards and costs of the servers; NULL without servers. The caller frees them with layers_servers_destroy. */
struct layers_servers *layers_servers_create(const struct layers_steps *s);
void layers_servers_destroy(struct layers_servers *servers);
/* Parameters of the shard on a position; 0 where no server is. */
double layers_servers_parameters(const struct layers_servers *servers, uint32_t position);
/* What all workers send for the running iteration, what servers do with it and what they send back; the workers' next
 * forwards wait for that. */
void layers_servers_add(struct layers_servers *servers, struct layers_steps *s);

/* ---- stream.c ---- */

/* Groups and costs of streamed weights, and all ranks' memory; NULL where weights stay on the workers. The caller frees
 * them with layers_stream_destroy. */
struct layers_stream *layers_stream_create(const struct layers_steps *s);
void layers_stream_destroy(struct layers_stream *stream);
/* A worker asks for a bucket's weights, for which its next pass over `layer` waits. */
void layers_stream_fetch(const struct layers_stream *stream, struct layers_steps *s, struct layers_worker *worker,
                         uint32_t bucket, uint32_t layer);
/* A worker gives a bucket's gradients back when they are complete. */
void layers_stream_return(const struct layers_stream *stream, struct layers_steps *s,
                          const struct layers_worker *worker, uint32_t bucket);
/* What servers do in an iteration. */
void layers_stream_serve(struct layers_stream *stream, struct layers_steps *s);

/* ---- storage.c ---- */

/* Costs of what storage hosts read and send; NULL where samples are at hand. The caller frees them with
 * layers_storage_destroy. */
struct layers_storage *layers_storage_create(const struct layers_steps *s);
void layers_storage_destroy(struct layers_storage *storage);
/* What the hosts do in the running iteration; before what the workers do in it. */
void layers_storage_add(struct layers_storage *storage, const struct layers_steps *s);
/* A worker's first forward of a micro-batch waits for its samples. */
void layers_storage_await(const struct layers_storage *storage, const struct layers_steps *s, uint32_t worker,
                          uint32_t micro_batch, uint32_t forward);
/* A worker is done with a micro-batch with the operation `end`: it asks for a later one. */
void layers_storage_done(struct layers_storage *storage, const struct layers_steps *s, uint32_t worker,
                         uint32_t micro_batch, uint32_t end);

#endif
