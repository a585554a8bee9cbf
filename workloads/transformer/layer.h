/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a layer, with what ranks exchange that share its sequence (context parallelism) or its experts.
 * Documented in doc/context-parallel.md and doc/expert-parallel.md. */
#ifndef STAGESIM_TRANSFORMER_LAYER_H
#define STAGESIM_TRANSFORMER_LAYER_H

#include "abi/workload.h"

struct transformer_job;

/* How keys and values reach the ranks that share a sequence: as one all-gather (Llama 3), block by block around a ring
 * (Liu et al. 2023, "Ring Attention", arXiv 2310.01889), or not at all: ranks exchange parts of the sequence for some
 * heads of all of it (Jacobs et al. 2023, "DeepSpeed Ulysses", arXiv 2309.14509). */
enum context_method { CONTEXT_GATHER, CONTEXT_RING, CONTEXT_HEADS };
extern const char *const context_method_names[];

/* In which precision tokens travel to their experts; back they travel as they were computed. */
enum dispatch_precision { DISPATCH_SAME, DISPATCH_FP8 };
extern const char *const dispatch_precision_names[];

/* By which library tokens travel: as all-to-alls, or by DeepEP or Hybrid-EP. These send a token once to each rank that
 * has some of its experts, and forward within a node what has come from others while more arrives. */
enum expert_exchange { EXCHANGE_ALL_TO_ALL, EXCHANGE_DEEPEP };
extern const char *const expert_exchange_names[];

/* As the scenario gives it. */
struct transformer_routing {
    unsigned context_method, dispatch, exchange; /* enum context_method, dispatch_precision, expert_exchange */
    bool context_balance; /* each rank has a chunk of the beginning and the one as far from the end */
    bool expert_overlap;  /* tokens travel to their experts while shared experts compute */
    double expert_hidden; /* share of their bytes that travels beside a block of a forward and a backward */
    double capacity_factor, expert_imbalance;
    struct stagesim_list expert_tokens; /* of each rank of an expert group; count 0: not given */
    double expert_skew;                 /* tokens of the k-th expert: k to the power of minus this */
    uint64_t expert_seed;               /* which expert is the k-th */
    uint64_t expert_node;               /* ranks of an expert group in one node; 0: all the same */
};

/* What follows from it. */
struct transformer_division {
    double *context_factors,
        *expert_factors; /* [coordinate]: how much longer than the mean a rank computes; NULL: all the same */
    char *node,
        *nodes; /* axes of the ranks of an expert group in one node, and of those in the same place of all its nodes */
    double busiest; /* tokens of the busiest rank's experts over the mean */
};

enum { LAYER_PARTS_MAX = 8 };

/* Checks the routing against model and mesh, and fills j->division. False with the mistakes reported. */
bool transformer_divide(struct transformer_job *j);
void transformer_division_finish(struct transformer_division *division);
/* Bytes that a rank holds of others' while a layer runs, of which the job has the model; with a shared sequence. */
double transformer_shared_buffer(const struct transformer_job *at);
/* Adds one where there is room. */
void transformer_add_exchange(struct stagesim_exchanges *exchanges, struct stagesim_exchange exchange);
/* The parts of one layer in the order of the forward, of which there are at most LAYER_PARTS_MAX; returns how many. */
uint32_t transformer_layer_parts(const struct transformer_job *j, uint32_t layer, struct stagesim_part *out);

#endif
