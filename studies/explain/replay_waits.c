/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines of our own: streams are in order, operations.csv says what else an operation waits for. */
#include "base/arena.h"
#include "studies/explain/replay_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A member of a collective or an end of a message, with what those that belong together have in common. */
struct party {
    uint64_t first, second;
    uint32_t operation;
};

static int by_meeting(const void *left, const void *right)
{
    const struct party *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static void add_nodes(struct replay_build *build)
{
    for (size_t i = 0; i < build->operation_count; i++) {
        uint32_t index = build->operations[i];
        const struct recorded_operation *operation = &build->recorded->operations[index];
        double seconds = operation->kind == RECORDED_RECEIVE ? 0 : operation->end - operation->begin;
        *replay_work_of(build, index) = replay_add_node(build, index, REPLAY_WORK, seconds);
        if (operation->kind == RECORDED_COLLECTIVE)
            *replay_arrival_of(build, index) = replay_add_node(build, index, REPLAY_ARRIVAL, 0);
    }
}

/* The node that an operation begins with. */
static uint32_t entry_of(struct replay_build *build, uint32_t operation)
{
    uint32_t arrival = *replay_arrival_of(build, operation);
    return arrival == RECORDED_NONE ? *replay_work_of(build, operation) : arrival;
}

static void add_order(struct replay_build *build)
{
    const struct recorded *recorded = build->recorded;
    for (size_t i = 1; i < build->operation_count; i++) {
        uint32_t before = build->operations[i - 1], after = build->operations[i];
        if (recorded->operations[before].stream == recorded->operations[after].stream)
            replay_add_edge(build, *replay_work_of(build, before), entry_of(build, after));
    }
    for (size_t i = 0; i < recorded->wait_count; i++) {
        const struct recorded_wait *wait = &recorded->waits[i];
        if (replay_has(build, &recorded->operations[wait->operation]) &&
            replay_has(build, &recorded->operations[wait->awaited]))
            replay_add_edge(build, *replay_work_of(build, wait->awaited), entry_of(build, wait->operation));
    }
}

/* All members of a collective have come, then its data move. */
static void meet(struct replay_build *build, const struct party *parties, size_t count)
{
    double latest = -INFINITY;
    uint32_t meeting = replay_add_node(build, RECORDED_NONE, REPLAY_MEETING, 0);
    for (size_t i = 0; i < count; i++) {
        latest = fmax(latest, build->recorded->operations[parties[i].operation].begin);
        replay_add_edge(build, *replay_arrival_of(build, parties[i].operation), meeting);
    }
    for (size_t i = 0; i < count; i++) {
        const struct recorded_operation *operation = &build->recorded->operations[parties[i].operation];
        uint32_t work = *replay_work_of(build, parties[i].operation),
                 own = *replay_arrival_of(build, parties[i].operation);
        bool early = operation->end < latest; /* it only gives, and need not wait for the others */
        build->nodes[work].seconds = operation->end - (early ? operation->begin : latest);
        replay_add_edge(build, early ? own : meeting, work);
    }
}

static size_t collect(struct replay_build *build, bool messages, struct party **parties)
{
    const struct recorded *recorded = build->recorded;
    size_t count = 0, capacity = 0;
    *parties = NULL;
    for (size_t i = 0; i < build->operation_count; i++) {
        const struct recorded_operation *operation = &recorded->operations[build->operations[i]];
        bool message = recorded_is_message(operation);
        if (messages ? !message : operation->kind != RECORDED_COLLECTIVE)
            continue;
        uint32_t own = recorded->ranks[recorded_rank_of(recorded, operation)].number;
        uint32_t from = operation->kind == RECORDED_SEND ? own : operation->peer,
                 to = operation->kind == RECORDED_SEND ? operation->peer : own;
        *parties = array_grow(*parties, &capacity, count + 1, sizeof **parties);
        (*parties)[count++] =
            message ? (struct party){(uint64_t)from << 32 | to, (uint64_t)operation->name << 32 | operation->sequence,
                                     build->operations[i]}
                    : (struct party){operation->group, operation->sequence, build->operations[i]};
    }
    if (count)
        qsort(*parties, count, sizeof **parties, by_meeting);
    return count;
}

static bool together(const struct party *a, const struct party *b)
{
    return a->first == b->first && a->second == b->second;
}

void replay_build_waits(struct replay_build *build)
{
    struct party *parties;
    add_nodes(build);
    add_order(build);
    size_t count = collect(build, false, &parties);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && together(&parties[i], &parties[end]); end++) {}
        meet(build, &parties[i], end - i);
    }
    free(parties);
    count = collect(build, true, &parties);
    for (size_t i = 0, end; i < count; i = end) {
        uint32_t send = RECORDED_NONE, receive = RECORDED_NONE;
        for (end = i; end < count && together(&parties[i], &parties[end]); end++)
            *(build->recorded->operations[parties[end].operation].kind == RECORDED_SEND ? &send : &receive) =
                *replay_work_of(build, parties[end].operation);
        build->unmatched += send == RECORDED_NONE || receive == RECORDED_NONE;
        replay_add_edge(build, send, receive);
    }
    free(parties);
}
