/* SPDX-License-Identifier: Apache-2.0 */
/* From what was added one by one to arrays in the order in which engines read them. */
#include "simulator/program/program.h"

#include "base/arena.h"
#include "simulator/program/program_draft.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void *copy_array(struct arena *arena, const void *items, size_t count, size_t size)
{
    void *copy = arena_array_unset(arena, count ? count : 1, size);
    if (count)
        memcpy(copy, items, count * size);
    return copy;
}

/* What laying out needs room for, of the position with the most operations. */
struct layout {
    uint32_t *renamed;    /* [old id]: new id */
    uint32_t *first_wait; /* [new id], and one more */
};

static struct layout layout_create(const struct program_builder *builder)
{
    size_t most = 0, capacity = 0;
    for (uint32_t position = 0; position < builder->mesh->positions; position++)
        if (builder->positions[position].operation_count > most)
            most = builder->positions[position].operation_count;
    struct layout layout = {.renamed = array_grow(NULL, &capacity, most + 1, sizeof *layout.renamed)};
    capacity = 0;
    layout.first_wait = array_grow(NULL, &capacity, most + 1, sizeof *layout.first_wait);
    return layout;
}

/* New ids by stream. */
static void renumber(const struct draft_position *draft, struct position *position, uint32_t *renamed)
{
    uint32_t first = 0;
    size_t capacity = 0;
    uint32_t *next = array_grow(NULL, &capacity, draft->stream_count, sizeof *next);
    for (size_t i = 0; i < draft->stream_count; i++) {
        next[i] = position->streams[i].first = first;
        first += position->streams[i].count;
    }
    for (size_t old = 0; old < draft->operation_count; old++) {
        renamed[old] = next[draft->operations[old].stream]++;
        position->operations[renamed[old]] = draft->operations[old];
    }
    position->operations[draft->operation_count] = (struct operation){0};
    free(next);
}

/* Counting sorts of the waits, by who waits and by what is awaited; they keep the order in which waits were added. The
 * draft's waits get the new ids. */
static void lay_out_waits(struct draft_position *draft, struct position *position, const struct layout *layout)
{
    uint32_t operations = position->operation_count, waits = 0, dependents = 0;
    uint32_t *first_wait = layout->first_wait, *first_dependent = position->first_dependent;
    memset(first_wait, 0, ((size_t)operations + 1) * sizeof *first_wait);
    memset(first_dependent, 0, ((size_t)operations + 1) * sizeof *first_dependent);
    for (size_t i = 0; i < draft->wait_count; i++) {
        struct wait *wait = &draft->waits[i];
        *wait = (struct wait){layout->renamed[wait->operation], layout->renamed[wait->awaited]};
        first_wait[wait->operation]++;
        first_dependent[wait->awaited]++;
    }
    for (uint32_t id = 0; id <= operations; id++) { /* where each one's end, from which they are filled */
        first_wait[id] = waits += first_wait[id];
        first_dependent[id] = dependents += first_dependent[id];
    }
    for (size_t i = draft->wait_count; i-- > 0;) {
        struct wait wait = draft->waits[i];
        position->waits[--first_wait[wait.operation]] = wait.awaited;
        position->dependents[--first_dependent[wait.awaited]] = wait.operation;
    }
    for (uint32_t id = 0; id <= operations; id++)
        position->operations[id].first_wait = first_wait[id];
}

static void lay_out_position(struct program_builder *builder, struct draft_position *draft, struct position *position,
                             const struct layout *layout, struct arena *arena)
{
    assert(draft->stream_count <= PROGRAM_STREAMS_MAX && draft->operation_count < UINT32_MAX);
    position->stream_count = (uint32_t)draft->stream_count;
    position->streams = copy_array(arena, draft->streams, draft->stream_count, sizeof *draft->streams);
    position->operation_count = (uint32_t)draft->operation_count;
    position->operations = arena_array_unset(arena, draft->operation_count + 1, sizeof *position->operations);
    position->memory = draft->memory;
    renumber(draft, position, layout->renamed);
    position->wait_count = (uint32_t)draft->wait_count;
    position->waits = arena_array_unset(arena, draft->wait_count + 1, sizeof *position->waits);
    position->dependents = arena_array_unset(arena, draft->wait_count + 1, sizeof *position->dependents);
    position->first_dependent = arena_array_unset(arena, draft->operation_count + 1, sizeof *position->first_dependent);
    lay_out_waits(draft, position, layout);
    position->block_count = (uint32_t)draft->block_count;
    position->blocks = copy_array(arena, draft->blocks, draft->block_count, sizeof *draft->blocks);
    for (uint32_t i = 0; i < position->block_count; i++)
        position->blocks[i].operation = layout->renamed[position->blocks[i].operation];
    program_draft_finish(builder, draft);
    *draft = (struct draft_position){.table = draft->table};
}

static uint32_t opposite_stream(const struct program_builder *builder, const struct program *program, uint32_t peer,
                                enum operation_type type, uint32_t index, uint8_t kind)
{
    const struct position *position = &program->positions[peer];
    uint32_t stream = stream_table_find(&builder->positions[peer].table, position->streams, position->stream_count,
                                        type, index, kind);
    assert(stream != UINT32_MAX); /* a message stream has its opposite */
    return stream;
}

static void link_streams(const struct program_builder *builder, struct program *program, uint32_t index)
{
    struct position *position = &program->positions[index];
    for (uint32_t i = 0; i < position->stream_count; i++) {
        struct stream *stream = &position->streams[i];
        if (stream->type == OPERATION_SEND)
            stream->opposite = opposite_stream(builder, program, stream->peer, OPERATION_RECEIVE, index, stream->kind);
        else if (stream->type == OPERATION_RECEIVE)
            stream->opposite = opposite_stream(builder, program, stream->peer, OPERATION_SEND, index, stream->kind);
        else if (stream->type == OPERATION_COLLECTIVE)
            program->groups[stream->peer].collective_count = stream->count;
    }
}

struct program *program_finish(struct program_builder *builder, struct arena *arena)
{
    struct program *program = arena_alloc(arena, sizeof *program);
    uint32_t positions = builder->mesh->positions;
    *program = (struct program){
        .mesh = builder->mesh,
        .costs = copy_array(arena, builder->costs, builder->cost_count, sizeof *builder->costs),
        .cost_count = (uint32_t)builder->cost_count,
        .variation_of = copy_array(arena, builder->variation_of, builder->cost_count, sizeof(uint32_t)),
        .variations = copy_array(arena, builder->variations, builder->variation_count, sizeof *builder->variations),
        .variation_count = (uint32_t)builder->variation_count,
        .pairs_of = copy_array(arena, builder->pairs_of, builder->cost_count, sizeof(uint32_t)),
        .pairs = copy_array(arena, builder->pairs, builder->pairs_count, sizeof *builder->pairs),
        .pairs_count = (uint32_t)builder->pairs_count,
        .groups = copy_array(arena, builder->groups, builder->group_count, sizeof *builder->groups),
        .group_count = (uint32_t)builder->group_count,
        .positions = arena_array(arena, positions, sizeof *program->positions),
        .iterations = 1,
        .period = 1};
    for (uint32_t group = 0; group < program->group_count; group++)
        program->groups[group].positions =
            copy_array(arena, builder->groups[group].positions, builder->groups[group].position_count,
                       sizeof *builder->groups[group].positions);
    for (uint32_t i = 0; i < program->variation_count; i++)
        program->variations[i].factors =
            copy_array(arena, builder->variations[i].factors, mesh_product(builder->mesh, builder->variations[i].axes),
                       sizeof(double));
    for (uint32_t i = 0; i < program->pairs_count; i++)
        program->pairs[i] = pair_bytes_copy(&builder->pairs[i], arena);
    struct layout layout = layout_create(builder);
    for (uint32_t position = 0; position < positions; position++)
        lay_out_position(builder, &builder->positions[position], &program->positions[position], &layout, arena);
    free(layout.renamed);
    free(layout.first_wait);
    for (uint32_t position = 0; position < positions; position++)
        link_streams(builder, program, position);
    return program;
}

const struct block *operation_block(const struct position *position, const struct operation *operation)
{
    uint32_t id = (uint32_t)(operation - position->operations), low = 0, high = position->block_count;
    if (!operation->is_block)
        return NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (position->blocks[middle].operation < id)
            low = middle + 1;
        else
            high = middle;
    }
    return &position->blocks[low];
}
