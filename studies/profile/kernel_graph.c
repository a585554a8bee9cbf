/* SPDX-License-Identifier: Apache-2.0 */
/* What waits for what in profiles. Calls of the host come one after the other, on whichever thread they are. A call
 * that synchronises ends when what was launched before has ended, a copy that the host waits for when it has. On the
 * device, operations of a stream are in order and wait for their launch; where the trace says that a stream waited for
 * another one, they do. Members of a collective, and both ends of a message, move data when all have come. */
#include "base/arena.h"
#include "studies/profile/kernel_graph_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_step(const struct recorded *recorded, const struct recorded_operation *operation)
{
    static const char step_name[] = "ProfilerStep#";
    return operation->kind == RECORDED_ANNOTATION &&
           !strncmp(recorded_name_of(recorded, operation), step_name, sizeof step_name - 1);
}

/* Whether an operation of the device, or a call, is of a step. */
static bool counts(const struct graph *graph, const struct recorded_operation *operation)
{
    return graph->stepless || operation->step != RECORDED_NONE;
}

static bool synchronises(const struct recorded *recorded, const struct recorded_operation *operation)
{
    return strstr(recorded_name_of(recorded, operation), "Synchronize") != NULL;
}

/* ---- the host ---- */

static int by_correlation(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static int by_time(const void *left, const void *right)
{
    const struct moment_of_host *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->ends != b->ends)
        return a->ends ? 1 : -1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static void add_moment(struct graph *graph, double time, uint32_t operation, bool ends)
{
    graph->moments =
        array_grow(graph->moments, &graph->moment_capacity, graph->moment_count + 1, sizeof *graph->moments);
    graph->moments[graph->moment_count++] = (struct moment_of_host){time, operation, ends};
}

static void collect_calls(struct graph *graph, uint32_t rank)
{
    const struct recorded *recorded = graph->recorded;
    graph->call_count = 0;
    for (uint32_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind != RECORDED_LAUNCH || operation->correlation == RECORDED_NONE ||
            recorded_rank_of(recorded, operation) != rank || !counts(graph, operation))
            continue;
        graph->calls = array_grow(graph->calls, &graph->call_capacity, graph->call_count + 1, sizeof *graph->calls);
        graph->calls[graph->call_count++] = (struct call){operation->correlation, i};
    }
    if (graph->call_count)
        qsort(graph->calls, graph->call_count, sizeof *graph->calls, by_correlation);
}

static uint32_t call_of(const struct graph *graph, uint32_t correlation)
{
    struct call key = {correlation, 0};
    const struct call *found = graph->call_count && correlation != RECORDED_NONE
                                   ? bsearch(&key, graph->calls, graph->call_count, sizeof key, by_correlation)
                                   : NULL;
    return found ? found->operation : RECORDED_NONE;
}

static void join_launches(struct graph *graph, uint32_t rank)
{
    const struct recorded *recorded = graph->recorded;
    for (uint32_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!recorded_works(operation) || recorded_rank_of(recorded, operation) != rank)
            continue;
        uint32_t call = call_of(graph, operation->correlation);
        if (call == RECORDED_NONE || recorded->operations[call].begin > operation->begin)
            continue;
        graph->launched[i] = recorded->operations[call].begin;
        graph->device[call] = i;
    }
}

static void join_records(struct graph *graph, uint32_t rank)
{
    const struct recorded *recorded = graph->recorded;
    for (size_t i = 0; i < recorded->sync_count; i++) {
        if (recorded_rank_of(recorded, &recorded->operations[recorded->syncs[i].operation]) != rank)
            continue;
        uint32_t call = call_of(graph, recorded->syncs[i].record);
        graph->noted[i] = call == RECORDED_NONE ? NAN : recorded->operations[call].begin;
    }
}

/* Whether the host goes on only when the device has done something. */
static bool waits(const struct graph *graph, uint32_t call)
{
    const struct recorded *recorded = graph->recorded;
    const struct recorded_operation *operation = &recorded->operations[call];
    uint32_t device = graph->device[call];
    return synchronises(recorded, operation) ||
           (device != RECORDED_NONE && recorded->operations[device].end <= operation->end);
}

static void collect_moments(struct graph *graph, uint32_t rank)
{
    const struct recorded *recorded = graph->recorded;
    graph->moment_count = 0;
    for (uint32_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (recorded_rank_of(recorded, operation) != rank)
            continue;
        if (operation->kind == RECORDED_LAUNCH && counts(graph, operation)) {
            add_moment(graph, operation->begin, i, false);
            if (waits(graph, i))
                add_moment(graph, operation->end, i, true);
        } else if (is_step(recorded, operation)) {
            add_moment(graph, operation->end, i, true);
        }
    }
    if (graph->moment_count)
        qsort(graph->moments, graph->moment_count, sizeof *graph->moments, by_time);
}

static void chain_host(struct graph *graph, uint32_t rank)
{
    const struct recorded *recorded = graph->recorded;
    struct replay_build *build = graph->build;
    uint32_t before = RECORDED_NONE;
    for (size_t i = 0; i < graph->moment_count; i++) {
        const struct moment_of_host *moment = &graph->moments[i];
        const struct recorded_operation *operation = &recorded->operations[moment->operation];
        uint32_t node = replay_add_node(build, moment->operation, moment->ends ? REPLAY_WORK : REPLAY_ARRIVAL, 0);
        *(moment->ends ? replay_work_of(build, moment->operation) : replay_arrival_of(build, moment->operation)) = node;
        replay_add_edge(build, before, node);
        before = node;
        uint32_t device = graph->device[moment->operation];
        if (device != RECORDED_NONE && !moment->ends)
            graph->launch[device] = node;
        else if (device != RECORDED_NONE)
            replay_add_edge(build, *replay_work_of(build, device), node);
        if (moment->ends && operation->kind == RECORDED_LAUNCH && synchronises(recorded, operation))
            graph_await_device(graph, rank, operation, node);
    }
}

/* ---- the device ---- */

static void add_member(struct graph *graph, uint64_t key, uint32_t index)
{
    const struct recorded_operation *operation = &graph->recorded->operations[index];
    graph->members =
        array_grow(graph->members, &graph->member_capacity, graph->member_count + 1, sizeof *graph->members);
    graph->members[graph->member_count++] =
        (struct member){key, operation->step, 0, recorded_rank_of(graph->recorded, operation), index};
}

/* An operation that others take part in may have to wait for them. */
static void note_member(struct graph *graph, uint32_t index)
{
    const struct recorded *recorded = graph->recorded;
    const struct recorded_operation *operation = &recorded->operations[index];
    uint32_t own = recorded->ranks[recorded_rank_of(recorded, operation)].number;
    bool send = operation->kind == RECORDED_SEND;
    if (operation->kind == RECORDED_COLLECTIVE && operation->waiting && operation->group != RECORDED_NONE)
        add_member(graph, operation->group, index);
    else if ((send || (operation->kind == RECORDED_RECEIVE && operation->waiting)) && operation->peer != RECORDED_NONE)
        add_member(graph, 1ull << 63 | (uint64_t)(send ? own : operation->peer) << 31 | (send ? operation->peer : own),
                   index);
}

static void add_device(struct graph *graph)
{
    const struct recorded *recorded = graph->recorded;
    struct replay_build *build = graph->build;
    for (uint32_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!recorded_works(operation) || !counts(graph, operation))
            continue;
        *replay_work_of(build, i) = replay_add_node(build, i, REPLAY_WORK, operation->end - operation->begin);
        if (operation->kind != RECORDED_COMPUTE && operation->kind != RECORDED_MEMORY)
            note_member(graph, i);
    }
}

static int by_place(const void *left, const void *right, void *user)
{
    const struct recorded *recorded = user;
    const struct member *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    double first = recorded->operations[a->operation].begin, second = recorded->operations[b->operation].begin;
    return first != second ? (first > second) - (first < second)
                           : (a->operation > b->operation) - (a->operation < b->operation);
}

static void meet(struct graph *graph, const struct member *members, size_t count)
{
    struct replay_build *build = graph->build;
    double latest = -INFINITY;
    uint32_t meeting = replay_add_node(build, RECORDED_NONE, REPLAY_MEETING, 0);
    for (size_t i = 0; i < count; i++)
        latest = fmax(latest, graph->recorded->operations[members[i].operation].begin);
    for (size_t i = 0; i < count; i++) {
        uint32_t index = members[i].operation, work = *replay_work_of(build, index);
        const struct recorded_operation *operation = &graph->recorded->operations[index];
        bool early = operation->end < latest; /* it only gives */
        uint32_t arrival = *replay_arrival_of(build, index) = replay_add_node(build, index, REPLAY_ARRIVAL, 0);
        build->nodes[work].seconds = operation->end - (early ? operation->begin : latest);
        replay_add_edge(build, arrival, early ? work : meeting);
        replay_add_edge(build, early ? RECORDED_NONE : meeting, work);
    }
}

/* The n-th of a group, or from one rank to another, in a step is the same on all ranks. */
static void meet_all(struct graph *graph)
{
    void *user = (void *)(uintptr_t)graph->recorded;
    struct member *members = graph->members;
    size_t count = graph->member_count, end;
    if (!count)
        return;
    qsort_r(members, count, sizeof *members, by_place, user);
    for (size_t i = 1; i < count; i++)
        if (members[i].key == members[i - 1].key && members[i].step == members[i - 1].step &&
            members[i].rank == members[i - 1].rank)
            members[i].number = members[i - 1].number + 1;
    qsort_r(members, count, sizeof *members, by_place, user);
    for (size_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count && members[end].key == members[i].key && members[end].step == members[i].step &&
                          members[end].number == members[i].number;
             end++) {}
        bool message = members[i].key >> 63;
        uint32_t size = message ? 2 : graph->recorded->groups[members[i].key].size;
        if (end - i > 1 && (!size || end - i >= size))
            meet(graph, &members[i], end - i);
    }
}

/* ---- the graph ---- */

static void find_span(const struct graph *graph, double *begin, double *end)
{
    const struct recorded *recorded = graph->recorded;
    *begin = INFINITY;
    *end = -INFINITY;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if ((!recorded_works(operation) && operation->kind != RECORDED_LAUNCH && !is_step(recorded, operation)) ||
            !counts(graph, operation))
            continue;
        *begin = fmin(*begin, operation->begin);
        *end = fmax(*end, operation->kind == RECORDED_LAUNCH ? operation->begin : operation->end);
    }
}

static bool has_steps(const struct recorded *recorded)
{
    for (size_t i = 0; i < recorded->count; i++)
        if (is_step(recorded, &recorded->operations[i]))
            return true;
    return false;
}

static uint32_t *none(size_t count)
{
    uint32_t *values = array_zeroed(count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = RECORDED_NONE;
    return values;
}

static void build_all(struct graph *graph)
{
    const struct recorded *recorded = graph->recorded;
    for (size_t i = 0; i < recorded->count; i++)
        graph->launched[i] = NAN;
    add_device(graph);
    graph_line_up(graph);
    for (size_t s = 0; s < recorded->stream_count; s++)
        graph->passed[s] = graph->line_first[s];
    for (uint32_t rank = 0; rank < recorded->rank_count; rank++) {
        collect_calls(graph, rank);
        join_launches(graph, rank);
        join_records(graph, rank);
        collect_moments(graph, rank);
        chain_host(graph, rank);
    }
    meet_all(graph);
    graph_chain_streams(graph);
    graph_join_streams(graph);
}

struct replay *kernel_graph_create(const struct recorded *recorded, struct fault *fault)
{
    size_t count = recorded->count;
    struct replay_build build = {.recorded = recorded, .work = none(count), .arrival = none(count)};
    struct graph graph = {.build = &build,
                          .recorded = recorded,
                          .launched = array_zeroed(count, sizeof *graph.launched),
                          .launch = none(count),
                          .device = none(count),
                          .noted = array_zeroed(recorded->sync_count, sizeof *graph.noted),
                          .passed = array_zeroed(recorded->stream_count, sizeof *graph.passed)};
    double begin, end;
    graph.stepless = !has_steps(recorded);
    find_span(&graph, &begin, &end);
    build_all(&graph);
    free(graph.calls);
    free(graph.moments);
    free(graph.launched);
    free(graph.launch);
    free(graph.device);
    free(graph.passed);
    free(graph.noted);
    free(graph.line);
    free(graph.line_first);
    free(graph.members);
    return replay_of(&build, begin, end, fault);
}
