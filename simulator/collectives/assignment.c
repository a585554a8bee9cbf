/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/assignment.h"

#include "base/arena.h"
#include "simulator/program/program.h"

#include <math.h>
#include <string.h>

/* What is known of a kind and cost of a group. */
struct decision {
    struct collective_choice choice;
    const struct collective_flows *flows; /* where each pair has its own bytes; NULL otherwise */
    uint32_t key;                         /* kind and cost; 0: empty */
};

struct group_state {
    struct communicator *communicator; /* of instance 0, with what all instances have in common; NULL until asked for */
    struct decision *decisions;        /* a table of hashes, a power of two long, at most half full */
    uint32_t capacity, count;
    const struct collective_flows **flows; /* all different ones, NULL until asked for */
    uint32_t flow_count, flow_capacity;
};

struct assignment {
    const struct program *program;
    struct arena *arena;
    struct platform *platform; /* NULL: not placed */
    const uint32_t *hosts;
    struct collective_policy policy;
    struct group_state *groups;
    uint32_t *seen; /* [cost and kind]: the turn in which it was met */
    uint32_t turn;
};

void assignment_create(struct program *program, struct arena *arena)
{
    struct assignment *assignment = arena_alloc(arena, sizeof *assignment);
    *assignment = (struct assignment){.program = program, .arena = arena};
    assignment->groups = arena_array(arena, program->group_count + (size_t)1, sizeof *assignment->groups);
    assignment->seen = arena_array(arena, (size_t)program->cost_count * STAGESIM_COLLECTIVES, sizeof *assignment->seen);
    program->assignment = assignment;
}

void assignment_place(struct assignment *assignment, struct platform *platform, const uint32_t *hosts,
                      const struct collective_policy *policy)
{
    assignment->platform = platform;
    assignment->hosts = hosts;
    assignment->policy = *policy;
    for (uint32_t group = 0; group < assignment->program->group_count; group++)
        assignment->groups[group] = (struct group_state){0};
}

/* The hosts of an instance's members. */
static void member_hosts(const struct assignment *assignment, const struct group *group, uint32_t instance,
                         uint32_t *hosts)
{
    group_ranks(assignment->program, group, instance, hosts);
    for (uint32_t i = 0; i < group_size(assignment->program, group); i++)
        hosts[i] = assignment->hosts[hosts[i]];
}

static struct collective_shape common_shape(const struct collective_shape *a, const struct collective_shape *b)
{
    struct collective_shape common = *a;
    common.reduces = a->reduces && b->reduces;
    common.reduces_within = a->reduces_within && b->reduces_within;
    common.strided = a->strided && b->strided;
    common.exits = exits_same(a->exits, b->exits) ? a->exits : NULL; /* without: what cannot leave goes around */
    common.rings = a->rings == b->rings ? a->rings : NULL;
    common.node_size = a->node_size == b->node_size ? a->node_size : 0;
    return common;
}

/* The lowest rank of the first position that the group names, as a number among the members. */
static uint32_t root_of(const struct assignment *assignment, const struct group *group, uint32_t *ranks)
{
    const struct mesh *mesh = assignment->program->mesh;
    uint32_t root = 0;
    group_ranks(assignment->program, group, 0, ranks);
    while (mesh->position_of[ranks[root]] != group->positions[0])
        root++;
    return root;
}

static struct communicator *communicator_of(const struct assignment *assignment, const struct group *group)
{
    uint32_t ranks = group_size(assignment->program, group);
    uint32_t *hosts = arena_array(assignment->arena, ranks, sizeof *hosts);
    uint32_t *others = arena_array(assignment->arena, ranks, sizeof *others);
    uint32_t root = root_of(assignment, group, others);
    if (!assignment->platform) {
        struct collective_shape plain = {.ranks = ranks, .root = root};
        return communicator_create_shaped(NULL, NULL, &plain, false, assignment->arena);
    }
    member_hosts(assignment, group, 0, hosts);
    struct collective_shape shape = communicator_shape_of(assignment->platform, hosts, ranks);
    for (uint32_t instance = 1; instance < group_instances(assignment->program, group); instance++) {
        member_hosts(assignment, group, instance, others);
        struct collective_shape other = communicator_shape_of(assignment->platform, others, ranks);
        shape = common_shape(&shape, &other);
    }
    shape.root = root;
    return communicator_create_shaped(assignment->platform, hosts, &shape, assignment->policy.stepwise,
                                      assignment->arena);
}

/* The place of a key, or the empty one where it would stand. */
static struct decision *find(const struct group_state *state, uint32_t key)
{
    uint32_t place = key * 2654435769u & (state->capacity - 1);
    while (state->decisions[place].key && state->decisions[place].key != key)
        place = (place + 1) & (state->capacity - 1);
    return &state->decisions[place];
}

static void make_room(struct assignment *assignment, struct group_state *state)
{
    struct group_state old = *state;
    if (old.capacity > 2 * old.count)
        return;
    state->capacity = old.capacity ? 2 * old.capacity : 8;
    state->decisions = arena_array(assignment->arena, state->capacity, sizeof *state->decisions);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.decisions[i].key)
            *find(state, old.decisions[i].key) = old.decisions[i];
}

static const struct decision *decide(const struct program *program, uint32_t group, const struct operation *operation)
{
    struct assignment *assignment = program->assignment;
    struct group_state *state = &assignment->groups[group];
    enum stagesim_collective kind = operation->collective;
    if (!state->communicator)
        state->communicator = communicator_of(assignment, &program->groups[group]);
    make_room(assignment, state);
    uint32_t key = operation->cost * STAGESIM_COLLECTIVES + (uint32_t)kind + 1;
    struct decision *decision = find(state, key);
    if (decision->key)
        return decision;
    const struct stagesim_cost *cost = operation_cost(program, operation);
    decision->key = key;
    const struct pair_bytes *pairs = operation_pairs(program, operation);
    double bytes = cost->bytes / fmax(cost->repeats, 1);
    decision->choice = pairs
                           ? communicator_choose_pairs(state->communicator, pairs, bytes, &decision->flows)
                           : communicator_choose(state->communicator, kind, assignment->policy.algorithms[kind], bytes);
    state->count++;
    return decision;
}

struct collective_choice assignment_choose(const struct program *program, uint32_t group,
                                           const struct operation *operation)
{
    return decide(program, group, operation)->choice;
}

const struct collective_flows *assignment_flows(const struct program *program, uint32_t group,
                                                const struct operation *operation)
{
    const struct decision *decision = decide(program, group, operation);
    if (decision->flows || !decision->choice.algorithm)
        return decision->flows;
    return communicator_flows(program->assignment->groups[group].communicator, operation->collective,
                              decision->choice.algorithm);
}

/* Those of kinds and algorithms are few; of pairs with bytes of their own there may be any number. */
enum { FLOW_SETS_FIRST = 16 };

static void make_room_for_flows(struct assignment *assignment, struct group_state *state)
{
    if (state->flow_count < state->flow_capacity)
        return;
    const struct collective_flows **old = state->flows;
    state->flow_capacity = state->flow_capacity ? 2 * state->flow_capacity : FLOW_SETS_FIRST;
    state->flows = arena_array(assignment->arena, state->flow_capacity, sizeof *state->flows);
    if (state->flow_count)
        memcpy(state->flows, old, state->flow_count * sizeof *old);
}

static void add_flows(struct assignment *assignment, struct group_state *state, const struct collective_flows *flows)
{
    for (uint32_t known = 0; flows && !flows->pairs && known < state->flow_count; known++)
        if (state->flows[known] == flows)
            return;
    if (!flows)
        return;
    make_room_for_flows(assignment, state);
    state->flows[state->flow_count++] = flows;
}

const struct collective_flows *const *assignment_all_flows(const struct program *program, uint32_t group,
                                                           uint32_t *count)
{
    struct group_state *state = &program->assignment->groups[group];
    const struct position *position = &program->positions[program->groups[group].positions[0]];
    const struct stream *stream = &position->streams[position_group_stream(position, group)];
    if (!state->flows) {
        make_room_for_flows(program->assignment, state);
        uint32_t *seen = program->assignment->seen; /* few kinds and costs occur again and again */
        uint32_t turn = ++program->assignment->turn;
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
            const struct operation *operation = &position->operations[id];
            uint32_t *mark = &seen[operation->cost * STAGESIM_COLLECTIVES + (uint32_t)operation->collective];
            if (*mark != turn)
                add_flows(program->assignment, state, assignment_flows(program, group, operation));
            *mark = turn;
        }
    }
    *count = state->flow_count;
    return state->flows;
}
