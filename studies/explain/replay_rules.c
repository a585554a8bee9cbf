/* SPDX-License-Identifier: Apache-2.0 */
/* Job timelines that do not say what waits for what. Rules of synchronous pipelines: what a rank computes is in order,
 * behind the gathering of parameters; a message begins when its forward or backward is done, the one before it of its
 * kind has left, and the receiver has done with what it received before; both ends begin together. Behind the last
 * computation come the rank's collectives in their order, each when all its members have come. Waiting is cut off at
 * the front of what is recorded of messages and collectives. */
#include "base/arena.h"
#include "studies/explain/replay_build.h"

#include <stdlib.h>
#include <string.h>

/* An operation by what it is. */
struct known {
    uint32_t rank, sequence, operation;
    uint8_t kind, work;
};

struct rules {
    struct replay_build *build;
    struct known *known; /* by kind, work, rank, sequence */
    uint32_t *line;      /* of one rank: its operations in the order of begin */
    uint32_t stages;
};

static int by_what(const void *left, const void *right)
{
    const struct known *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->work != b->work)
        return a->work < b->work ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

/* Its node; RECORDED_NONE: there is none. */
static uint32_t find(const struct rules *rules, enum recorded_kind kind, enum recorded_work work, uint32_t rank,
                     uint32_t sequence)
{
    struct known key = {rank, sequence, 0, (uint8_t)kind, (uint8_t)work};
    size_t low = 0, high = rules->build->operation_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_what(&rules->known[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct known *it = &rules->known[low];
    bool found = low < rules->build->operation_count && it->kind == kind && it->work == work && it->rank == rank &&
                 it->sequence == sequence;
    return found ? *replay_work_of(rules->build, it->operation) : RECORDED_NONE;
}

static void add_nodes(struct rules *rules)
{
    struct replay_build *build = rules->build;
    for (size_t i = 0; i < build->operation_count; i++) {
        uint32_t index = build->operations[i];
        const struct recorded_operation *operation = &build->recorded->operations[index];
        *replay_work_of(build, index) = replay_add_node(build, index, REPLAY_WORK, operation->end - operation->begin);
        rules->known[i] = (struct known){recorded_rank_of(build->recorded, operation), operation->sequence, index,
                                         operation->kind, operation->work};
        if (operation->stage != RECORDED_NO_STAGE && operation->stage >= rules->stages)
            rules->stages = operation->stage + 1u;
    }
    if (build->operation_count)
        qsort(rules->known, build->operation_count, sizeof *rules->known, by_what);
}

/* ---- messages ---- */

/* Index of the rank of a stage in the pipeline of another rank; RECORDED_NONE: not in the trace. */
static uint32_t neighbour(const struct recorded *recorded, uint32_t rank, uint32_t stage)
{
    const struct recorded_rank *own = &recorded->ranks[rank];
    for (uint32_t i = 0; i < recorded->rank_count; i++) {
        const struct recorded_rank *other = &recorded->ranks[i];
        if (other->stage == stage && other->data == own->data && other->tensor == own->tensor)
            return i;
    }
    return RECORDED_NONE;
}

/* A send and its receive begin together; the computation behind the receive waits for it. */
static void add_message(struct rules *rules, const struct known *send)
{
    struct replay_build *build = rules->build;
    const struct recorded *recorded = build->recorded;
    bool forward = send->work == RECORDED_ACTIVATION;
    enum recorded_work work = send->work, computes = forward ? RECORDED_FORWARD : RECORDED_BACKWARD;
    uint32_t stage = recorded->ranks[send->rank].stage, from = *replay_work_of(build, send->operation);
    uint32_t other = neighbour(recorded, send->rank, forward ? stage + 1 : stage - 1), k = send->sequence;
    uint32_t to = other == RECORDED_NONE ? RECORDED_NONE : find(rules, RECORDED_RECEIVE, work, other, k);
    uint32_t meeting = replay_add_node(build, RECORDED_NONE, REPLAY_MEETING, 0);
    replay_add_edge(build, find(rules, RECORDED_COMPUTE, computes, send->rank, k), meeting);
    if (k)
        replay_add_edge(build, find(rules, RECORDED_SEND, work, send->rank, k - 1), meeting);
    replay_add_edge(build, meeting, from);
    if (to == RECORDED_NONE) {
        build->unmatched++;
        return;
    }
    if (k) {
        replay_add_edge(build, find(rules, RECORDED_COMPUTE, computes, other, k - 1), meeting);
        replay_add_edge(build, find(rules, RECORDED_RECEIVE, work, other, k - 1), meeting);
    }
    replay_add_edge(build, meeting, to);
    replay_add_edge(build, to, find(rules, RECORDED_COMPUTE, computes, other, k));
}

/* ---- what a rank does one after the other ---- */

static int by_begin(const void *left, const void *right, void *user)
{
    const struct recorded *recorded = user;
    const struct recorded_operation *a = &recorded->operations[*(const uint32_t *)left],
                                    *b = &recorded->operations[*(const uint32_t *)right];
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a > b) - (a < b);
}

/* All but messages, in the order of begin. */
static void add_line(struct rules *rules, uint32_t rank)
{
    struct replay_build *build = rules->build;
    const struct recorded *recorded = build->recorded;
    size_t count = 0;
    for (size_t i = 0; i < build->operation_count; i++) {
        const struct recorded_operation *operation = &recorded->operations[build->operations[i]];
        if (recorded_rank_of(recorded, operation) == rank && !recorded_is_message(operation))
            rules->line[count++] = build->operations[i];
    }
    if (count)
        qsort_r(rules->line, count, sizeof *rules->line, by_begin, (void *)(uintptr_t)recorded);
    for (size_t i = 1; i < count; i++)
        replay_add_edge(build, *replay_work_of(build, rules->line[i - 1]), *replay_work_of(build, rules->line[i]));
}

/* ---- collectives ---- */

/* Whether two members of collectives of one name and number belong to one: of the gradients of the embedding both ends
 * of a pipeline, of the gradients' norm all ranks, of everything else the replicas of a stage. */
static bool meets(const struct rules *rules, const struct known *a, const struct known *b)
{
    const struct recorded *recorded = rules->build->recorded;
    const struct recorded_rank *first = &recorded->ranks[a->rank], *second = &recorded->ranks[b->rank];
    const char *name = recorded_name_of(recorded, &recorded->operations[a->operation]);
    if (!strncmp(name, "optimizer", 9))
        return true;
    if (!strncmp(name, "embedding", 9))
        return first->data == second->data;
    if (!strncmp(name, "layernorm", 9))
        return a->rank == b->rank;
    return first->stage == second->stage;
}

/* What comes before a node on its line now comes before the meeting. */
static void meet_before(struct rules *rules, const struct known *const *members, size_t count)
{
    struct replay_build *build = rules->build;
    uint32_t meeting = replay_add_node(build, RECORDED_NONE, REPLAY_MEETING, 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t arrival = *replay_arrival_of(build, members[i]->operation);
        replay_add_edge(build, arrival, meeting);
        replay_add_edge(build, meeting, *replay_work_of(build, members[i]->operation));
    }
}

static bool same_name(const struct rules *rules, const struct known *a, const struct known *b)
{
    const struct recorded_operation *operations = rules->build->recorded->operations;
    return operations[a->operation].name == operations[b->operation].name && a->sequence == b->sequence;
}

static void add_collectives(struct rules *rules)
{
    size_t count = rules->build->operation_count, first = 0, end;
    while (first < count && rules->known[first].kind != RECORDED_COLLECTIVE)
        first++;
    for (end = first; end < count && rules->known[end].kind == RECORDED_COLLECTIVE; end++) {}
    const struct known **members = array_zeroed(end - first, sizeof *members);
    bool *done = array_zeroed(end - first, sizeof *done);
    for (size_t i = first; i < end; i++) {
        size_t found = 0;
        bool is_new = !done[i - first];
        for (size_t j = i; is_new && j < end; j++)
            if (!done[j - first] && same_name(rules, &rules->known[i], &rules->known[j]) &&
                meets(rules, &rules->known[i], &rules->known[j])) {
                done[j - first] = true;
                members[found++] = &rules->known[j];
            }
        if (found)
            meet_before(rules, members, found);
    }
    free(members);
    free(done);
}

/* A collective's place on its rank's line: nothing that takes time, before it meets the others. */
static void move_lines(struct rules *rules)
{
    struct replay_build *build = rules->build;
    for (size_t i = 0; i < build->operation_count; i++) {
        uint32_t index = build->operations[i];
        if (build->recorded->operations[index].kind == RECORDED_COLLECTIVE)
            *replay_arrival_of(build, index) = replay_add_node(build, RECORDED_NONE, REPLAY_MEETING, 0);
    }
    for (size_t i = 0; i < build->edge_count; i++) {
        const struct replay_node *after = &build->nodes[build->edges[i].after];
        if (after->kind == REPLAY_WORK && build->recorded->operations[after->operation].kind == RECORDED_COLLECTIVE)
            build->edges[i].after = *replay_arrival_of(build, after->operation);
    }
}

void replay_build_rules(struct replay_build *build)
{
    struct rules rules = {.build = build};
    rules.known = array_zeroed(build->operation_count + 1, sizeof *rules.known);
    rules.line = array_zeroed(build->operation_count, sizeof *rules.line);
    add_nodes(&rules);
    for (uint32_t rank = 0; rank < build->recorded->rank_count; rank++)
        add_line(&rules, rank);
    move_lines(&rules);
    for (size_t i = 0; i < build->operation_count; i++)
        if (rules.known[i].kind == RECORDED_SEND)
            add_message(&rules, &rules.known[i]);
    add_collectives(&rules);
    free(rules.known);
    free(rules.line);
}
