/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "studies/explain/engine_replay_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a node waits for ---- */

static uint32_t position_of(const struct building *b, uint32_t node)
{
    const struct recorded *recorded = b->replay->recorded;
    return recorded_rank_of(recorded, &recorded->operations[b->replay->nodes[node].operation]);
}

static void add_awaited(struct building *b, struct spot spot)
{
    b->awaited = array_grow(b->awaited, &b->awaited_capacity, b->awaited_count + 1, sizeof *b->awaited);
    b->awaited[b->awaited_count++] = spot;
}

/* Of a meeting, the operation of that rank, if it comes to it. */
static struct spot spot_at(const struct node_place *place, uint32_t position)
{
    for (uint32_t i = 0; i < place->count; i++)
        if (place->spots[i].position == position)
            return place->spots[i];
    return place->spots[0];
}

/* What of the program the node waits for, seen from a rank (NOWHERE: from any). */
static void find_awaited(struct building *b, uint32_t node, uint32_t position)
{
    const struct replay *replay = b->replay;
    for (uint32_t i = replay->first_before[node]; i < replay->first_before[node + 1]; i++) {
        uint32_t before = replay->before[i];
        if (b->other_end[node] == before && b->places[before].transfer != NOWHERE)
            continue; /* its message is awaited */
        if (b->places[before].count)
            add_awaited(b, spot_at(&b->places[before], position));
        else
            find_awaited(b, before, position);
    }
}

/* ---- operations ---- */

static const struct stagesim_identity no_identity = {
    .kind = STAGESIM_OTHER, .stage = STAGESIM_NONE, .micro_batch = STAGESIM_NONE, .layer = STAGESIM_NONE};

/* One delay of a lane follows the other, as do operations of a stream of the trace. */
static uint32_t lane_of(const struct replay_node *node, const struct recorded_operation *operation)
{
    enum { KINDS = 16, WORKS = 16 };
    uint32_t what = (operation->stream * KINDS + operation->kind) * WORKS + operation->work;
    return 2 * what + (node->kind == REPLAY_ARRIVAL);
}

/* Messages between two ranks of one kind follow each other, as those of a stream of the trace do. */
static struct stagesim_identity identity_of(const struct recorded *recorded, const struct recorded_operation *operation)
{
    struct stagesim_identity identity = no_identity;
    const char *name = recorded_name_of(recorded, operation);
    for (int kind = 0; kind < STAGESIM_OFFLOAD; kind++)
        if (!strcmp(name, kind_name((enum stagesim_kind)kind)))
            identity.kind = (enum stagesim_kind)kind;
    return identity;
}

/* Waits for the spots of its own rank, and for messages from those of others. */
static void wait_for(struct building *b, struct spot own, const uint32_t *received)
{
    for (size_t i = 0; i < b->awaited_count; i++) {
        bool here = b->awaited[i].position == own.position;
        program_add_wait(b->builder, own.position, own.operation, here ? b->awaited[i].operation : received[i]);
    }
}

/* Messages without bytes from what is awaited on other ranks. [awaited]: the receives; the caller frees them. */
static uint32_t *send_awaited(struct building *b, uint32_t position, const struct recorded_operation *operation)
{
    struct stagesim_identity identity = identity_of(b->replay->recorded, operation);
    uint32_t *received = array_zeroed(b->awaited_count, sizeof *received);
    for (size_t i = 0; i < b->awaited_count; i++) {
        struct spot from = b->awaited[i];
        uint32_t send;
        if (from.position == position)
            continue;
        program_add_message(b->builder, from.position, position, identity, b->nothing, &send, &received[i]);
        program_add_wait(b->builder, from.position, send, from.operation);
    }
    return received;
}

/* Whether the data of a member of a collective are moved by the one that its ranks meet in. */
static bool is_moved(const struct building *b, uint32_t node)
{
    const struct replay *replay = b->replay;
    bool moved = false;
    for (uint32_t i = replay->first_before[node]; i < replay->first_before[node + 1] && !moved; i++) {
        uint32_t before = replay->before[i];
        moved = replay->nodes[before].kind == REPLAY_MEETING && b->places[before].transfer != NOWHERE;
        if (moved)
            b->places[node].transfer = b->places[before].transfer;
    }
    return moved;
}

/* What a node takes before its data move, or in all. */
static uint32_t cost_of(struct building *b, const struct replay_node *node, bool moved)
{
    struct stagesim_cost cost = {.seconds = node->gap + (moved ? 0 : node->seconds)};
    cost.seconds = cost.seconds > 0 ? cost.seconds : 0;
    return program_add_cost(b->builder, &cost);
}

/* Behind what a send waits for, a message moves its bytes. */
static void add_transfer(struct building *b, uint32_t index, double bytes)
{
    const struct recorded_operation *operation = &b->replay->recorded->operations[b->replay->nodes[index].operation];
    struct node_place *place = &b->places[index];
    struct stagesim_cost cost = {.bytes = bytes};
    uint32_t send;
    place->transfer = program_add_cost(b->builder, &cost);
    program_add_message(b->builder, place->spots[0].position, position_of(b, b->other_end[index]),
                        identity_of(b->replay->recorded, operation), place->transfer, &send, &place->received);
    program_add_wait(b->builder, place->spots[0].position, send, place->spots[0].operation);
    place->spots[0].operation = send;
}

static bool waits_for(const struct replay *replay, uint32_t node, uint32_t other)
{
    for (uint32_t i = replay->first_before[node]; i < replay->first_before[node + 1]; i++)
        if (replay->before[i] == other)
            return true;
    return false;
}

/* Adds the message to what a receive waits for; whether there is one. A receive that waits for its send takes no time
 * of its own. */
static bool await_transfer(struct building *b, uint32_t index)
{
    uint32_t other = b->other_end[index];
    if (other == NOWHERE || b->places[other].transfer == NOWHERE)
        return false;
    add_awaited(b, (struct spot){position_of(b, index), b->places[other].received});
    if (!waits_for(b->replay, index, other))
        b->places[index].transfer = b->places[other].transfer;
    return true;
}

static void place_operation(struct building *b, uint32_t index)
{
    const struct replay_node *node = &b->replay->nodes[index];
    const struct recorded_operation *operation = &b->replay->recorded->operations[node->operation];
    struct node_place *place = &b->places[index];
    struct spot own = {.position = position_of(b, index)};
    double bytes = NAN;
    bool sends = operation->kind == RECORDED_SEND, moved;
    if (place->count)
        return; /* before its other end */
    if (operation->kind == RECORDED_RECEIVE && b->other_end[index] != NOWHERE)
        place_operation(b, b->other_end[index]);
    b->awaited_count = 0;
    find_awaited(b, index, own.position);
    if (sends && b->other_end[index] != NOWHERE)
        bytes = b->network->message(b->network->user, node->operation);
    moved = sends ? !isnan(bytes) : await_transfer(b, index) || is_moved(b, index);
    uint32_t *received = send_awaited(b, own.position, operation);
    place->cost = cost_of(b, node, moved);
    if (operation->kind == RECORDED_COMPUTE && !b->network && b->replay->recorded->timeline)
        own.operation = program_add_compute(b->builder, own.position, no_identity, place->cost);
    else
        own.operation = program_add_delay(b->builder, own.position, lane_of(node, operation), no_identity, place->cost);
    wait_for(b, own, received);
    free(received);
    place->spots = arena_array(b->arena, 1, sizeof *place->spots);
    place->spots[0] = own;
    place->count = 1;
    if (sends && moved)
        add_transfer(b, index, bytes);
}

/* ---- meetings ---- */

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Ranks that come to a meeting or go on after it, ascending; memory from the arena. */
static uint32_t find_members(struct building *b, uint32_t node, uint32_t **members)
{
    uint32_t first = b->first_after[node], last = b->first_after[node + 1], count = 0, kept = 0;
    uint32_t *all = arena_array(b->arena, b->awaited_count + last - first, sizeof *all);
    for (size_t i = 0; i < b->awaited_count; i++)
        all[count++] = b->awaited[i].position;
    for (uint32_t i = first; i < last; i++)
        if (b->replay->nodes[b->after[i]].operation != RECORDED_NONE)
            all[count++] = position_of(b, b->after[i]);
    if (count)
        qsort(all, count, sizeof *all, by_number);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || all[kept - 1] != all[i])
            all[kept++] = all[i];
    *members = all;
    return kept;
}

/* What they meet for: that of an operation behind it. 0: nothing is behind it. */
static uint64_t purpose_of(const struct building *b, uint32_t node)
{
    for (uint32_t i = b->first_after[node]; i < b->first_after[node + 1]; i++) {
        uint32_t operation = b->replay->nodes[b->after[i]].operation;
        if (operation == RECORDED_NONE)
            continue;
        const struct recorded_operation *it = &b->replay->recorded->operations[operation];
        return 1 + ((uint64_t)it->name << 32 | (it->group & 0xffffff) << 8 | (uint32_t)it->work << 4 | it->kind);
    }
    return 0;
}

static uint32_t group_of(struct building *b, uint64_t key, const uint32_t *members, uint32_t count)
{
    for (size_t i = 0; i < b->circle_count; i++) {
        const struct circle *circle = &b->circles[i];
        if (circle->key == key && circle->count == count &&
            !memcmp(circle->positions, members, count * sizeof *members))
            return circle->group;
    }
    b->circles = array_grow(b->circles, &b->circle_capacity, b->circle_count + 1, sizeof *b->circles);
    uint32_t group = program_add_group(b->builder, 0, members, count);
    b->circles[b->circle_count++] = (struct circle){key, members, count, group};
    return group;
}

/* What the members of a meeting do there with their data; false: it is not known. */
static bool describe(const struct building *b, uint32_t node, const uint32_t *members, uint32_t count,
                     struct replay_collective *moving)
{
    uint32_t behind = 0, operation = RECORDED_NONE;
    for (uint32_t i = b->first_after[node]; i < b->first_after[node + 1]; i++) {
        uint32_t after = b->replay->nodes[b->after[i]].operation;
        if (after == RECORDED_NONE || b->replay->recorded->operations[after].kind != RECORDED_COLLECTIVE)
            return false;
        operation = after;
        behind++;
    }
    return behind == count && b->network->collective(b->network->user, operation, members, count, moving);
}

static void place_meeting(struct building *b, uint32_t node)
{
    struct replay_collective moving = {.collective = STAGESIM_BARRIER};
    uint32_t cost = b->nothing;
    struct node_place *place = &b->places[node];
    uint64_t purpose = purpose_of(b, node);
    uint32_t *members;
    b->awaited_count = 0;
    find_awaited(b, node, NOWHERE);
    uint32_t count = purpose ? find_members(b, node, &members) : 0;
    bool known = count && b->network && describe(b, node, members, count, &moving);
    if (known && count > 1)
        place->transfer = cost = moving.pairs ? program_add_pairs_cost(b->builder, &moving.cost, count, moving.pairs)
                                              : program_add_cost(b->builder, &moving.cost);
    free(moving.pairs);
    if (count < 2)
        return;
    uint32_t group = group_of(b, purpose, members, count);
    place->spots = arena_array(b->arena, count, sizeof *place->spots);
    place->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct spot own = {members[i],
                           program_add_collective(b->builder, members[i], group, moving.collective, no_identity, cost)};
        for (size_t k = 0; k < b->awaited_count; k++)
            if (b->awaited[k].position == own.position)
                program_add_wait(b->builder, own.position, own.operation, b->awaited[k].operation);
        place->spots[i] = own;
    }
}

/* ---- all nodes ---- */

static void link_after(struct building *b)
{
    const struct replay *replay = b->replay;
    uint32_t count = replay->node_count, *next = array_zeroed(count, sizeof *next);
    b->first_after = array_zeroed((size_t)count + 1, sizeof *b->first_after);
    b->after = array_zeroed(replay->first_before[count], sizeof *b->after);
    for (uint32_t i = 0; i < replay->first_before[count]; i++)
        b->first_after[replay->before[i] + 1]++;
    for (uint32_t i = 0; i < count; i++)
        b->first_after[i + 1] += b->first_after[i];
    for (uint32_t node = 0; node < count; node++)
        for (uint32_t i = replay->first_before[node]; i < replay->first_before[node + 1]; i++) {
            uint32_t before = replay->before[i];
            b->after[b->first_after[before] + next[before]++] = node;
        }
    free(next);
}

/* The receive of a send: it waits for it, or for the meeting of both. */
static uint32_t find_receive(const struct building *b, uint32_t node, bool met)
{
    const struct replay *replay = b->replay;
    for (uint32_t i = b->first_after[node]; i < b->first_after[node + 1]; i++) {
        uint32_t operation = replay->nodes[b->after[i]].operation;
        if (operation != RECORDED_NONE && replay->recorded->operations[operation].kind == RECORDED_RECEIVE)
            return b->after[i];
    }
    for (uint32_t i = replay->first_before[node]; i < replay->first_before[node + 1] && !met; i++)
        if (replay->nodes[replay->before[i]].kind == REPLAY_MEETING) {
            uint32_t found = find_receive(b, replay->before[i], true);
            if (found != NOWHERE)
                return found;
        }
    return NOWHERE;
}

static void find_other_ends(struct building *b)
{
    const struct replay *replay = b->replay;
    b->other_end = array_zeroed(replay->node_count, sizeof *b->other_end);
    for (uint32_t i = 0; i < replay->node_count; i++)
        b->other_end[i] = NOWHERE;
    for (uint32_t i = 0; i < replay->node_count && b->network; i++) {
        uint32_t operation = replay->nodes[i].operation, other = NOWHERE;
        if (operation != RECORDED_NONE && replay->recorded->operations[operation].kind == RECORDED_SEND)
            other = find_receive(b, i, false);
        if (other != NOWHERE && position_of(b, other) != position_of(b, i)) {
            b->other_end[i] = other;
            b->other_end[other] = i;
        }
    }
}

/* Nodes in an order in which each is behind what it waits for, so that every stream is in such an order. */
bool engine_replay_place(struct building *b, struct fault *fault)
{
    link_after(b);
    find_other_ends(b);
    for (uint32_t i = 0; i < b->replay->node_count; i++)
        b->places[i] = (struct node_place){.cost = NOWHERE, .transfer = NOWHERE, .received = NOWHERE};
    for (uint32_t i = 0; i < b->replay->node_count; i++) {
        uint32_t node = b->replay->order[i];
        if (b->replay->nodes[node].kind == REPLAY_MEETING)
            place_meeting(b, node);
        else
            place_operation(b, node);
    }
    for (uint32_t position = 0; position < b->replay->recorded->rank_count; position++)
        if (program_is_full(b->builder, position))
            return fault_set(fault, "step %u has more streams or operations than a program may have", b->replay->step);
    return true;
}
