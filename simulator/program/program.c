/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/program.h"

#include "simulator/program/program_draft.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "simulator/program/stream_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct program_builder *program_builder_create(const struct mesh *mesh)
{
    size_t capacity = 0;
    struct program_builder *builder = array_grow(NULL, &capacity, 1, sizeof *builder);
    *builder = (struct program_builder){.mesh = mesh};
    capacity = 0;
    builder->positions = array_grow(NULL, &capacity, mesh->positions, sizeof *builder->positions);
    for (uint32_t position = 0; position < mesh->positions; position++) {
        struct draft_position *draft = &builder->positions[position];
        *draft = (struct draft_position){0};
        draft->streams = array_grow(NULL, &draft->stream_capacity, 1, sizeof *draft->streams);
        draft->streams[draft->stream_count++] = (struct stream){.type = OPERATION_COMPUTE};
    }
    return builder;
}

void program_draft_finish(struct program_builder *builder, struct draft_position *draft)
{
    bulk_pool_free(&builder->drafts, draft->operations, draft->operation_capacity * sizeof *draft->operations);
    bulk_pool_free(&builder->drafts, draft->waits, draft->wait_capacity * sizeof *draft->waits);
    free(draft->streams);
    free(draft->blocks);
}

void program_builder_destroy(struct program_builder *builder)
{
    if (!builder)
        return;
    for (uint32_t position = 0; position < builder->mesh->positions; position++) {
        program_draft_finish(builder, &builder->positions[position]);
        stream_table_finish(&builder->positions[position].table);
    }
    for (size_t group = 0; group < builder->group_count; group++)
        free(builder->groups[group].positions);
    free(builder->positions);
    bulk_pool_finish(&builder->drafts);
    free(builder->groups);
    for (size_t variation = 0; variation < builder->variation_count; variation++)
        free(builder->variations[variation].factors);
    free(builder->variations);
    free(builder->variation_of);
    for (size_t pairs = 0; pairs < builder->pairs_count; pairs++)
        pair_bytes_finish(&builder->pairs[pairs]);
    free(builder->pairs);
    free(builder->pairs_of);
    free(builder->costs);
    free(builder);
}

struct program_size program_size_of(const struct program_builder *builder, uint32_t position)
{
    const struct draft_position *draft = &builder->positions[position];
    return (struct program_size){draft->operation_count, draft->wait_count};
}

void program_expect(struct program_builder *builder, uint32_t position, size_t operations, size_t waits)
{
    struct draft_position *draft = &builder->positions[position];
    draft->operations = bulk_pool_grow(&builder->drafts, draft->operations, &draft->operation_capacity,
                                       draft->operation_count + operations, sizeof *draft->operations);
    draft->waits = bulk_pool_grow(&builder->drafts, draft->waits, &draft->wait_capacity, draft->wait_count + waits,
                                  sizeof *draft->waits);
}

uint32_t program_add_cost(struct program_builder *builder, const struct stagesim_cost *cost)
{
    builder->costs =
        array_grow(builder->costs, &builder->cost_capacity, builder->cost_count + 1, sizeof *builder->costs);
    builder->variation_of = array_grow(builder->variation_of, &builder->variation_of_capacity, builder->cost_count + 1,
                                       sizeof *builder->variation_of);
    builder->costs[builder->cost_count] = *cost;
    builder->variation_of[builder->cost_count] = VARIATION_NONE;
    builder->pairs_of =
        array_grow(builder->pairs_of, &builder->pairs_of_capacity, builder->cost_count + 1, sizeof *builder->pairs_of);
    builder->pairs_of[builder->cost_count] = PAIRS_NONE;
    return (uint32_t)builder->cost_count++;
}

uint32_t program_add_variation(struct program_builder *builder, uint32_t axes, const double *factors)
{
    uint32_t count = mesh_product(builder->mesh, axes);
    builder->variations = array_grow(builder->variations, &builder->variation_capacity, builder->variation_count + 1,
                                     sizeof *builder->variations);
    struct variation *variation = &builder->variations[builder->variation_count];
    size_t capacity = 0;
    *variation = (struct variation){axes, array_grow(NULL, &capacity, count, sizeof *factors)};
    memcpy(variation->factors, factors, count * sizeof *factors);
    return (uint32_t)builder->variation_count++;
}

void program_vary_cost(struct program_builder *builder, uint32_t cost, uint32_t variation)
{
    builder->variation_of[cost] = variation;
}

uint32_t program_add_pairs_cost(struct program_builder *builder, const struct stagesim_cost *cost, uint32_t members,
                                const double *bytes)
{
    struct stagesim_cost sized = *cost;
    sized.bytes = pair_bytes_size(bytes, members);
    uint32_t id = program_add_cost(builder, &sized);
    builder->pairs =
        array_grow(builder->pairs, &builder->pairs_capacity, builder->pairs_count + 1, sizeof *builder->pairs);
    builder->pairs[builder->pairs_count] = pair_bytes_create(bytes, members);
    builder->pairs_of[id] = (uint32_t)builder->pairs_count++;
    builder->pairs_total += (uint64_t)members * members;
    return id;
}

uint32_t program_pairs_members(const struct program_builder *builder, uint32_t cost)
{
    uint32_t pairs = builder->pairs_of[cost];
    return pairs == PAIRS_NONE ? 0 : builder->pairs[pairs].members;
}

uint64_t program_pairs_total(const struct program_builder *builder)
{
    return builder->pairs_total;
}

uint32_t program_add_group(struct program_builder *builder, uint32_t axes, const uint32_t *positions, size_t count)
{
    builder->groups =
        array_grow(builder->groups, &builder->group_capacity, builder->group_count + 1, sizeof *builder->groups);
    struct group *group = &builder->groups[builder->group_count];
    *group = (struct group){.axes = axes, .position_count = (uint32_t)count};
    size_t capacity = 0;
    group->positions = array_grow(NULL, &capacity, count, sizeof *group->positions);
    memcpy(group->positions, positions, count * sizeof *positions);
    return (uint32_t)builder->group_count++;
}

/* The stream of that type, peer and kind; added when it is new. */
static uint32_t stream_find(struct draft_position *draft, enum operation_type type, uint32_t peer, uint8_t kind)
{
    uint32_t known = stream_table_find(&draft->table, draft->streams, draft->stream_count, type, peer, kind);
    if (known != UINT32_MAX)
        return known;
    draft->streams =
        array_grow(draft->streams, &draft->stream_capacity, draft->stream_count + 1, sizeof *draft->streams);
    draft->streams[draft->stream_count++] = (struct stream){.type = (uint8_t)type, .kind = kind, .peer = peer};
    stream_table_add(&draft->table, draft->streams, draft->stream_count);
    return (uint32_t)draft->stream_count - 1;
}

/* The same for an operation of some kind: mostly it goes where the last one of its kind went. */
static uint32_t stream_of(struct draft_position *draft, enum operation_type type, uint32_t peer, uint8_t stream_kind,
                          enum stagesim_kind kind)
{
    uint16_t *recent = &draft->recent[type][kind];
    if (!stream_is(&draft->streams[*recent], type, peer, stream_kind))
        *recent = (uint16_t)stream_find(draft, type, peer, stream_kind);
    return *recent;
}

static uint16_t narrow(uint32_t value)
{
    assert(value == STAGESIM_NONE || value < UINT16_MAX);
    return value == STAGESIM_NONE ? UINT16_MAX : (uint16_t)value;
}

static struct operation *operation_add(struct program_builder *builder, uint32_t position, enum operation_type type,
                                       uint32_t peer, uint8_t stream_kind, const struct stagesim_identity *identity,
                                       uint32_t cost)
{
    struct draft_position *draft = &builder->positions[position];
    uint32_t stream = stream_of(draft, type, peer, stream_kind, identity->kind);
    draft->streams[stream].count++;
    builder->operation_count++;
    draft->operations = bulk_pool_grow(&builder->drafts, draft->operations, &draft->operation_capacity,
                                       draft->operation_count + 1, sizeof *draft->operations);
    struct operation *operation = &draft->operations[draft->operation_count++];
    *operation = (struct operation){.type = type & 7,
                                    .kind = identity->kind & 31,
                                    .part = identity->part & 3,
                                    .stage = narrow(identity->stage),
                                    .layer = narrow(identity->layer),
                                    .micro_batch = identity->micro_batch,
                                    .pipeline = (uint16_t)identity->pipeline,
                                    .iteration = identity->iteration & (ITERATIONS_MAX - 1),
                                    .cost = cost,
                                    .stream = (uint16_t)stream};
    return operation;
}

static uint32_t newest(const struct draft_position *draft)
{
    return (uint32_t)draft->operation_count - 1;
}

uint32_t program_add_compute(struct program_builder *builder, uint32_t position, struct stagesim_identity identity,
                             uint32_t cost)
{
    struct draft_position *draft = &builder->positions[position];
    operation_add(builder, position, OPERATION_COMPUTE, 0, 0, &identity, cost);
    return newest(draft);
}

uint32_t program_next_compute(const struct program_builder *builder, uint32_t position, uint32_t operation)
{
    const struct draft_position *draft = &builder->positions[position];
    for (size_t id = (size_t)operation + 1; id < draft->operation_count; id++)
        if (draft->operations[id].type == OPERATION_COMPUTE)
            return (uint32_t)id;
    return UINT32_MAX;
}

void program_add_block(struct program_builder *builder, uint32_t position, struct block second)
{
    struct draft_position *draft = &builder->positions[position];
    size_t index = draft->operation_count;
    while (draft->operations[--index].type != OPERATION_COMPUTE) {}
    draft->operations[index].is_block = true;
    second.operation = (uint32_t)index;
    draft->blocks = array_grow(draft->blocks, &draft->block_capacity, draft->block_count + 1, sizeof *draft->blocks);
    draft->blocks[draft->block_count++] = second;
}

uint32_t program_add_delay(struct program_builder *builder, uint32_t position, uint32_t lane,
                           struct stagesim_identity identity, uint32_t cost)
{
    struct draft_position *draft = &builder->positions[position];
    operation_add(builder, position, OPERATION_DELAY, lane, 0, &identity, cost);
    return newest(draft);
}

void program_add_message(struct program_builder *builder, uint32_t from, uint32_t to, struct stagesim_identity identity,
                         uint32_t cost, uint32_t *send, uint32_t *receive)
{
    assert(from != to || identity.kind == STAGESIM_OFFLOAD || identity.kind == STAGESIM_LOAD);
    operation_add(builder, from, OPERATION_SEND, to, (uint8_t)identity.kind, &identity, cost);
    if (send) /* before the receive, which may be the same position's */
        *send = newest(&builder->positions[from]);
    operation_add(builder, to, OPERATION_RECEIVE, from, (uint8_t)identity.kind, &identity, cost);
    if (receive)
        *receive = newest(&builder->positions[to]);
}

uint32_t program_add_collective(struct program_builder *builder, uint32_t position, uint32_t group,
                                enum stagesim_collective collective, struct stagesim_identity identity, uint32_t cost)
{
    struct draft_position *draft = &builder->positions[position];
    operation_add(builder, position, OPERATION_COLLECTIVE, group, 0, &identity, cost)->collective = collective & 15;
    return newest(draft);
}

void program_add_wait(struct program_builder *builder, uint32_t position, uint32_t operation, uint32_t awaited)
{
    struct draft_position *draft = &builder->positions[position];
    assert(operation < draft->operation_count && awaited < draft->operation_count && operation != awaited);
    assert(draft->operations[operation].type != OPERATION_RECEIVE);
    draft->waits = bulk_pool_grow(&builder->drafts, draft->waits, &draft->wait_capacity, draft->wait_count + 1,
                                  sizeof *draft->waits);
    draft->waits[draft->wait_count++] = (struct wait){operation, awaited};
}

void program_set_memory(struct program_builder *builder, uint32_t position, const struct stagesim_static_memory *memory)
{
    builder->positions[position].memory = *memory;
}

/* ---- what there is ---- */

bool program_is_full(const struct program_builder *builder, uint32_t position)
{
    return builder->positions[position].stream_count >= PROGRAM_STREAMS_MAX ||
           (double)builder->operation_count >= PROGRAM_OPERATIONS_MAX;
}

bool program_has_cost(const struct program_builder *builder, uint32_t cost)
{
    return cost < builder->cost_count;
}

bool program_has_group(const struct program_builder *builder, uint32_t group)
{
    return group < builder->group_count;
}

uint64_t program_operations(const struct program *program)
{
    uint64_t count = 0;
    for (uint32_t position = 0; position < program->mesh->positions; position++)
        count += program->positions[position].operation_count;
    return count;
}

uint64_t program_all_operations(const struct program *program)
{
    return program_operations(program) * program->mesh->replicas;
}

uint64_t program_builder_operations(const struct program_builder *builder)
{
    return builder->operation_count;
}

uint32_t program_group_ranks(const struct program_builder *builder, uint32_t group)
{
    return builder->groups[group].position_count * mesh_product(builder->mesh, builder->groups[group].axes);
}

bool program_group_is_distinct(const struct program_builder *builder, uint32_t group)
{
    return mesh_product(builder->mesh, builder->groups[group].axes) == 1;
}

bool program_may_wait(const struct program_builder *builder, uint32_t position, uint32_t operation, uint32_t awaited)
{
    const struct draft_position *draft = &builder->positions[position];
    return operation < draft->operation_count && awaited < draft->operation_count && operation != awaited &&
           draft->operations[operation].type != OPERATION_RECEIVE;
}

/* ---- names ---- */

const char *kind_name(enum stagesim_kind kind)
{
    static const char *const names[STAGESIM_KINDS] = {
        [STAGESIM_FORWARD] = "F",
        [STAGESIM_BACKWARD] = "B",
        [STAGESIM_WEIGHT] = "W",
        [STAGESIM_BLOCK] = "FB",
        [STAGESIM_OPTIMIZER] = "optimizer",
        [STAGESIM_ACTIVATION] = "activation",
        [STAGESIM_GRADIENT] = "gradient",
        [STAGESIM_GRADIENT_SYNC] = "gradient-sync",
        [STAGESIM_PARAMETER_GATHER] = "parameter-gather",
        [STAGESIM_TENSOR] = "tensor",
        [STAGESIM_EXCHANGE] = "exchange",
        [STAGESIM_OTHER] = "other",
        [STAGESIM_CONTEXT] = "context",
        [STAGESIM_EXPERT] = "expert",
        [STAGESIM_WEIGHTS] = "weights",
        [STAGESIM_SHARE] = "gradient-share",
        [STAGESIM_OFFLOAD] = "offload",
        [STAGESIM_LOAD] = "load",
        [STAGESIM_INPUT] = "input",
    };
    return names[kind];
}

const char *collective_name(enum stagesim_collective collective)
{
    static const char *const names[STAGESIM_COLLECTIVES] = {
        [STAGESIM_ALL_REDUCE] = "all-reduce", [STAGESIM_REDUCE_SCATTER] = "reduce-scatter",
        [STAGESIM_ALL_GATHER] = "all-gather", [STAGESIM_ALL_TO_ALL] = "all-to-all",
        [STAGESIM_BROADCAST] = "broadcast",   [STAGESIM_REDUCE] = "reduce",
        [STAGESIM_BARRIER] = "barrier",       [STAGESIM_SEND_RECEIVE] = "send-receive",
    };
    return names[collective];
}

bool program_position_feeds(const struct program *program, uint32_t position)
{
    const struct position *feeder = &program->positions[position];
    for (uint32_t id = 0; id < feeder->operation_count; id++)
        if (feeder->operations[id].kind != STAGESIM_INPUT)
            return false;
    return feeder->operation_count > 0;
}

uint32_t program_counted_ranks(const struct program *program)
{
    const struct mesh *mesh = program->mesh;
    uint32_t feeders = 0;
    for (uint32_t position = 0; position < mesh->positions; position++)
        feeders += program_position_feeds(program, position) ? mesh->replicas : 0;
    return feeders < mesh->ranks ? mesh->ranks - feeders : mesh->ranks;
}
