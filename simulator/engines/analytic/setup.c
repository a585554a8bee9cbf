/* SPDX-License-Identifier: Apache-2.0 */
/* What the contention-free engine walks along: streams with the routes of their messages, and the instances of groups.
 */
#include "simulator/engines/analytic/walk.h"

#include "simulator/engines/overlap.h"
#include "simulator/program/stream_route.h"

/* The platform's fault, not the simulation's. */
static bool refuse_route(const struct walk *walk, uint32_t from, uint32_t to)
{
    walk->fault->refused = !walk->fault->text[0];
    return fault_set(walk->fault, "the platform has no route from host '%s' to host '%s'",
                     walk->platform->hosts[from].name, walk->platform->hosts[to].name);
}

static bool refuse_memory(const struct walk *walk, uint32_t host)
{
    walk->fault->refused = !walk->fault->text[0];
    return fault_set(walk->fault,
                     "stashes move to host memory, but the platform does not say how host '%s' gets there: no route of "
                     "its begins with a link of the class pcie, and there is no link pcie-%s%s",
                     walk->platform->hosts[host].name, walk->platform->hosts[host].name,
                     walk->platform->down ? " that is not down" : "");
}

static bool connect_send(struct walk *walk, uint32_t index, const struct stream *stream, struct cursor *cursor)
{
    const struct mesh *mesh = walk->program->mesh;
    uint32_t rank = walk->timeline->ranks[index], peer = mesh_rank(mesh, stream->peer, mesh->replica_of[rank]);
    struct platform_route route;
    stream_route(walk->program, walk->platform, walk->hosts, rank, stream, &route);
    if (route.link_count == 0 && stream_offloads(stream))
        return refuse_memory(walk, walk->hosts[rank]);
    if (route.link_count == 0 && route.latency <= 0)
        return refuse_route(walk, walk->hosts[rank], walk->hosts[peer]);
    cursor->latency = route.latency;
    cursor->ahead = cursor->free = walk->program->pipelined ? route.latency : 0;
    cursor->seconds_per_byte = 1 / route.bandwidth;
    if (walk->free)
        cursor->latency = cursor->ahead = cursor->free = cursor->seconds_per_byte = 0;
    cursor->peer = walk->timeline->index_of[peer];
    cursor->opposite = stream->opposite;
    return true;
}

static double slowness_of(const struct walk *walk, uint32_t rank)
{
    const struct mesh *mesh = walk->program->mesh;
    uint32_t first = mesh_rank(mesh, mesh->position_of[rank], 0);
    return platform_full_speed(&walk->platform->hosts[walk->hosts[first]]) /
           walk->platform->hosts[walk->hosts[rank]].speed;
}

/* What is done before an engine that resumes begins. */
static void skip_done(struct walk *walk, const struct entry *entry, struct cursor *cursor)
{
    while (cursor->next < cursor->end && !isnan(entry->times[cursor->next].end)) {
        cursor->free = entry->times[cursor->next++].end;
        walk->done++;
    }
}

static bool init_entry(struct walk *walk, uint32_t index)
{
    const struct program *program = walk->program;
    struct entry *entry = &walk->entries[index];
    entry->position = &program->positions[program->mesh->position_of[walk->timeline->ranks[index]]];
    entry->replica = program->mesh->replica_of[walk->timeline->ranks[index]];
    entry->slowness = slowness_of(walk, walk->timeline->ranks[index]);
    entry->times = walk->timeline->moments[index];
    entry->cursors = arena_array(walk->arena, entry->position->stream_count, sizeof *entry->cursors);
    walk->total += entry->position->operation_count;
    walk->stack_count += entry->position->stream_count;
    for (uint32_t i = 0; i < entry->position->stream_count; i++) {
        const struct stream *stream = &entry->position->streams[i];
        entry->cursors[i] =
            (struct cursor){.next = stream->first, .end = stream->first + stream->count, .type = stream->type};
        if (walk->resumes)
            skip_done(walk, entry, &entry->cursors[i]);
        if (stream->type == OPERATION_SEND && !connect_send(walk, index, stream, &entry->cursors[i]))
            return false;
    }
    return true;
}

static bool has_route(struct walk *walk, const struct instance *instance)
{
    for (uint32_t i = 0; i < instance->rank_count && instance->rank_count > 1; i++) {
        uint32_t from = walk->hosts[instance->ranks[i]],
                 to = walk->hosts[instance->ranks[(i + 1) % instance->rank_count]];
        struct platform_route route;
        walk->platform->route(walk->platform, from, to, &route);
        if (route.link_count == 0 && route.latency <= 0)
            return refuse_route(walk, from, to);
    }
    return true;
}

/* Members with the same entry of the timeline, lowest first. */
static void list_alike(struct walk *walk, struct instance *instance)
{
    instance->next_alike = arena_array(walk->arena, instance->rank_count, sizeof *instance->next_alike);
    for (uint32_t m = instance->rank_count; m-- > 0;) {
        uint32_t index = walk->timeline->index_of[instance->ranks[m]];
        const struct position *position = walk->entries[index].position;
        uint32_t group = (uint32_t)(instance->group - walk->program->groups);
        const struct cursor *cursor = &walk->entries[index].cursors[position_group_stream(position, group)];
        instance->next_alike[m] = instance->participants[cursor->participant].member;
        instance->participants[cursor->participant].member = m;
    }
    if (!walk->starts || instance->rank_count > walk->members_max) {
        walk->members_max = instance->rank_count;
        walk->starts = arena_array(walk->arena, instance->rank_count, sizeof *walk->starts);
        walk->ends = arena_array(walk->arena, instance->rank_count, sizeof *walk->ends);
    }
}

/* Whether instances that are alike are there already: their members have the same entries. */
static bool is_represented(const struct walk *walk, uint32_t group, uint32_t rank)
{
    const struct entry *entry = &walk->entries[walk->timeline->index_of[rank]];
    return entry->cursors[position_group_stream(entry->position, group)].instance != NULL;
}

/* Each entry that stands for members takes part once. */
static void add_participants(struct walk *walk, struct instance *instance, uint32_t group)
{
    for (uint32_t i = 0; i < instance->rank_count; i++) {
        uint32_t index = walk->timeline->index_of[instance->ranks[i]];
        const struct position *position = walk->entries[index].position;
        uint32_t stream = position_group_stream(position, group);
        struct cursor *cursor = &walk->entries[index].cursors[stream];
        if (cursor->instance)
            continue;
        cursor->instance = instance;
        cursor->participant = instance->participant_count;
        instance->participants[instance->participant_count++] =
            (struct participant){index, stream, MEMBER_NONE, instance};
    }
}

/* False when a route is missing. */
static bool init_instance(struct walk *walk, uint32_t group, uint32_t number)
{
    const struct program *program = walk->program;
    struct instance *instance = arena_alloc(walk->arena, sizeof *instance);
    *instance = (struct instance){.group = &program->groups[group]};
    instance->rank_count = group_size(program, instance->group);
    instance->ranks = arena_array(walk->arena, instance->rank_count, sizeof *instance->ranks);
    group_ranks(program, instance->group, number, instance->ranks);
    if (is_represented(walk, group, instance->ranks[0]))
        return true;
    instance->participants = arena_array(walk->arena, instance->rank_count, sizeof *instance->participants);
    add_participants(walk, instance, group);
    list_alike(walk, instance);
    if (!walk->free)
        instance->share = overlap_share(walk->platform, walk->hosts, instance->ranks, instance->rank_count);
    if (instance->share > 0 && !walk->overlaps)
        walk->overlaps = overlaps_create(walk->timeline->rank_count);
    return has_route(walk, instance);
}

bool analytic_init(struct walk *walk)
{
    const struct program *program = walk->program;
    walk->entries = arena_array(walk->arena, walk->timeline->rank_count, sizeof *walk->entries);
    for (uint32_t index = 0; index < walk->timeline->rank_count; index++)
        if (!init_entry(walk, index))
            return false;
    walk->stack = arena_array(walk->arena, walk->stack_count, sizeof *walk->stack);
    walk->stack_count = 0;
    for (uint32_t group = 0; group < program->group_count; group++)
        if (program->groups[group].collective_count)
            for (uint32_t number = 0; number < group_instances(program, &program->groups[group]); number++)
                if (!init_instance(walk, group, number))
                    return false;
    return true;
}
