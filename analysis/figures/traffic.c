/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/traffic.h"

#include "analysis/figures/partner.h"
#include "base/arena.h"
#include "base/sum.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/stream_route.h"

#include <stdlib.h>

/* The member of a group that the position is; each position is one. */
static uint32_t member_of(const struct program *program, const struct group *group, const struct position *position)
{
    const struct mesh *mesh = program->mesh;
    uint32_t rank = mesh_rank(mesh, (uint32_t)(position - program->positions), 0), member = 0;
    for (uint32_t i = 0; i < group->position_count; i++)
        member += mesh_rank(mesh, group->positions[i], 0) < rank;
    return member;
}

double traffic_sent(const struct program *program, const struct operation *operation, const struct position *position)
{
    double bytes = operation_cost(program, operation)->bytes;
    if (operation->type == OPERATION_SEND)
        return bytes;
    if (operation->type != OPERATION_COLLECTIVE)
        return 0;
    uint32_t group = position->streams[operation->stream].peer;
    const struct collective_flows *flows = assignment_flows(program, group, operation);
    if (flows && flows->pairs)
        return flows->pairs->sent[member_of(program, &program->groups[group], position)];
    return flows ? bytes * flows->total / group_size(program, &program->groups[group]) : 0;
}

/* Bytes that a position sends in the beats that the whole job has more. */
static double more_sent(const struct frame *frame, uint32_t index)
{
    const struct program *program = frame->timeline->program;
    const struct position *position = &program->positions[index];
    struct sum total = {0, 0};
    for (uint32_t i = 0; frame->more && i < position->stream_count; i++) {
        struct more_operations more = frame_more_operations(frame, index, i);
        for (uint32_t id = more.range.first; id < more.range.end; id++)
            sum_add(&total, more.times * traffic_sent(program, &position->operations[id], position));
    }
    return sum_total(&total);
}

double traffic_total(const struct frame *frame)
{
    const struct program *program = frame->timeline->program;
    struct sum total = {0, 0};
    for (uint32_t index = 0; index < program->mesh->positions; index++) {
        const struct position *position = &program->positions[index];
        for (uint32_t id = 0; id < position->operation_count; id++)
            if (frame_measures(frame, &position->operations[id]))
                sum_add(&total, traffic_sent(program, &position->operations[id], position));
        sum_add(&total, more_sent(frame, index));
    }
    return sum_total(&total) * program->mesh->replicas / frame->measured;
}

/* ---- bytes over links ---- */

struct flow {
    uint32_t from, to; /* platform hosts */
    double bytes;
};

/* Flows that are gathered before they are routed: pairs of hosts that repeat are routed once. */
enum { FLOWS_MAX = 1 << 22 };

struct flows {
    struct flow *items;
    size_t count, capacity;
    struct platform *platform;
    const uint32_t *hosts;
    double *links; /* bytes so far */
};

static int by_hosts(const void *left, const void *right)
{
    const struct flow *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Puts the flows gathered so far on their links. */
static void route_flows(struct flows *flows)
{
    if (flows->count)
        qsort(flows->items, flows->count, sizeof *flows->items, by_hosts);
    for (size_t i = 0; i < flows->count;) {
        const struct flow *pair = &flows->items[i];
        struct sum bytes = {0, 0};
        for (; i < flows->count && flows->items[i].from == pair->from && flows->items[i].to == pair->to; i++)
            sum_add(&bytes, flows->items[i].bytes);
        struct platform_route route;
        flows->platform->route(flows->platform, pair->from, pair->to, &route);
        for (uint32_t k = 0; k < route.link_count; k++)
            flows->links[route.links[k]] +=
                platform_link_bytes(&flows->platform->links[route.links[k]], sum_total(&bytes));
    }
    flows->count = 0;
}

static void flow_add(struct flows *flows, uint32_t from_rank, uint32_t to_rank, double bytes)
{
    if (bytes <= 0)
        return;
    if (flows->count == FLOWS_MAX)
        route_flows(flows);
    flows->items = array_grow(flows->items, &flows->capacity, flows->count + 1, sizeof *flows->items);
    flows->items[flows->count++] = (struct flow){flows->hosts[from_rank], flows->hosts[to_rank], bytes};
}

/* Bytes of a stream's measured operations. */
static double stream_bytes(const struct frame *frame, const struct position *position, const struct stream *stream)
{
    struct sum sum = {0, 0};
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        if (frame_measures(frame, operation))
            sum_add(&sum, operation_cost(frame->timeline->program, operation)->bytes);
    }
    return sum_total(&sum) / frame->measured;
}

/* Stashes between a rank and its host's memory. */
static void add_to_memory(const struct frame *frame, struct flows *flows, uint32_t rank, const struct stream *stream,
                          double bytes)
{
    struct platform_route route;
    stream_route(frame->timeline->program, flows->platform, flows->hosts, rank, stream, &route);
    for (uint32_t i = 0; i < route.link_count; i++)
        flows->links[route.links[i]] += platform_link_bytes(&flows->platform->links[route.links[i]], bytes);
}

static void add_messages(const struct frame *frame, struct flows *flows)
{
    const struct mesh *mesh = frame->timeline->program->mesh;
    for (uint32_t index = 0; index < mesh->positions; index++) {
        const struct position *position = &frame->timeline->program->positions[index];
        for (uint32_t i = 1; i < position->stream_count; i++) {
            const struct stream *stream = &position->streams[i];
            if (stream->type != OPERATION_SEND)
                continue;
            double bytes = stream_bytes(frame, position, stream);
            for (uint32_t replica = 0; replica < mesh->replicas; replica++)
                if (stream_offloads(stream))
                    add_to_memory(frame, flows, mesh_rank(mesh, index, replica), stream, bytes);
                else
                    flow_add(flows, mesh_rank(mesh, index, replica), mesh_rank(mesh, stream->peer, replica), bytes);
        }
    }
}

/* Bytes of a group's measured operations that are carried out with the same flows. */
struct moved {
    const struct collective_flows *flows;
    struct sum bytes;
};

struct all_moved {
    struct moved *items;
    size_t count, capacity;
};

static void collect_moved(const struct frame *frame, const struct position *position, const struct stream *stream,
                          struct all_moved *moved)
{
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        const struct collective_flows *flows = assignment_flows(frame->timeline->program, stream->peer, operation);
        if (!flows || !frame_measures(frame, operation))
            continue;
        size_t known = 0;
        while (known < moved->count && moved->items[known].flows != flows)
            known++;
        if (known == moved->count) {
            moved->items = array_grow(moved->items, &moved->capacity, moved->count + 1, sizeof *moved->items);
            moved->items[moved->count++] = (struct moved){.flows = flows};
        }
        sum_add(&moved->items[known].bytes, operation_cost(frame->timeline->program, operation)->bytes);
    }
}

static void add_instance(struct flows *flows, const uint32_t *ranks, const struct moved *moved, double measured)
{
    double bytes = sum_total(&moved->bytes) / measured;
    for (size_t i = 0; bytes > 0 && i < moved->flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(moved->flows, i);
        flow_add(flows, ranks[flow.from], ranks[flow.to], bytes * flow.share);
    }
}

static void add_collectives(const struct frame *frame, struct flows *flows, struct arena *arena)
{
    const struct program *program = frame->timeline->program;
    uint32_t *ranks = arena_array(arena, program->mesh->ranks, sizeof *ranks);
    for (uint32_t g = 0; g < program->group_count; g++) {
        const struct group *group = &program->groups[g];
        const struct position *position = group->position_count ? &program->positions[group->positions[0]] : NULL;
        const struct stream *stream = position ? partner_collectives(position, g) : NULL;
        struct all_moved moved = {0};
        if (stream)
            collect_moved(frame, position, stream, &moved);
        for (uint32_t instance = 0; moved.count && instance < group_instances(program, group); instance++) {
            group_ranks(program, group, instance, ranks);
            for (size_t i = 0; i < moved.count; i++)
                add_instance(flows, ranks, &moved.items[i], frame->measured);
        }
        free(moved.items);
    }
}

double *traffic_links(const struct frame *frame, struct platform *platform, const uint32_t *hosts, struct arena *arena)
{
    double *links = arena_array(arena, (size_t)platform->link_count + 1, sizeof *links);
    struct flows flows = {.platform = platform, .hosts = hosts, .links = links};
    add_messages(frame, &flows);
    add_collectives(frame, &flows, arena);
    route_flows(&flows);
    free(flows.items);
    return links;
}
