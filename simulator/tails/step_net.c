/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/tails/step_net.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"

#include <math.h>
#include <stdlib.h>

/* Members of a collective that end within this share of the step end together. */
static const double TOGETHER = 1e-10;

struct edge {
    uint32_t node, waits;
};

struct build {
    const struct timeline *timeline;
    const struct program *program;
    const struct mesh *mesh;
    struct step_net *net;
    uint32_t **ends;   /* [rank][operation]: the node that ends with it */
    uint32_t **begins; /* [rank][operation]: the node that what follows in its stream waits for, see add_send */
    uint32_t **joins;  /* [rank][operation]: the node that waits for what the operation does */
    struct edge *edges;
    size_t edge_count, edge_capacity, node_capacity, task_capacity;
};

static const struct moment *moment_of(const struct build *build, uint32_t rank, uint32_t id)
{
    return &timeline_rank(build->timeline, rank)[id];
}

static const struct position *position_of(const struct build *build, uint32_t rank)
{
    return &build->program->positions[build->mesh->position_of[rank]];
}

/* ---- nodes ---- */

static uint32_t add_node(struct build *build, uint32_t rank, uint32_t id, uint32_t meeting, double seconds)
{
    struct step_net *net = build->net;
    const struct operation *operation = &position_of(build, rank)->operations[id];
    net->seconds = array_grow(net->seconds, &build->node_capacity, (size_t)net->count + 1, sizeof *net->seconds);
    net->tasks = array_grow(net->tasks, &build->task_capacity, (size_t)net->count + 1, sizeof *net->tasks);
    net->seconds[net->count] = seconds;
    net->tasks[net->count] = (struct step_task){.rank = rank,
                                                .operation = id,
                                                .meeting = meeting,
                                                .micro_batch = operation->micro_batch,
                                                .stage = operation->stage,
                                                .type = (uint8_t)operation->type,
                                                .kind = (uint8_t)operation->kind};
    return net->count++;
}

static void add_edge(struct build *build, uint32_t node, uint32_t waits)
{
    build->edges = array_grow(build->edges, &build->edge_capacity, build->edge_count + 1, sizeof *build->edges);
    build->edges[build->edge_count++] = (struct edge){node, waits};
}

/* A pipelined message lets the next one go as soon as its bytes are there, its latency behind them: two nodes. */
static void add_send(struct build *build, uint32_t rank, uint32_t id, const struct operation *operation)
{
    const struct moment *moment = moment_of(build, rank, id);
    double latency = timeline_send_latency(build->timeline, build->timeline->index_of[rank], operation);
    uint32_t node = add_node(build, rank, id, STEP_ALONE, fmax(0, moment->end - moment->start - latency));
    build->joins[rank][id] = build->begins[rank][id] = build->ends[rank][id] = node;
    if (latency > 0) {
        uint32_t arrival = add_node(build, rank, id, STEP_ALONE, latency);
        build->net->tasks[arrival].type = OPERATION_DELAY;
        add_edge(build, arrival, node);
        build->ends[rank][id] = arrival;
    }
}

static void add_own(struct build *build, uint32_t rank, uint32_t id)
{
    const struct operation *operation = &position_of(build, rank)->operations[id];
    const struct moment *moment = moment_of(build, rank, id);
    if (operation->type == OPERATION_SEND) {
        add_send(build, rank, id, operation);
    } else if (operation->type == OPERATION_COMPUTE || operation->type == OPERATION_DELAY) {
        uint32_t node = add_node(build, rank, id, STEP_ALONE, moment->end - moment->start);
        build->joins[rank][id] = build->begins[rank][id] = build->ends[rank][id] = node;
    }
}

/* ---- collectives ---- */

static uint32_t member_id(const struct build *build, uint32_t group, uint32_t rank, uint32_t number)
{
    const struct position *position = position_of(build, rank);
    return position->streams[position_group_stream(position, group)].first + number;
}

/* Whether data move only once all members have come. */
static bool begins_together(const struct build *build, uint32_t group, uint32_t rank, uint32_t id)
{
    const struct operation *operation = &position_of(build, rank)->operations[id];
    struct collective_choice choice = assignment_choose(build->program, group, operation);
    const struct collective_flows *flows = choice.algorithm ? assignment_flows(build->program, group, operation) : NULL;
    return !flows || flows->start == START_TOGETHER;
}

/* What they wait for together, and when each is done: by one node where all are at a time. Where they are not, each
 * ends as long after the last one has come as in the timeline; who ended before that goes by his own coming. */
static void add_meeting(struct build *build, uint32_t group, uint32_t number, const uint32_t *ranks, uint32_t count)
{
    struct step_net *net = build->net;
    uint32_t meeting = net->meetings - 1;
    double last = 0, earliest = INFINITY, latest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct moment *moment = moment_of(build, ranks[i], member_id(build, group, ranks[i], number));
        last = fmax(last, moment->start);
        earliest = fmin(earliest, moment->end);
        latest = fmax(latest, moment->end);
    }
    bool together = latest - earliest <= TOGETHER * net->length && earliest >= last;
    uint32_t first = member_id(build, group, ranks[0], number);
    uint32_t join = add_node(build, ranks[0], first, meeting, together ? latest - last : 0);
    net->exact &= together && begins_together(build, group, ranks[0], first);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = ranks[i], id = member_id(build, group, rank, number);
        const struct moment *moment = moment_of(build, rank, id);
        build->joins[rank][id] = build->begins[rank][id] = build->ends[rank][id] = join;
        if (together)
            continue;
        bool early = moment->end < last;
        uint32_t own = add_node(build, rank, id, meeting, moment->end - (early ? moment->start : last));
        build->begins[rank][id] = build->ends[rank][id] = own;
        if (early)
            build->joins[rank][id] = own;
        add_edge(build, early ? join : own, early ? own : join);
    }
}

static void add_group(struct build *build, uint32_t number, size_t *capacity)
{
    const struct group *group = &build->program->groups[number];
    struct step_net *net = build->net;
    uint32_t size = group_size(build->program, group), instances = group_instances(build->program, group);
    if (!group->collective_count)
        return;
    for (uint32_t instance = 0; instance < instances; instance++) {
        uint32_t begin = net->first_member[net->meetings];
        net->members = array_grow(net->members, capacity, (size_t)begin + size, sizeof *net->members);
        group_ranks(build->program, group, instance, net->members + begin);
        net->first_member[++net->meetings] = begin + size;
        for (uint32_t i = 0; i < group->collective_count; i++)
            add_meeting(build, number, i, net->members + begin, size);
    }
}

static void add_groups(struct build *build)
{
    const struct program *program = build->program;
    size_t all = 0, capacity = 0;
    for (uint32_t i = 0; i < program->group_count; i++)
        all += group_instances(program, &program->groups[i]);
    build->net->first_member = array_zeroed(all + 1, sizeof *build->net->first_member);
    for (uint32_t i = 0; i < program->group_count; i++)
        add_group(build, i, &capacity);
}

/* ---- what each waits for ---- */

/* A message ends for who receives it when it does for who sends it. */
static void receive(struct build *build, uint32_t rank, const struct stream *stream)
{
    uint32_t peer = mesh_rank(build->mesh, stream->peer, build->mesh->replica_of[rank]);
    const struct stream *sends = &position_of(build, peer)->streams[stream->opposite];
    for (uint32_t i = 0; i < stream->count; i++)
        build->ends[rank][stream->first + i] = build->ends[peer][sends->first + i];
}

static void add_waits(struct build *build, uint32_t rank, const struct stream *stream)
{
    const struct position *position = position_of(build, rank);
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        uint32_t node = build->joins[rank][id];
        if (id > stream->first)
            add_edge(build, node, build->begins[rank][id - 1]);
        for (uint32_t i = 0; i < operation_wait_count(operation); i++)
            add_edge(build, node, build->ends[rank][operation_wait(position, operation, i)]);
    }
}

static void add_all(struct build *build)
{
    uint32_t ranks = build->mesh->ranks;
    for (uint32_t rank = 0; rank < ranks; rank++)
        for (uint32_t id = 0; id < position_of(build, rank)->operation_count; id++)
            add_own(build, rank, id);
    add_groups(build);
    for (uint32_t rank = 0; rank < ranks; rank++)
        for (uint32_t i = 0; i < position_of(build, rank)->stream_count; i++)
            if (position_of(build, rank)->streams[i].type == OPERATION_RECEIVE)
                receive(build, rank, &position_of(build, rank)->streams[i]);
    for (uint32_t rank = 0; rank < ranks; rank++)
        for (uint32_t i = 0; i < position_of(build, rank)->stream_count; i++)
            if (position_of(build, rank)->streams[i].type != OPERATION_RECEIVE)
                add_waits(build, rank, &position_of(build, rank)->streams[i]);
}

/* ---- the order ---- */

/* Lists of edges by one of their ends: [first[n] .. first[n + 1]). */
static uint32_t *list_edges(const struct build *build, bool by_node, uint32_t *first)
{
    uint32_t count = build->net->count, *list = array_zeroed(build->edge_count, sizeof *list);
    for (size_t i = 0; i < build->edge_count; i++)
        first[(by_node ? build->edges[i].node : build->edges[i].waits) + 1]++;
    for (uint32_t i = 0; i < count; i++)
        first[i + 1] += first[i];
    for (size_t i = build->edge_count; i-- > 0;) {
        const struct edge *edge = &build->edges[i];
        list[--first[(by_node ? edge->node : edge->waits) + 1]] = by_node ? edge->waits : edge->node;
    }
    for (uint32_t i = 0; i < count; i++) /* each was moved to where its list begins, one place further */
        first[i] = first[i + 1];
    first[count] = (uint32_t)build->edge_count;
    return list;
}

/* The new number of each node. What was set free last goes first: then neighbours in a stream are neighbours here. */
static uint32_t *find_order(const struct build *build)
{
    uint32_t count = build->net->count, *first = array_zeroed((size_t)count + 1, sizeof *first);
    uint32_t *left = array_zeroed(count, sizeof *left), *stack = array_zeroed(count, sizeof *stack);
    uint32_t *order = array_zeroed(count, sizeof *order), depth = 0, done = 0;
    uint32_t *dependents = list_edges(build, false, first);
    for (size_t i = 0; i < build->edge_count; i++)
        left[build->edges[i].node]++;
    for (uint32_t node = count; node-- > 0;)
        if (!left[node])
            stack[depth++] = node;
    while (depth) {
        uint32_t node = stack[--depth];
        order[node] = done++;
        for (uint32_t i = first[node + 1]; i-- > first[node];)
            if (!--left[dependents[i]])
                stack[depth++] = dependents[i];
    }
    free(first);
    free(left);
    free(stack);
    free(dependents);
    return order;
}

/* Into the arena, in order. */
static void lay_out(struct build *build, struct arena *arena)
{
    struct step_net *net = build->net;
    uint32_t count = net->count, *order = find_order(build);
    double *seconds = arena_array_unset(arena, count, sizeof *seconds);
    struct step_task *tasks = arena_array_unset(arena, count, sizeof *tasks);
    for (uint32_t node = 0; node < count; node++) {
        seconds[order[node]] = net->seconds[node];
        tasks[order[node]] = net->tasks[node];
    }
    for (size_t i = 0; i < build->edge_count; i++)
        build->edges[i] = (struct edge){order[build->edges[i].node], order[build->edges[i].waits]};
    net->first_wait = arena_array(arena, (size_t)count + 1, sizeof *net->first_wait);
    uint32_t *waits = list_edges(build, true, net->first_wait);
    net->waits = arena_array_unset(arena, build->edge_count, sizeof *net->waits);
    for (size_t i = 0; i < build->edge_count; i++)
        net->waits[i] = waits[i];
    uint32_t *first = arena_array_unset(arena, (size_t)net->meetings + 1, sizeof *first);
    uint32_t *members = arena_array_unset(arena, net->first_member[net->meetings], sizeof *members);
    for (uint32_t i = 0; i <= net->meetings; i++)
        first[i] = net->first_member[i];
    for (uint32_t i = 0; i < first[net->meetings]; i++)
        members[i] = net->members[i];
    free(net->seconds);
    free(net->tasks);
    free(net->first_member);
    free(net->members);
    free(waits);
    free(order);
    net->seconds = seconds;
    net->tasks = tasks;
    net->first_member = first;
    net->members = members;
}

/* ---- the whole ---- */

static uint32_t **make_table(const struct build *build, struct arena *arena)
{
    uint32_t **table = arena_array(arena, build->mesh->ranks, sizeof *table);
    for (uint32_t rank = 0; rank < build->mesh->ranks; rank++)
        table[rank] = arena_array(arena, position_of(build, rank)->operation_count, sizeof **table);
    return table;
}

static double count_operations(const struct build *build)
{
    double count = 0;
    for (uint32_t rank = 0; rank < build->mesh->ranks; rank++)
        count += position_of(build, rank)->operation_count;
    return count;
}

static double find_length(const struct build *build)
{
    double length = 0;
    for (uint32_t rank = 0; rank < build->mesh->ranks; rank++)
        for (uint32_t id = 0; id < position_of(build, rank)->operation_count; id++)
            length = fmax(length, moment_of(build, rank, id)->end);
    return length;
}

struct step_net *step_net_create(const struct timeline *timeline, struct arena *arena, struct fault *fault)
{
    struct arena *scratch = arena_create();
    struct step_net *net = arena_alloc(arena, sizeof *net);
    struct build build = {
        .timeline = timeline, .program = timeline->program, .mesh = timeline->program->mesh, .net = net};
    *net = (struct step_net){.program = timeline->program, .exact = true};
    double operations = count_operations(&build);
    if (operations > STEP_NODES_MAX) {
        fault_set(fault,
                  "%.3g million operations on all ranks are too many to be drawn again and again; %.3g are the most",
                  operations / 1e6, STEP_NODES_MAX / 1e6);
        arena_destroy(scratch);
        return NULL;
    }
    net->length = find_length(&build);
    build.ends = make_table(&build, scratch);
    build.begins = make_table(&build, scratch);
    build.joins = make_table(&build, scratch);
    add_all(&build);
    lay_out(&build, arena);
    free(build.edges);
    arena_destroy(scratch);
    return net;
}
