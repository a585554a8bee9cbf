/* SPDX-License-Identifier: Apache-2.0 */
/* The workload `dlrm`: recommendation models of embedding tables and dense layers (Naumov et al. 2019, arXiv
 * 1906.00091). Tables are divided among the ranks, dense layers replicated. Its parameters, and how its sources hand
 * the job to one another. Documented in doc/dlrm.md. */
#ifndef STAGESIM_DLRM_H
#define STAGESIM_DLRM_H

#include "abi/workload.h"
#include "workloads/dlrm/lookup.h"
#include "workloads/dlrm/placement.h"
#include "workloads/transformer/device.h"

enum dlrm_interaction { DLRM_DOT, DLRM_CROSS, DLRM_CONCAT };
enum dlrm_optimizer { DLRM_SGD, DLRM_ADAGRAD, DLRM_ROWWISE_ADAGRAD, DLRM_ADAM };
enum dlrm_exchange_precision { DLRM_EXCHANGE_SAME, DLRM_EXCHANGE_FP32 };
/* Bits: what runs as one kernel. */
enum dlrm_fused { DLRM_FUSED_INTERACTION = 1, DLRM_FUSED_MLP = 2, DLRM_FUSED_LOOKUP = 4 };
/* What a rank with a part of a table's rows sends: sums of all samples, or of those with a row there. */
enum dlrm_partial { DLRM_PARTIAL_ALL, DLRM_PARTIAL_PRESENT };
/* Sums of parts of a table on one node: each goes to other nodes, or they are added on their node first. */
enum dlrm_node_sums { DLRM_NODE_APART, DLRM_NODE_ADDED };

/* A row of dlrm.sharding. */
struct dlrm_rule {
    const char *table; /* a pattern of names */
    unsigned split;    /* enum dlrm_split */
    const char *ranks; /* as dlrm_ranks_parse reads it; NULL: all of them */
};

/* A row of model.histogram. */
struct dlrm_occurrences {
    const char *table; /* a pattern of names */
    double occurrences, rows;
};

/* What the field table fills. */
struct dlrm_parameters {
    struct stagesim_rows tables, rules, histogram;
    struct stagesim_list bottom, top;
    unsigned interaction, optimizer, exchange, fused, partial, node_sums, precision;
    uint64_t cross_layers, cross_rank;
    uint64_t node; /* ranks of a node; 0: all-to-alls go in one step */
    uint64_t published_parameters, published_rows, published_multiply_adds; /* 0: not checked */
    bool prefetch, overlap;
    double bucket;     /* bytes */
    double efficiency; /* 0: by the table */
    double launch;     /* seconds; negative: that of the table */
    const char *table, *lookups;
};

/* A dense layer on one rank, or the interaction. Times in seconds, sizes of all samples of the rank. */
struct dlrm_layer {
    char name[24];
    double parameters;
    double multiply_adds; /* of a sample's forward */
    double forward, backward;
    double forward_flops, backward_flops;
    double activation; /* bytes kept from forward to backward */
    double bound;      /* the part of forward and backward for which memory, not arithmetic, sets the pace */
};

/* What tables cost a rank. */
struct dlrm_rank {
    double lookup, update;    /* seconds */
    double sums;              /* numbers of a sample that it sends to the sample's rank */
    double indices;           /* lookups of a sample whose indices it needs */
    double moved;             /* bytes that come from host memory for a batch, and go back */
    double parameters, state; /* numbers; optimizer's state, numbers */
    double hits, lookups;     /* rows that the cache holds, and all rows that it reads for a batch */
};

/* The job while it is built. */
struct dlrm_job {
    const struct dlrm_parameters *parameters;
    struct stagesim_job *job;
    const struct stagesim_api *api;
    struct dlrm_table *tables; /* with all defaults filled in */
    uint32_t table_count;
    double *unique[2]; /* [table]: different rows that the batch of all ranks reads, and that of one rank */
    struct dlrm_placement placement;
    uint32_t ranks;
    double samples, batch; /* of a rank; of all ranks */
    double width;          /* what the interaction reads of each table, and of the bottom layers */
    double element_bytes, exchange_bytes;
    struct efficiency efficiency;
    struct efficiency_device device;
    struct memory_curve curve;
    struct dlrm_layer *layers; /* bottom layers, the interaction, top layers with the loss */
    uint32_t layer_count, bottom_count;
};

/* ---- model.c ---- */

/* A table of the parameters with what was not given filled in: the model's width, and its histogram's share of
 * different rows. */
struct dlrm_table dlrm_table_of(const struct dlrm_parameters *parameters, size_t index);
/* Fills tables, width and placement from the parameters, and checks them. False with the mistakes reported; what is
 * filled is to be freed by dlrm_model_finish in both cases. */
bool dlrm_model_describe(struct dlrm_job *job);
void dlrm_model_finish(struct dlrm_job *job);
/* Fills the placement alone, from the parameters' rules, the tables and the number of ranks. False with the mistakes
 * reported by `api`, which rules that were described before do without. dlrm_placement_finish frees it. */
bool dlrm_model_place(struct dlrm_job *job);
/* Whether the published counts are those of the layers and tables; reports where not. */
bool dlrm_model_check_counts(const struct dlrm_job *job);

/* ---- dense.c ---- */

/* Fills `layers` with shapes and costs on the device. */
void dlrm_dense_describe(struct dlrm_job *job);
double dlrm_dense_parameters(const struct dlrm_job *job);
double dlrm_dense_multiply_adds(const struct dlrm_job *job);
/* Seconds of the optimizer's step over that many dense parameters. */
double dlrm_dense_update(const struct dlrm_job *job, double parameters);

/* ---- sparse.c ---- */

/* What the tables cost a rank. */
struct dlrm_rank dlrm_sparse_cost(const struct dlrm_job *job, uint32_t rank);
/* Numbers of optimizer state per number of a table's row. */
double dlrm_sparse_state(const struct dlrm_job *job, const struct dlrm_table *table);
/* Seconds of lookups that move as many bytes: by the measured curve of the device, or by its efficiency table. */
double dlrm_sparse_seconds(const struct dlrm_job *job, double bytes);
/* Copies of a replicated table exchange its gradient: as an all-reduce of the whole table, or as an all-gather of the
 * rows that each rank touched, with their indices, where a rank sends less so. Returns the bytes of all tables for
 * which it is this collective. */
double dlrm_sparse_replicas(const struct dlrm_job *job, enum stagesim_collective collective);
/* Numbers of a sample of tables whose rows are divided among all ranks: their sums are reduced and scattered. */
double dlrm_sparse_reduced(const struct dlrm_job *job);
/* Whether sums are added on their node before they go to others. */
bool dlrm_sparse_adds(const struct dlrm_job *job);
/* Numbers of a sample that ranks[first .. first + count) have together when sums of parts of a table are added. */
double dlrm_sparse_added(const struct dlrm_job *job, uint32_t first, uint32_t count);
/* Seconds in which a rank adds: it reads `parts` numbers and writes `sums`. */
double dlrm_sparse_add_seconds(const struct dlrm_job *job, double parts, double sums);

/* ---- iteration.c ---- */

/* Adds all operations. False with the mistake reported. */
bool dlrm_build(struct dlrm_job *job);

extern const struct stagesim_workload dlrm_workload;

#endif
