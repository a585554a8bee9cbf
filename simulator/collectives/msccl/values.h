/* SPDX-License-Identifier: Apache-2.0 */
/* What chunks hold while a program of MSCCL is carried out on names of chunks. */
#ifndef STAGESIM_MSCCL_VALUES_H
#define STAGESIM_MSCCL_VALUES_H

#include "base/arena.h"
#include "simulator/collectives/msccl/program.h"

#define VALUE_NOTHING UINT32_MAX

struct value {
    uint32_t chunk; /* VALUE_NOTHING: not written yet */
    uint64_t set[MSCCL_RANKS_MAX / 64];
};

/* Whether a collective only moves chunks. */
bool value_copies(enum stagesim_collective kind);
/* Whether a rank's part has been added up. */
bool value_has(const struct value *value, uint32_t rank);
/* One rank's part of a chunk. */
struct value value_part(uint32_t rank, uint32_t chunk);
bool value_same(const struct value *a, const struct value *b);
/* What a rank's input holds in the beginning; of what is only moved, every rank's chunks have numbers of their own. */
struct value value_input(const struct msccl_program *program, uint32_t rank, uint32_t chunk);
/* What the collective leaves in a rank's output; VALUE_NOTHING: anything. */
struct value value_output(const struct msccl_program *program, uint32_t rank, uint32_t chunk);
/* In words, for messages. Memory from the arena. */
const char *value_describe(const struct msccl_program *program, struct arena *arena, const struct value *value);

#endif
