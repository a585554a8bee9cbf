/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/engine_replay.h"

#include "base/arena.h"
#include "platforms/library.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

/* An operation of the program. */
struct spot {
    uint32_t position, operation;
};

/* What stands for a node: one operation of its rank, or, of a meeting, one of each rank that comes to it. None: who
 * waits for it waits for what it waits for. */
struct node_place {
    struct spot *spots;
    uint32_t count;
    uint32_t cost; /* that says how long it takes; NOWHERE: it takes no time */
};

/* Ranks that meet again and again for the same, as a group of the program. */
struct circle {
    uint64_t key;
    const uint32_t *positions;
    uint32_t count, group;
};

struct engine_replay {
    const struct replay *replay;
    struct mesh mesh;
    struct platform platform;
    struct program *program;
    struct timeline *timeline;
    uint32_t *hosts;
    uint32_t *cost_of; /* [node]; NOWHERE: it takes no time */
    struct arena *arena;
};

struct building {
    struct engine_replay *to;
    const struct replay *replay;
    struct program_builder *builder;
    struct node_place *places;     /* [node] */
    uint32_t *first_after, *after; /* [node]: after[first_after[node] .. first_after[node + 1]) wait for it */
    struct spot *awaited;          /* of the node that is being placed */
    size_t awaited_count, awaited_capacity;
    struct circle *circles;
    size_t circle_count, circle_capacity;
    uint32_t nothing; /* cost */
};

/* ---- a platform on which nothing takes time ---- */

static void route_at_once(struct platform *platform, uint32_t from, uint32_t to, struct platform_route *route)
{
    static const uint32_t link;
    (void)platform;
    (void)from;
    (void)to;
    *route = (struct platform_route){.bandwidth = 1e30, .link_count = 1, .links = &link};
}

static bool reaches_all(struct platform *platform, uint32_t from, uint32_t to)
{
    (void)platform;
    (void)from;
    (void)to;
    return true;
}

static void make_platform(struct engine_replay *to, uint32_t ranks)
{
    struct platform_host *hosts = arena_array(to->arena, ranks, sizeof *hosts);
    struct platform_link *link = arena_array(to->arena, 1, sizeof *link);
    to->hosts = arena_array(to->arena, ranks, sizeof *to->hosts);
    *link = (struct platform_link){.name = "at once", .bandwidth = 1e30, .sharing = LINK_FATPIPE};
    for (uint32_t i = 0; i < ranks; i++) {
        hosts[i] = (struct platform_host){.name = "rank", .node = "", .speed = 1};
        to->hosts[i] = i;
    }
    to->platform = (struct platform){.file = "the trace",
                                     .host_count = ranks,
                                     .hosts = hosts,
                                     .link_count = 1,
                                     .links = link,
                                     .route = route_at_once,
                                     .reaches = reaches_all};
    library_complete(&to->platform.library);
    to->mesh = (struct mesh){.axis_count = 1, .axes = {{.name = "rank", .size = ranks, .distinct = true}}};
    mesh_finish(&to->mesh, to->arena);
}

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

static void place_operation(struct building *b, uint32_t index)
{
    const struct replay_node *node = &b->replay->nodes[index];
    const struct recorded_operation *operation = &b->replay->recorded->operations[node->operation];
    struct node_place *place = &b->places[index];
    struct stagesim_cost cost = {.seconds = node->seconds};
    struct spot own = {.position = position_of(b, index)};
    b->awaited_count = 0;
    find_awaited(b, index, own.position);
    uint32_t *received = send_awaited(b, own.position, operation);
    place->cost = program_add_cost(b->builder, &cost);
    if (operation->kind == RECORDED_COMPUTE)
        own.operation = program_add_compute(b->builder, own.position, no_identity, place->cost);
    else
        own.operation = program_add_delay(b->builder, own.position, lane_of(node, operation), no_identity, place->cost);
    wait_for(b, own, received);
    free(received);
    place->spots = arena_array(b->to->arena, 1, sizeof *place->spots);
    place->spots[0] = own;
    place->count = 1;
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
    uint32_t *all = arena_array(b->to->arena, b->awaited_count + last - first, sizeof *all);
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

static void place_meeting(struct building *b, uint32_t node)
{
    struct node_place *place = &b->places[node];
    uint64_t purpose = purpose_of(b, node);
    uint32_t *members;
    b->awaited_count = 0;
    find_awaited(b, node, NOWHERE);
    uint32_t count = purpose ? find_members(b, node, &members) : 0;
    if (count < 2)
        return;
    uint32_t group = group_of(b, purpose, members, count);
    place->spots = arena_array(b->to->arena, count, sizeof *place->spots);
    place->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct spot own = {members[i], program_add_collective(b->builder, members[i], group, STAGESIM_BARRIER,
                                                              no_identity, b->nothing)};
        for (size_t k = 0; k < b->awaited_count; k++)
            if (b->awaited[k].position == own.position)
                program_add_wait(b->builder, own.position, own.operation, b->awaited[k].operation);
        place->spots[i] = own;
    }
}

/* ---- the program ---- */

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

/* Nodes in an order in which each is behind what it waits for, so that every stream is in such an order. */
static bool place_all(struct building *b, struct fault *fault)
{
    for (uint32_t i = 0; i < b->replay->node_count; i++) {
        uint32_t node = b->replay->order[i];
        b->places[node].cost = NOWHERE;
        if (b->replay->nodes[node].kind == REPLAY_MEETING)
            place_meeting(b, node);
        else
            place_operation(b, node);
    }
    for (uint32_t position = 0; position < b->to->mesh.positions; position++)
        if (program_is_full(b->builder, position))
            return fault_set(fault, "step %u has more streams or operations than a program may have", b->replay->step);
    return true;
}

static void finish_program(struct building *b)
{
    struct engine_replay *to = b->to;
    static const struct collective_policy automatic;
    to->cost_of = arena_array_unset(to->arena, (size_t)b->replay->node_count + 1, sizeof *to->cost_of);
    for (uint32_t i = 0; i < b->replay->node_count; i++)
        to->cost_of[i] = b->places[i].cost;
    to->program = program_finish(b->builder, to->arena);
    to->program->iterations = to->program->period = 1;
    assignment_create(to->program, to->arena);
    assignment_place(to->program->assignment, &to->platform, to->hosts, &automatic);
    to->timeline = timeline_create(to->program);
}

struct engine_replay *engine_replay_create(const struct replay *replay, struct fault *fault)
{
    struct engine_replay *to = array_zeroed(1, sizeof *to);
    struct building building = {.to = to, .replay = replay};
    const struct stagesim_cost nothing = {0};
    to->replay = replay;
    to->arena = arena_create();
    make_platform(to, (uint32_t)replay->recorded->rank_count);
    building.builder = program_builder_create(&to->mesh);
    building.nothing = program_add_cost(building.builder, &nothing);
    building.places = array_zeroed(replay->node_count, sizeof *building.places);
    link_after(&building);
    bool good = place_all(&building, fault);
    if (good)
        finish_program(&building);
    program_builder_destroy(building.builder);
    free(building.places);
    free(building.first_after);
    free(building.after);
    free(building.awaited);
    free(building.circles);
    if (good)
        return to;
    engine_replay_finish(to);
    return NULL;
}

void engine_replay_finish(struct engine_replay *replay)
{
    if (!replay)
        return;
    timeline_destroy(replay->timeline);
    arena_destroy(replay->arena);
    free(replay);
}

/* ---- a run ---- */

double engine_replay_time(struct engine_replay *replay, const double *seconds, const double *gaps, struct fault *fault)
{
    const struct replay *graph = replay->replay;
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (replay->cost_of[i] != NOWHERE)
            replay->program->costs[replay->cost_of[i]].seconds =
                (gaps ? gaps[i] : graph->nodes[i].gap) + (seconds ? seconds[i] : graph->nodes[i].seconds);
    struct engine_job job = {.program = replay->program,
                             .platform = &replay->platform,
                             .hosts = replay->hosts,
                             .timeline = replay->timeline,
                             .apart = true,
                             .transfers_free = true};
    timeline_reset(replay->timeline);
    if (!engine_analytic.run(&job, fault))
        return NAN;
    double last = 0;
    for (uint32_t rank = 0; rank < replay->timeline->rank_count; rank++)
        for (uint32_t id = 0; id < replay->program->positions[rank].operation_count; id++)
            last = fmax(last, replay->timeline->moments[rank][id].end);
    return last;
}
