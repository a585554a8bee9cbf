/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/program_check.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static bool is_amount(double value)
{
    return isfinite(value) && value >= 0;
}

static bool check_costs(const struct program *program, struct fault *fault)
{
    for (uint32_t i = 0; i < program->cost_count; i++) {
        const struct stagesim_cost *cost = &program->costs[i];
        if (!is_amount(cost->seconds))
            return fault_set(fault, "an operation takes %g s", cost->seconds);
        if (!is_amount(cost->bytes))
            return fault_set(fault, "a message or collective has %g bytes", cost->bytes);
        if (!is_amount(cost->flops) || !is_amount(cost->repeats) || !isfinite(cost->memory) || !isfinite(cost->stash))
            return fault_set(fault, "a cost has %g flops, %g repeats, %g bytes of memory, a stash of %g", cost->flops,
                             cost->repeats, cost->memory, cost->stash);
    }
    return true;
}

/* The position's stream of the group, or NULL. */
static const struct stream *find_stream(const struct position *position, uint32_t group)
{
    for (uint32_t i = 0; i < position->stream_count; i++)
        if (position->streams[i].type == OPERATION_COLLECTIVE && position->streams[i].peer == group)
            return &position->streams[i];
    return NULL;
}

static bool same_collective(const struct program *program, const struct operation *a, const struct operation *b)
{
    const struct stagesim_cost *left = operation_cost(program, a), *right = operation_cost(program, b);
    return a->collective == b->collective && (a->cost == b->cost || (!islessgreater(left->bytes, right->bytes) &&
                                                                     !islessgreater(left->repeats, right->repeats)));
}

/* Two members' collectives, those of the first being `expected`. */
static bool check_member(const struct program *program, uint32_t group, uint32_t first, uint32_t member,
                         struct fault *fault)
{
    const struct position *one = &program->positions[first], *other = &program->positions[member];
    const struct stream *expected = find_stream(one, group), *found = find_stream(other, group);
    uint32_t expected_count = expected ? expected->count : 0, count = found ? found->count : 0;
    if (count != expected_count)
        return fault_set(fault, "position %u takes part in %u collectives of group %u, position %u in %u", first,
                         expected_count, group, member, count);
    for (uint32_t k = 0; k < count; k++) {
        const struct operation *a = &one->operations[expected->first + k], *b = &other->operations[found->first + k];
        if (operation_pairs(program, a) != operation_pairs(program, b))
            return fault_set(fault,
                             "collective %u of group %u has other bytes for each pair of members for position %u than "
                             "for position %u",
                             k, group, member, first);
        if (!same_collective(program, a, b))
            return fault_set(
                fault, "collective %u of group %u is %s of %g bytes for position %u, %s of %g bytes for position %u", k,
                group, collective_name(a->collective), operation_cost(program, a)->bytes, first,
                collective_name(b->collective), operation_cost(program, b)->bytes, member);
    }
    return true;
}

static bool is_member(const struct group *group, uint32_t position)
{
    for (uint32_t i = 0; i < group->position_count; i++)
        if (group->positions[i] == position)
            return true;
    return false;
}

/* Collectives of a position in groups that it is no member of. */
static bool check_strangers(const struct program *program, const uint32_t *streams, struct fault *fault)
{
    for (uint32_t group = 0; group < program->group_count; group++) {
        uint32_t members = program->groups[group].collective_count ? program->groups[group].position_count : 0;
        for (uint32_t position = 0; streams[group] > members && position < program->mesh->positions; position++)
            if (find_stream(&program->positions[position], group) && !is_member(&program->groups[group], position))
                return fault_set(fault, "position %u takes part in a collective of group %u without being a member",
                                 position, group);
    }
    return true;
}

static bool check_groups(const struct program *program, struct fault *fault)
{
    uint32_t *streams = array_zeroed(program->group_count + (size_t)1, sizeof *streams);
    bool ok = streams != NULL;
    for (uint32_t position = 0; ok && position < program->mesh->positions; position++)
        for (uint32_t i = 0; i < program->positions[position].stream_count; i++)
            if (program->positions[position].streams[i].type == OPERATION_COLLECTIVE)
                streams[program->positions[position].streams[i].peer]++;
    for (uint32_t group = 0; ok && group < program->group_count; group++)
        for (uint32_t i = 1; ok && i < program->groups[group].position_count; i++)
            ok = check_member(program, group, program->groups[group].positions[0], program->groups[group].positions[i],
                              fault);
    ok = ok && check_strangers(program, streams, fault);
    free(streams);
    return ok || fault_set(fault, "out of memory");
}

bool program_check(const struct program *program, struct fault *fault)
{
    return check_costs(program, fault) && check_groups(program, fault);
}
