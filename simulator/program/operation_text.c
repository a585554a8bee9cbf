/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/operation_text.h"

#include "base/arena.h"

#include <stdio.h>

static const char *stream_name(const struct stream *stream, struct arena *arena)
{
    switch (stream->type) {
    case OPERATION_SEND:
        return arena_print(arena, "send:%u:%s", stream->peer, kind_name(stream->kind));
    case OPERATION_RECEIVE:
        return arena_print(arena, "receive:%u:%s", stream->peer, kind_name(stream->kind));
    case OPERATION_COLLECTIVE:
        return arena_print(arena, "collective:%u", stream->peer);
    case OPERATION_DELAY:
        return arena_print(arena, "delay:%u", stream->peer);
    default:
        return "compute";
    }
}

const char ***stream_names_create(const struct program *program, struct arena *arena)
{
    const char ***names = arena_array(arena, program->mesh->positions, sizeof *names);
    for (uint32_t i = 0; i < program->mesh->positions; i++) {
        const struct position *position = &program->positions[i];
        names[i] = arena_array(arena, position->stream_count, sizeof **names);
        for (uint32_t k = 0; k < position->stream_count; k++)
            names[i][k] = stream_name(&position->streams[k], arena);
    }
    return names;
}

/* "3.1a", or what of it there is. */
static int identity_text(char *text, size_t size, uint16_t stage, uint32_t micro_batch, uint8_t part)
{
    static const char *const parts[] = {"", "a", "b"};
    if (micro_batch == MICRO_BATCH_NONE)
        return stage == STAGE_NONE ? 0 : snprintf(text, size, "%u", stage);
    if (stage == STAGE_NONE)
        return snprintf(text, size, "m%u%s", micro_batch, parts[part]);
    return snprintf(text, size, "%u.%u%s", stage, micro_batch, parts[part]);
}

const char *operation_text(char *text, const struct position *position, const struct operation *operation)
{
    char first[32] = "", second[32] = "";
    identity_text(first, sizeof first, operation->stage, operation->micro_batch, operation->part);
    const struct block *block = operation_block(position, operation);
    if (block)
        identity_text(second, sizeof second, block->stage, block->micro_batch, block->part);
    snprintf(text, OPERATION_TEXT_MAX, "%s%s%s%s%s", kind_name(operation->kind), *first ? " " : "", first,
             *second ? "+" : "", second);
    return text;
}
