/* SPDX-License-Identifier: Apache-2.0 */
/* The workload `transformer`: its parameters, and how its sources hand the job to one another. */
#ifndef STAGESIM_TRANSFORMER_H
#define STAGESIM_TRANSFORMER_H

#include "workloads/transformer/device.h"
#include "workloads/transformer/documents.h"
#include "workloads/transformer/kernel_class.h"
#include "workloads/transformer/kernel_use.h"
#include "workloads/transformer/kinds/memory.h"
#include "workloads/transformer/layer.h"
#include "workloads/transformer/layer_profile.h"
#include "workloads/transformer/scaling.h"
#include "workloads/transformer/tensor.h"

enum transformer_attention { ATTENTION_FLASH, ATTENTION_STANDARD };
enum transformer_granularity { GRANULARITY_STAGE, GRANULARITY_LAYER };
enum transformer_balance { BALANCE_EVEN, BALANCE_AUTO };
enum transformer_tower_placing { TOWERS_FIRST, TOWERS_OWN };

enum transformer_kernels {
    KERNELS_DEFAULT,
    KERNELS_TRANSFORMER_ENGINE,
    KERNELS_MEASURED,
    KERNELS_AUTO,
    KERNELS_AUTO_MEASURED
};
/* What tables of a GPU are told apart by, besides its name: compute.kernels. */
extern const char *const kernel_names[];

/* What a rank updates with zero 1: an equal share of all elements, or whole tensors, which it then broadcasts. */
enum zero_parts { PARTS_EQUAL, PARTS_TENSORS };

enum gradient_type { GRADIENTS_FP32, GRADIENTS_SAME, GRADIENTS_ACCUMULATED };

/* What the field table fills. */
struct transformer_parameters {
    struct transformer_model model;
    uint64_t adapter_rank; /* of low-rank adapters beside frozen matrices; 0: all is trained */
    double frozen_bytes;   /* of a frozen weight; 0: as others */
    unsigned attention, granularity, balance, optimizer, gradients, precision; /* gradients: enum gradient_type */
    unsigned zero_parts;                                                       /* enum zero_parts */
    unsigned tower_place;                                                      /* enum transformer_tower_placing */
    uint64_t tower_tensor; /* tensor-parallel ranks of towers; 0: those of the language model */
    bool stage_outputs, sequence_parallel, scatter_gather, distributed_optimizer, reshard, overlap;
    uint64_t zero, shard_ranks, prefetch, gather_pieces;
    double prefetch_bucket, gather_bucket; /* bytes; 0: not given */
    struct stagesim_list layers_per_stage;
    const char *pipeline_layout; /* see pipeline_layout.h; NULL: not given */
    struct transformer_routing routing;
    double bucket, efficiency, tokens, price;
    const char *currency; /* NULL: none named */
    const char *table, *profile;
    unsigned algorithm, tensor_overlap; /* enum tensor_algorithm, bits of enum tensor_overlap */
    bool product_overlap;
    unsigned kernels;                     /* enum transformer_kernels */
    const char *source;                   /* of measured kernels; NULL: the first of each */
    double clock, dispatch, step, launch; /* negative: not given */
    double expert_dispatch;               /* seconds of the host for each expert of a rank and pass */
    uint64_t dispatched_most;             /* experts of a rank that take it; 0: all */
    double times[KERNEL_CLASSES];         /* of its kernels, over what tables and measurements say */
    double flash;                         /* share of the peak that flash attention reaches; 0: not given */
    double cast_bytes;                    /* moved for each element of an operand in 8 bits; negative: not given */
    unsigned scaling;                     /* enum transformer_scaling */
    double overlap_hidden;                /* share of what moves beside products */
    double unfused;                       /* times the bytes of operators that only move memory */
    bool tensor_copies;                   /* what tensor-parallel ranks gather or scatter is copied once more */
    unsigned tensor_gathers;              /* enum dispatch_precision */
    bool recompute_stops_early;           /* layers that are computed again are so up to their last product */
    bool shard_copies; /* shared weights are copied once gathered, gradients before they are scattered */
    /* Share of the optimizer that is the host's; bytes per second between a GPU and its host, and of the host's memory
     * for a GPU. */
    double optimizer_offload, offload_rate, host_bandwidth;
    double moment_bytes, master_bytes;                        /* of a moment, of a master weight; 0: 4 */
    double optimizer_unfused;                                 /* times the bytes of a fused optimizer's step */
    uint64_t islands, outer_period, outer_parts, outer_delay; /* see islands.c; islands below 2: none */
    double outer_bytes;                                       /* of an element that islands exchange */
    bool outer_momentum, outer_offload;
    double logits_bytes; /* of each logit while the loss is computed */
    double extra_memory; /* bytes of a rank that no formula counts */
};

/* Of a tower, over the mean of all: the work of a micro-batch's samples, [micro-batch][data-parallel rank], and the
 * largest; factors NULL: all are alike, and the largest is 1. */
struct transformer_tower_load {
    double *factors, most;
    double spread; /* what the ranks with most items have, over what all have in the mean */
};

/* Where towers are: `apart` of their own number of tensor-parallel ranks, where `groups` of them divide the items of a
 * micro-batch; `own`: stage 0 has nothing else. Axes: of those that share a layer, and of all that have the same. */
struct transformer_tower_place {
    bool own, apart;
    double tensor, groups;
    struct transformer_tower_axes *axes; /* parts point into it: copies of the job share it */
};

/* Of which ranks share a tower's layers, and of those that have copies of them. */
struct transformer_tower_axes {
    char shared[24], copies[64];
};

/* The job while it is built. */
struct transformer_job {
    const struct transformer_parameters *parameters;
    struct stagesim_job *job;
    const struct stagesim_api *api;
    struct transformer_model model;
    struct transformer_tensor tensor;
    struct transformer_layout layout;
    struct transformer_state state;
    struct efficiency_device device; /* of the stage whose costs are computed */
    struct transformer_known *known; /* what is known of parts on that device; NULL: nothing is kept */
    struct layer_profile profile;    /* rows 0: none */
    uint32_t stages, workers, data, zero;
    uint32_t island;  /* data-parallel ranks that synchronise their gradients: all, or those of an island */
    uint32_t sharing; /* ranks that share what `zero` says: data-parallel ones, some of them where sharding is hybrid,
                         those along z of axonn-3d */
    uint32_t *layers; /* [stage] */
    uint32_t *layer_kinds; /* [layer, those that predict further tokens behind the last]: layers of the same number are
                              alike */
    uint32_t layer_kind_count;
    bool embedding_copied; /* the last stage needs the token embedding, and is on other workers than the first */
    struct transformer_division division;
    struct transformer_packing packing;
    struct transformer_tower_load towers[TRANSFORMER_TOWERS];
    struct transformer_tower_place place;
    struct transformer_device *kinds;    /* GPUs that are alike; a list */
    struct transformer_device **devices; /* [stage] */
    double peak;                         /* flop/s of a rank in the precision in use, mean over pipeline workers */
};

/* ---- devices.c ---- */

/* Parts whose costs have been computed: a block's layers of one kind cost the same. */
struct transformer_known {
    struct stagesim_part *(*parts)[TRANSFORMER_BLOCKS][TRANSFORMER_RECOMPUTES]; /* [kind][block][recompute] */
    uint32_t kinds;                                                             /* of them */
    double *(*factors)[TRANSFORMER_RECOMPUTES]; /* [kind][recompute]: of packed documents */
};

/* A kind of GPU that the job runs on. */
struct transformer_device {
    struct stagesim_device host;
    double narrow_peak; /* flop/s in numbers of 4 bits; 0: it has no units for them */
    struct efficiency efficiency;
    struct efficiency_device device;
    struct kernel_use kernels; /* table.models NULL: none */
    struct kernel_class_times classes;
    struct transformer_known known;
    struct transformer_device *next;
};

/* What each stage is computed on: fills kinds, devices and peak. Needs the number of stages. False with the mistake
 * reported. */
bool transformer_find_devices(struct transformer_job *job);
/* Frees them, half-filled ones too. */
void transformer_free_devices(struct transformer_job *job);
/* The job as costs of a stage are computed: on its device. */
struct transformer_job transformer_on_stage(const struct transformer_job *job, uint32_t stage);

/* ---- fields.c ---- */

extern const struct stagesim_field transformer_fields[];
extern const struct transformer_parameters transformer_defaults;

/* ---- needs.c ---- */

extern const struct stagesim_need transformer_needs[];

/* Reports what is wrong with a key. False where something is. */
static inline bool transformer_refuse(const struct transformer_job *job, bool wrong, const char *key, const char *text)
{
    if (wrong)
        job->api->error(job->job, key, "%s", text);
    return !wrong;
}

/* ---- checks.c: false with the mistakes reported ---- */

bool transformer_check_keys(const struct transformer_job *job);
/* Whether the model can be divided as the layout says. */
bool transformer_check_shape(const struct transformer_job *job);

/* ---- islands.c ---- */

/* Sets `island`, and cuts the axis data where there are several. False with the mistakes reported. */
bool transformer_set_islands(struct transformer_job *j);
/* Bytes that a rank holds for the outer steps of a stage. */
double transformer_outer_memory(const struct transformer_job *j, uint32_t stage);
/* What the lowering is told of islands; the axes' texts and arrays live until they are finished. */
struct transformer_islands {
    char within[40], experts[64], between[40];
    double *arrays[5]; /* [stage] */
};
void transformer_islands_begin(const struct transformer_job *j, struct transformer_islands *islands,
                               struct stagesim_pipeline *pipeline);
void transformer_islands_finish(struct transformer_islands *islands);

/* ---- check_kinds.c ---- */

/* Whether the sequence of kinds of layers can be, and can be divided as the layout says. */
bool transformer_check_kinds(const struct transformer_job *job);
/* Whether so many heads can share so many heads of keys and values, and tensor-parallel ranks either; `key` says both
 * or the latter. */
bool transformer_check_kv_heads(const struct transformer_job *job, const char *key, uint64_t heads, uint64_t kv_heads);

/* ---- block_part.c ---- */

/* Finds which layers are alike: fills layer_kinds, which the caller frees. False without memory. */
bool transformer_find_kinds(struct transformer_job *job);
/* The job as a layer has it: with its own model. */
struct transformer_job transformer_at_layer(const struct transformer_job *job, uint32_t layer);
/* What one block costs; `layer`: its number, or STAGESIM_NONE. */
struct stagesim_part transformer_part(const struct transformer_job *job, enum transformer_block block, uint32_t layer);

/* Seconds of exchanges before or behind a part; those of its first worker stand for all. */
double transformer_exchanges_seconds(const struct transformer_job *job, const struct stagesim_exchanges *exchanges);
/* Parameters on one rank, before any sharding among replicas: of a block, and of the routed experts of one layer. */
double transformer_block_parameters(const struct transformer_job *job, enum transformer_block block);
double transformer_expert_parameters(const struct transformer_job *job);

/* ---- tied.c: a token embedding that the first stage and the last one need ---- */

/* Sets embedding_copied. Needs the number of stages. */
void transformer_find_copies(struct transformer_job *job);
/* Parameters on one rank that the last stage holds as it predicts further tokens, whose embeddings it needs. */
double transformer_further_embedding(const struct transformer_job *job);
/* Bytes of a rank's gradient of the copies, as they are exchanged between the two stages; 0: there is one. */
double transformer_tied_gradient(const struct transformer_job *job);

/* ---- owners.c: with zero 1, ranks that update whole tensors ---- */

struct transformer_owners {
    struct stagesim_cost *buffers; /* what each of them broadcasts, those of equal size together, largest first */
    uint32_t count;
    double most; /* parameters of the one with most */
};

/* Whether ranks own whole tensors. */
bool transformer_owns_tensors(const struct transformer_job *job);
/* Those of a stage; the caller frees the buffers. */
struct transformer_owners transformer_find_owners(const struct transformer_job *job, uint32_t stage);
/* Whether tensors can have owners; false with the mistake reported. */
bool transformer_check_owners(const struct transformer_job *job);

/* Of a layer as the job has it. */
typedef double (*transformer_of_layer)(const struct transformer_job *at);

/* ---- tower_parts.c ---- */

/* Parts of the towers before the language model; parts that take their time and no more where one is frozen. `out` has
 * room for transformer_tower_part_count of them, of which the number is returned. */
uint32_t transformer_tower_part_count(const struct transformer_job *job);
uint32_t transformer_tower_parts(const struct transformer_job *on, struct stagesim_part *out);
/* Of the towers on a rank: their parameters, those of frozen ones, and what they keep for their backward. Sharing them:
 * ranks that hold the same. */
double transformer_tower_parameters(const struct transformer_job *job);
double transformer_frozen_tower_parameters(const struct transformer_job *job);
double transformer_tower_sharing(const struct transformer_job *job);
/* Seconds of an iteration that a rank computes towers: the mean of replicas, and of the one with most. */
struct transformer_tower_times {
    double mean, most;
};
struct transformer_tower_times transformer_tower_times(const struct transformer_job *job);
/* Bytes of the tokens that a replica's towers make of a micro-batch, or of their gradients, which a frozen tower does
 * not get. */
double transformer_tower_bytes(const struct transformer_job *job, bool gradients);
/* What the first stage of the language model exchanges for tokens of towers on stages of their own; `first`: its first
 * part. */
void transformer_receive_tokens(const struct transformer_job *job, struct stagesim_part *first);
/* The first stage with layers of the language model, which has its embedding. */
static inline uint32_t transformer_input_stage(const struct transformer_job *job)
{
    return job->place.own;
}
double transformer_tower_activation(const struct transformer_job *job);
/* Of a sample, flop of the towers of a model whose ranks share nothing: of frozen ones of the forward alone. */
double transformer_towers_flops(const struct transformer_job *job, const struct transformer_model *model);
/* Of a sample, flop that backwards of towers compute again, on a stage that holds them. */
double transformer_tower_repeated_flops(const struct transformer_job *on);
/* Of a layer of the tower that has most of what `of` says of a rank's micro-batch with most; 0: none is trained. */
double transformer_tower_largest(const struct transformer_job *job, transformer_of_layer of);

/* ---- tower_loads.c: images and sound of each sample ---- */

/* Whether towers can be, and can be divided as the layout says. False with the mistakes reported. */
bool transformer_check_towers(const struct transformer_job *job);
/* Fills job->place, and cuts the axis tensor where they have their own number of ranks. False with the mistake
 * reported. */
bool transformer_place_towers(struct transformer_job *job);
/* Whether the stages and their layers leave towers where they are to be. Needs both. */
bool transformer_check_tower_stages(const struct transformer_job *job);
/* Draws what is drawn, and puts the mean into job->model. False with the mistake reported. */
bool transformer_draw_towers(struct transformer_job *job);
void transformer_tower_loads_finish(struct transformer_job *job);
/* Whether micro-batches and ranks have unequal work in a tower. */
bool transformer_towers_vary(const struct transformer_job *job);

/* ---- stage_sums.c ---- */

/* Over the layers of a stage, those that predict further tokens included: their sum, and the largest. */
double transformer_stage_sum(const struct transformer_job *job, uint32_t stage, transformer_of_layer of);
double transformer_stage_largest(const struct transformer_job *job, uint32_t stage, transformer_of_layer of);
/* Bytes of a layer of those that a stage gathers one after the other (the largest kind of them), and how many these
 * are; `whole`: bytes of all that it gathers. */
double transformer_stage_gathered(const struct transformer_job *job, uint32_t stage, double whole, double *layers);
/* The first layer of a stage, and how many of those that predict further tokens it holds. */
uint32_t transformer_stage_first(const struct transformer_job *job, uint32_t stage);
uint32_t transformer_stage_further(const struct transformer_job *job, uint32_t stage);

/* By how many ranks what `zero` says is divided: all of an island that hold the same parameters, or with hybrid
 * sharding some of them; and of experts. */
double transformer_sharing_ranks(const struct transformer_job *j, bool experts);
/* Parameters of a stage as `zero` leaves them on a rank, if that is as far as `least`: of given ones, of all,
 * and of those that are trained. */
double transformer_held_of(const struct transformer_job *job, uint32_t least, double others, double experts);
double transformer_held(const struct transformer_job *job, uint32_t stage, uint32_t least);
double transformer_held_trained(const struct transformer_job *job, uint32_t stage, uint32_t least);
/* Parameters of a stage that are trained, on a rank that shares them with none: those of experts and all others, and
 * beside them those of towers with replicas of their own, as `zero` leaves them if that is as far as `least`. */
void transformer_trained(const struct transformer_job *job, uint32_t stage, double *others, double *experts);
double transformer_trained_tower(const struct transformer_job *job, uint32_t stage, uint32_t least);

/* Parameters of all adapters of a stage on one rank: those of routed experts, and all others. */
double transformer_stage_adapter_experts(const struct transformer_job *job, uint32_t stage);
double transformer_stage_adapters(const struct transformer_job *job, uint32_t stage);

/* ---- adapters.c: low-rank adapters beside frozen matrices ---- */

/* Takes gradients of frozen weights out of a block's backward, and adds the products of adapters, in the direction that
 * the list is of. */
void transformer_adapt(const struct transformer_job *at, enum transformer_block block, bool backward,
                       struct transformer_operators *operators);
/* Whether it is a product of weights, which has a shape; with groups: those of experts. */
bool transformer_is_product(const struct transformer_operator *operator);
/* Parameters of a block's adapters on one rank. */
double transformer_adapter_parameters(const struct transformer_job *at, enum transformer_block block);

/* ---- muon.c ---- */

/* Matrices that are trained: their elements, and flop and number of the products that make as many momenta orthogonal.
 */
struct transformer_matrices {
    double elements, flops, products;
};
/* Of a stage on one rank, before any sharding among replicas: those of routed experts, or all others. */
struct transformer_matrices transformer_stage_matrices(const struct transformer_job *job, uint32_t stage, bool experts);

/* ---- offload.c ---- */

/* Seconds that the host's part of an optimizer's step of so many parameters of a rank takes, transfers included. */
double transformer_offload_seconds(const struct transformer_job *job, double parameters);
/* Whether what is said of it is enough. False with the mistake reported. */
bool transformer_check_offload(const struct transformer_job *job);

/* ---- stages.c ---- */

/* Assigns layers to stages: job->layers, as the scenario says, evenly, or balanced. False with the mistake reported. */
bool transformer_assign_layers(struct transformer_job *job);
/* Lowers the pipeline with the costs of all stages. False with the mistake reported. */
bool transformer_lower(const struct transformer_job *job);

/* Parameters of a stage on one rank, before any sharding among replicas: those of routed experts, and all others. */
double transformer_stage_experts(const struct transformer_job *job, uint32_t stage);
double transformer_stage_parameters(const struct transformer_job *job, uint32_t stage);

extern const struct stagesim_workload transformer_workload;

#endif
