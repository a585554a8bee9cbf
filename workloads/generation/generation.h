/* SPDX-License-Identifier: Apache-2.0 */
/* An engine that generates tokens with a transformer: what it holds, and how long one of its steps takes, by a roofline
 * of weights, cache and products. Documented in doc/serving.md. */
#ifndef STAGESIM_GENERATION_H
#define STAGESIM_GENERATION_H

#include "abi/workload.h"
#include "workloads/kernels/kernel_table.h"
#include "workloads/transformer/kinds/model.h"

#include <stdbool.h>

struct arena;

/* FP8_BLOCK: scales of 128 x 128 elements, as DeepSeek's weights have them. */
enum generation_type { GENERATION_BF16, GENERATION_FP8, GENERATION_FP4, GENERATION_FP8_BLOCK, GENERATION_TYPES };
extern const char *const generation_type_names[GENERATION_TYPES + 1]; /* NULL-terminated */

/* How an engine is divided among tensor * data * pipeline GPUs. */
struct generation_layout {
    uint32_t tensor, pipeline;
    uint32_t data;   /* replicas of all but the experts, with sequences of their own; they take their steps together */
    uint32_t expert; /* of tensor * data ranks those among which experts are divided; the others divide each of them */
};

struct generation_device {
    double memory, bandwidth;           /* bytes, bytes/s */
    double peak, wide_peak;             /* flop/s of products with weights of their type, and of those in 16 bits */
    double memory_share, compute_share; /* of both that products reach */
    double cache_share;                 /* of the bandwidth that attention reaches */
    double expert_share;                /* of both that grouped products of experts reach */
    double skew;             /* coefficient of variation of the tokens that experts get; 0: all get as many */
    double launch;           /* seconds of each operator */
    double expert_launch;    /* seconds of each grouped product of experts */
    double attention_launch; /* seconds of attention over the cache, where it was not measured */
    double host;             /* seconds of a step, or of each stage's, beside its operators */
    double sequence;         /* seconds of the host's work for a sequence, while the device computes */
    double waits;            /* the same, while the device waits */
    double eager;            /* seconds in which the host launches an operator of a step that has prompts */
    const struct kernel_table *kernels; /* measured kernels; NULL: none */
    const char *library;                /* whose kernels these are */
    const struct kernel_model *experts; /* of expert layers that it measured; NULL: none */
    const struct kernel_model *prompts; /* of attention within prompts, of any library; NULL: not measured */
    double measured_peak;               /* flop/s of the type in which these were */
    enum kernel_type expert_type;       /* of the engine's weights */
    double expert_reach;                /* of the shares that these reach */
};

enum generation_exchange { GENERATION_SUM, GENERATION_EXPERTS, GENERATION_STAGE, GENERATION_EXCHANGES };

/* Seconds of an all-reduce along tensor, of an all-to-all among the ranks of experts, of a message to the next stage,
 * of so many bytes. */
struct generation_network {
    double (*seconds)(void *user, enum generation_exchange exchange, double bytes);
    void *user;
};

struct generation_request {
    const struct transformer_model *model; /* complete */
    struct generation_layout layout;
    enum generation_type weights, cache;
    double speculative; /* further tokens of a sequence that a step checks */
    double draft;       /* seconds in which each of them is guessed */
    struct generation_device device;
    struct generation_network network;
};

/* What a step of the whole engine does. */
struct generation_step {
    double decoding; /* sequences that go on by a token */
    double context;  /* tokens in their caches, all together */
    double prefill;  /* tokens of prompts */
    double pieces;   /* prompts that they are of */
    double pairs;    /* of these tokens and those that each of them meets */
    double sampled;  /* tokens that are drawn: of sequences that go on, and of prompts that end */
};

/* Of a step, what it takes by what. */
struct generation_parts {
    double weights, cache, exchange, host; /* products with weights; attention; transfers; the rest */
};

struct generation;

/* NULL with the fault filled where the model cannot be generated with, or divided so. Memory from the arena. */
struct generation *generation_create(const struct generation_request *request, struct arena *arena,
                                     struct fault *fault);

/* Of a GPU, the one that has the most: bytes of weights; and of one token and one sequence in the cache, where none is
 * longer than so many tokens: what layers with a shorter window keep counts as the sequence's. */
double generation_weights(const struct generation *generation);
double generation_token_bytes(const struct generation *generation, double longest);
double generation_sequence_bytes(const struct generation *generation, double longest);

/* Whose measured kernels attention over the cache is, of the first layers that have any; NULL: it was not measured. */
const char *generation_attention_source(const struct generation *generation);

/* Seconds of a step; *parts where it is not NULL. */
double generation_seconds(struct generation *generation, const struct generation_step *step,
                          struct generation_parts *parts);
/* What no engine is faster than: the larger of all bytes that a GPU reads over its bandwidth and all flop over its
 * peak. */
double generation_least(struct generation *generation, const struct generation_step *step);

#endif
