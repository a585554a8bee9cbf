/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a model's weights a rank of one layout has, and which of them a rank of another needs. */
#ifndef STAGESIM_GENERATION_RESHARD_H
#define STAGESIM_GENERATION_RESHARD_H

#include "workloads/transformer/kinds/model.h"

#include <stdbool.h>

struct arena;

/* Rank (stage * data + replica) * tensor + t has a stage's layers. Of the tensor * data ranks of a stage, rank r has
 * slice r % expert_tensor of the experts of group r / expert_tensor % expert; the groups are neighbours. */
struct reshard_layout {
    uint32_t tensor, data, pipeline, expert, expert_tensor;
    bool sharded; /* replicas share what each of them would have; then no experts are divided beside tensor */
};

/* Bytes. */
struct reshard_layer {
    double whole, divided; /* on all ranks of a stage; shared along tensor */
    double expert;         /* of one of them */
    uint32_t experts;
};

struct reshard_model {
    struct reshard_layer *layers;
    uint32_t count;
    double first, last; /* input and output, shared along tensor; tied: one matrix, `last`, on both stages */
    double first_whole, last_whole; /* beside these, on all ranks of the stage: positions, the last norm */
    bool tied;
};

/* Of a complete model, with so many bytes an element. Memory from the arena. */
struct reshard_model reshard_model_of(const struct transformer_model *model, double element, struct arena *arena);
uint32_t reshard_ranks(const struct reshard_layout *layout);
double reshard_bytes(const struct reshard_model *model);
/* What a rank has, and what a rank of each of two layouts have in common. */
double reshard_held(const struct reshard_model *model, const struct reshard_layout *layout, uint32_t rank);
double reshard_common(const struct reshard_model *model, const struct reshard_layout *from, uint32_t source,
                      const struct reshard_layout *to, uint32_t target);
/* What of it a source sends where all sources that have the same share the work. */
double reshard_sent(const struct reshard_model *model, const struct reshard_layout *from, uint32_t source,
                    const struct reshard_layout *to, uint32_t target);

#endif
