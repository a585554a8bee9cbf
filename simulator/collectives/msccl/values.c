/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/msccl/values.h"

#include <string.h>

bool value_copies(enum stagesim_collective kind)
{
    return kind == STAGESIM_ALL_GATHER || kind == STAGESIM_ALL_TO_ALL || kind == STAGESIM_BROADCAST;
}

bool value_has(const struct value *value, uint32_t rank)
{
    return value->set[rank / 64] >> rank % 64 & 1;
}

struct value value_part(uint32_t rank, uint32_t chunk)
{
    struct value value = {.chunk = chunk};
    value.set[rank / 64] = 1ull << rank % 64;
    return value;
}

bool value_same(const struct value *a, const struct value *b)
{
    return a->chunk == b->chunk && (a->chunk == VALUE_NOTHING || !memcmp(a->set, b->set, sizeof a->set));
}

/* What a rank's input holds in the beginning; of what is only moved, every rank's chunks have numbers of their own. */
struct value value_input(const struct msccl_program *program, uint32_t rank, uint32_t chunk)
{
    if (program->kind == STAGESIM_BROADCAST)
        return rank == 0 ? value_part(0, chunk) : (struct value){.chunk = VALUE_NOTHING};
    return value_part(rank, value_copies(program->kind) ? rank * program->length[MSCCL_INPUT] + chunk : chunk);
}

/* What the collective leaves in a rank's output; VALUE_NOTHING: anything. */
struct value value_output(const struct msccl_program *program, uint32_t rank, uint32_t chunk)
{
    uint32_t part = program->chunks / program->ranks;
    switch (program->kind) {
    case STAGESIM_ALL_GATHER:
        return value_part(chunk / part, chunk);
    case STAGESIM_ALL_TO_ALL:
        return value_part(chunk / part, chunk / part * program->chunks + rank * part + chunk % part);
    case STAGESIM_BROADCAST:
        return value_part(0, chunk);
    default:
        break;
    }
    struct value all = {.chunk = program->kind == STAGESIM_REDUCE_SCATTER ? rank * part + chunk : chunk};
    if (program->kind == STAGESIM_REDUCE && rank)
        all.chunk = VALUE_NOTHING;
    for (uint32_t other = 0; other < program->ranks; other++)
        all.set[other / 64] |= 1ull << other % 64;
    return all;
}

const char *value_describe(const struct msccl_program *program, struct arena *arena, const struct value *value)
{
    uint32_t source = 0, missing = 0, length = program->length[MSCCL_INPUT], ranks = program->ranks;
    if (value->chunk == VALUE_NOTHING)
        return "nothing";
    while (!value_has(value, source))
        source++;
    if (program->kind == STAGESIM_BROADCAST)
        return arena_print(arena, "chunk %u", value->chunk);
    if (value_copies(program->kind))
        return arena_print(arena, "chunk %u of GPU %u", value->chunk % length, source);
    while (missing < ranks && value_has(value, missing))
        missing++;
    struct value alone = value_part(source, value->chunk);
    if (missing == ranks)
        return arena_print(arena, "chunk %u added up over all GPUs", value->chunk);
    if (value_same(value, &alone))
        return arena_print(arena, "chunk %u of GPU %u alone", value->chunk, source);
    return arena_print(arena, "chunk %u added up without GPU %u", value->chunk, missing);
}
