/* SPDX-License-Identifier: Apache-2.0 */
/* The workload `layers`: any network as a list of layers. Its parameters, and how its sources hand the job to one
 * another. */
#ifndef STAGESIM_LAYERS_H
#define STAGESIM_LAYERS_H

#include "abi/workload.h"
#include "workloads/transformer/device.h"
#include "workloads/transformer/kinds/memory.h"

enum layer_type { LAYER_OTHER, LAYER_CONVOLUTION, LAYER_DENSE, LAYER_RECURRENT, LAYER_EMBEDDING, LAYER_POOLING };

/* A layer as described; data are those of one sample. */
struct layer {
    const char *name;
    unsigned type; /* enum layer_type */
    double flops;  /* of the forward */
    struct stagesim_amount parameters, inputs, outputs;
    struct stagesim_amount activations; /* kept from the forward to the backward; not given: outputs */
    struct stagesim_amount boundary;    /* what crosses a cut behind the layer; not given: outputs */
    uint64_t steps;                     /* of a recurrent layer, one after the other */
    struct stagesim_texts from;  /* layers whose outputs it reads, one's channels behind the other's; not given: the
                                    layer before */
    struct stagesim_texts added; /* layers whose outputs are added to its own */
    const char *weights;         /* the layer whose weights it uses; NULL: its own */
    uint64_t channels, height, width;             /* of outputs; 0: not given */
    struct stagesim_list kernel, stride, padding; /* along height and width, or one number for both */
};

enum layers_consistency { CONSISTENCY_SYNCHRONOUS, CONSISTENCY_STALE, CONSISTENCY_ASYNCHRONOUS };
enum layers_shards { SHARDS_EVEN, SHARDS_LAYERS };
enum layers_optimizer { LAYERS_MOMENTUM, LAYERS_SGD, LAYERS_ADAM, LAYERS_KFAC };
/* What convolutions are computed with, and what a bound on workspace is of. */
enum layers_algorithms { ALGORITHMS_DIRECT, ALGORITHMS_AUTO, ALGORITHMS_GEMM, ALGORITHMS_FFT, ALGORITHMS_WINOGRAD };
enum layers_workspace_of { WORKSPACE_OF_LARGEST, WORKSPACE_OF_ALL };
enum layers_exchange { EXCHANGE_ALL_REDUCE, EXCHANGE_ALL_GATHER };

/* The section `storage`: hosts that the samples come from. */
struct layers_storage_parameters {
    uint64_t hosts, prefetch;           /* 0 hosts: samples are at hand; micro-batches asked for ahead */
    double bandwidth, reads;            /* of a host's disks: bytes, samples per second; 0: no limit */
    double cache, local_cache, dataset; /* bytes; of a host, of a worker; of all samples */
    double sample;                      /* bytes; 0: what the first layer reads */
};

/* The section `kfac`: the second-order optimizer's factors. */
struct layers_kfac_parameters {
    uint64_t factors_every, inverse_every; /* iterations; 0: not given */
    unsigned inverse;                      /* 0: Cholesky, 1: eigenvalues and vectors */
    double work;                           /* flops of an inverse over the cube of its rows; 0: not given */
    bool distributed;                      /* each layer's inverses are computed on one rank */
};

/* What the field table fills. */
struct layers_parameters {
    struct stagesim_rows layers, splits;
    struct stagesim_list input;
    uint64_t count; /* published number of parameters; 0: not checked */
    unsigned dense, optimizer, gradients, precision, consistency, shards, exchange, weights;
    struct stagesim_list layers_per_stage;
    double bucket; /* bytes */
    uint64_t servers, staleness, period, checkpoints;
    bool colocated, overlap;
    double server_bandwidth;              /* bytes per second; 0: that of its host's memory */
    double compression, compression_rate; /* ratio; bytes of gradient per second, 0: takes no time */
    double efficiency;
    const char *table;
    struct layers_storage_parameters storage;
    struct layers_kfac_parameters kfac;
    unsigned algorithms, workspace_of; /* enum layers_algorithms, layers_workspace_of */
    double workspace;                  /* bytes; negative: no bound */
};

/* What a layer costs one rank for one micro-batch. Times in seconds. */
struct layer_cost {
    double forward, backward, weight; /* weight: the part of backward that is the weight gradient */
    double memory_bound;  /* the part of forward and backward for which memory, not arithmetic, sets the pace */
    double forward_bound; /* the same of the forward alone */
    double forward_flops, backward_flops, weight_flops;
    double again_flops; /* the part of backward_flops that computes a forward again */
    /* Where ranks hold channels of the layer: its input is all-gathered before the forward, the gradient of it
     * reduce-scattered behind the backward; 0: neither. A recurrent layer gathers its output at each step, and scatters
     * that gradient. */
    double gathered, stepped; /* bytes of the whole buffers */
    double parameters;        /* on this rank, of the layer's own */
    double weights;           /* on this rank, with which it computes: its own, or those of another layer */
    double gradient;          /* bytes to be synchronised among replicas; 0 where they hold different channels */
    double activation;        /* bytes kept from forward to backward */
    double taken, freed;      /* the bytes that its forward takes of these, and by which its backward changes them: what
                               * is computed again is taken there */
    double message;           /* bytes that cross a cut behind the layer, from this rank */
};

static inline bool layers_exchanges(const struct layer_cost *cost)
{
    return cost->gathered > 0 || cost->stepped > 0;
}

struct layers_graph;
struct layer_part;
struct layers_strategy;

/* The job while it is built. */
struct layers_job {
    const struct layers_parameters *parameters;
    struct stagesim_job *job;
    const struct stagesim_api *api;
    const struct layer *layers;
    uint32_t count;
    const struct layers_graph *graph; /* of the layers */
    struct layer_cost *costs;         /* [layer], of rank 0 */
    double samples;                   /* of a micro-batch */
    double element_bytes;
    uint32_t data, tensor, workers;
    struct transformer_state state;
    struct efficiency efficiency; /* of rank 0's device */
    struct efficiency_device device;
    unsigned *algorithms; /* [layer]: enum convolution_algorithm; NULL: all are direct */
};

/* ---- layers.c ---- */

/* Reports a mistake of a layer at its row; `user` is the struct layers_job. */
void layers_report(void *user, uint32_t layer, const char *text);

/* Bytes that a worker exchanges with parameter servers in a round: the gradient, and the weights back. */
double layers_exchanged_bytes(const struct layers_parameters *parameters);
/* Of a number in tensors. */
double layers_element_bytes(const struct layers_parameters *parameters);
/* Fills what follows from the parameters and the job: layers, samples, axes, bytes of numbers. */
void layers_describe(struct layers_job *j);
/* The graph of the layers; NULL after mistakes were reported. The caller frees it with graph_destroy. */
struct layers_graph *layers_make_graph(struct layers_job *j);

/* ---- checks.c ---- */

/* Whether the keys go together; `pipeline`: the job has one, or a schedule. False with the mistakes reported. */
bool layers_check(const struct layers_job *job, bool pipeline);
/* Whether the layers have the shapes that K-FAC needs, once there is a graph. */
bool layers_check_kfac(struct layers_job *job);

/* ---- cost.c ---- */

/* Bytes of an amount; `otherwise` where it is not given. */
double layers_bytes(const struct layers_job *job, const struct stagesim_amount *amount, double otherwise);
/* The costs of all layers on a device, into `costs`. */
void layers_cost(const struct layers_job *job, const struct efficiency_device *device, struct layer_cost *costs);
/* The costs of a part of a layer (split.h) of which `samples` are computed together: its times and flops, weights and
 * activations. What parts exchange is not among them. */
void layers_part_cost(const struct layers_job *job, const struct efficiency_device *device, uint32_t layer,
                      const struct layer_part *part, double samples, struct layer_cost *cost);
/* The mesh's axes along which ranks hold different channels of a layer. */
const char *layers_axes(const struct layers_job *job, uint32_t layer);
/* Seconds of the optimizer's step over that many parameters. */
double layers_optimizer_time(const struct layers_job *job, const struct efficiency_device *device, double parameters);
/* Fills peak and bandwidth of the device of a position, and reads its efficiency, which `efficiency` holds. False with
 * the mistake reported. */
bool layers_device(const struct layers_job *job, uint32_t position, struct efficiency *efficiency,
                   struct efficiency_device *device);

/* Seconds of any work on a device; 0 where there is none. */
double layers_work_seconds(const struct efficiency_device *device, double flops, double bytes);

/* Seconds of the forward and the backward of a layer with the algorithm that the job has for it, on rank 0. */
double layers_convolution_seconds(const struct layers_job *job, uint32_t layer);

/* ---- choose.c ---- */

struct convolution;

/* A micro-batch's. False: the layer is no convolution. */
bool layers_convolution_of(const struct layers_job *job, uint32_t layer, struct convolution *convolution);
/* Fills job->algorithms, which the caller frees, as the scenario asks for. False with the mistake reported. */
bool layers_choose_algorithms(struct layers_job *job);
/* Bytes beside tensors that layers from `first` on before `end` work in: one after the other in the same, or each in
 * its own. */
double layers_workspace(const struct layers_job *job, uint32_t first, uint32_t end);
/* The choice for people, the caller's to free; NULL: there was none. */
char *layers_algorithms_text(const struct layers_job *job);

/* ---- kfac.c ---- */

/* The section with what follows from it where it is not given (layers.c). */
struct layers_kfac_parameters layers_kfac_parameters_of(const struct layers_parameters *parameters);
/* Bytes of factors and inverses that a rank keeps; 0 with another optimizer. */
double layers_kfac_memory(const struct layers_job *job);

/* ---- storage.c ---- */

/* Of a sample as it is stored; 0: not known. */
double layers_sample_bytes(const struct layers_job *job);
/* That a worker holds of samples which were asked for: those of the micro-batch at work and of those ahead. */
double layers_input_memory(const struct layers_job *job);

/* ---- checkpoints.c ---- */

/* Which activations are kept from forward to backward, and what is computed again: sets taken and freed of costs that
 * are complete otherwise, and adds the forwards that are repeated to the backwards. */
void layers_checkpoints(const struct layers_job *job, struct layer_cost *costs);

/* ---- stages.c ---- */

/* Which layers a stage has: from first[stage] on before first[stage + 1]. They are as layers.layers_per_stage says, or
 * such that the longest stage is as short as can be; `times` are those of a layer, [stage * stride + layer]. False with
 * the mistake reported. */
bool layers_assign(const struct layers_job *j, uint32_t stages, const double *times, size_t stride, uint32_t *first);
/* A pipeline: layers cut into stages, lowered as the schedule says. False with the mistake reported. */
bool layers_build_pipeline(const struct layers_job *job);

/* ---- steps.c ---- */

/* Without a pipeline: each rank runs all layers, replicas synchronise by collectives or through servers. False with the
 * mistake reported. */
bool layers_build_steps(const struct layers_job *job);

/* ---- split_steps.c ---- */

/* Each layer shared out as its split says among the ranks of a pipeline worker, all of which are in `strategy`; there
 * is one worker without a schedule. False with the mistake reported. */
bool layers_build_split(const struct layers_job *j, const struct layers_strategy *strategy);

/* ---- needs.c ---- */

extern const struct stagesim_need layers_needs[];

extern const struct stagesim_workload layers_workload;

#endif
