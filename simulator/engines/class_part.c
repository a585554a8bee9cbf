/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/class_part.h"

#include "simulator/collectives/assignment.h"
#include "simulator/engines/refine.h"

static uint64_t mix_cost(uint64_t hash, const struct program *program, const struct operation *operation)
{
    const struct stagesim_cost *cost = operation_cost(program, operation);
    hash = refine_mix_number(refine_mix_number(hash, cost->seconds), cost->bytes);
    hash = refine_mix(refine_mix_number(hash, cost->repeats), program->variation_of[operation->cost]);
    const struct pair_bytes *pairs = operation_pairs(program, operation);
    return refine_mix(hash, pairs ? operation->cost + UINT64_C(1) : 0);
}

/* Which of the group's flows it takes. */
static uint32_t set_of(const struct program *program, uint32_t group, const struct operation *operation)
{
    uint32_t count, set = 0;
    const struct collective_flows *const *all = assignment_all_flows(program, group, &count);
    const struct collective_flows *own = assignment_flows(program, group, operation);
    while (set < count && all[set] != own)
        set++;
    return set;
}

/* How a collective is carried out. */
static uint64_t mix_choice(uint64_t hash, const struct program *program, uint32_t group,
                           const struct operation *operation)
{
    struct collective_choice choice = assignment_choose(program, group, operation);
    hash = refine_mix(refine_mix_number(hash, choice.delay), set_of(program, group, operation));
    hash = refine_mix_number(hash, choice.ratios.far);
    for (int scope = 0; scope < SCOPES; scope++)
        hash =
            refine_mix_number(refine_mix_number(hash, choice.ratios.latency[scope]), choice.ratios.efficiency[scope]);
    return hash;
}

static uint64_t mix_operation(uint64_t hash, const struct program *program, const struct position *position,
                              const struct operation *operation)
{
    const struct stream *stream = &position->streams[operation->stream];
    hash = refine_mix(refine_mix(hash, operation->type), operation->kind);
    hash = refine_mix(refine_mix(hash, operation->collective), operation->stream);
    hash = refine_mix(mix_cost(hash, program, operation), operation_wait_count(operation));
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        hash = refine_mix(hash, operation_wait(position, operation, i));
    return operation->type == OPERATION_COLLECTIVE ? mix_choice(hash, program, stream->peer, operation) : hash;
}

static uint64_t mix_streams(uint64_t hash, const struct position *position)
{
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        hash = refine_mix(refine_mix(refine_mix(hash, stream->type), stream->kind), stream->peer);
        hash = refine_mix(refine_mix(refine_mix(hash, stream->opposite), stream->first), stream->count);
    }
    return refine_mix(hash, position->stream_count);
}

static uint64_t mix_groups(uint64_t hash, const struct program *program)
{
    for (uint32_t i = 0; i < program->group_count; i++) {
        const struct group *group = &program->groups[i];
        hash = refine_mix(refine_mix(hash, group->axes), group->collective_count);
        for (uint32_t k = 0; k < group->position_count; k++)
            hash = refine_mix(hash, group->positions[k]);
    }
    return refine_mix(hash, program->group_count);
}

static uint64_t mix_mesh(uint64_t hash, const struct mesh *mesh)
{
    for (unsigned i = 0; i < mesh->axis_count; i++)
        hash =
            refine_mix(refine_mix(refine_mix(hash, mesh->axes[i].size), mesh->axes[i].stride), mesh->axes[i].distinct);
    return refine_mix(refine_mix(hash, mesh->extra), mesh->ranks);
}

/* Costs hold at the full speed of the host of the first replica. */
static double full_speed(const struct class_part *part, const struct platform *platform, uint32_t position)
{
    return platform_full_speed(&platform->hosts[part->hosts[mesh_rank(part->program->mesh, position, 0)]]);
}

uint64_t class_part_colour(const struct class_part *part, const struct platform *platform)
{
    const struct program *program = part->program;
    uint64_t hash = refine_mix_number(6, part->begins);
    hash = refine_mix(mix_groups(mix_mesh(hash, program->mesh), program), program->pipelined);
    for (uint32_t index = 0; index < program->mesh->positions; index++) {
        const struct position *position = &program->positions[index];
        hash = mix_streams(refine_mix_number(hash, full_speed(part, platform, index)), position);
        for (uint32_t id = 0; id < position->operation_count; id++)
            hash = mix_operation(hash, program, position, &position->operations[id]);
    }
    return hash;
}
