/* SPDX-License-Identifier: Apache-2.0 */
/* Which links a delayed operation shared: those of its routes over which other transfers moved meanwhile. */
#include "analysis/figures/contention.h"
#include "analysis/figures/partner.h"
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/stream_route.h"

#include <math.h>
#include <stdlib.h>

/* Which collective a delay is; messages are told by rank and id. */
struct delayed_collective {
    uint32_t group, instance, number; /* UINT32_MAX: a message; the instance's collectives counted from 0 */
};

struct counting {
    struct contention *contention;
    const struct timeline *timeline;
    struct platform *platform;
    const uint32_t *hosts;
    uint16_t *watchers;  /* [link]: bit i: delay i uses it */
    uint64_t *transfers; /* [delay * links + link]: of other operations, that move on it meanwhile */
    uint32_t *members;   /* of the group instance that is looked at */
    struct delayed_collective collectives[CONTENTION_DELAYS_MAX];
};

static const struct moment *delay_moment(const struct counting *counting, uint32_t delay)
{
    const struct contention_delay *delayed = &counting->contention->delays[delay];
    return &timeline_rank(counting->timeline, delayed->rank)[delayed->id];
}

static bool overlap(const struct moment *a, const struct moment *b)
{
    return fmin(a->end, b->end) > fmax(a->data_start, b->data_start);
}

static struct platform_route route_of(const struct counting *counting, uint32_t from, uint32_t to)
{
    struct platform_route route;
    counting->platform->route(counting->platform, counting->hosts[from], counting->hosts[to], &route);
    return route;
}

/* Delays that use a link of the route. */
static uint16_t route_watchers(const struct counting *counting, const struct platform_route *route)
{
    uint16_t watchers = 0;
    for (uint32_t i = 0; i < route->link_count; i++)
        watchers |= counting->watchers[route->links[i]];
    return watchers;
}

static void watch_route(struct counting *counting, uint32_t delay, uint32_t from, uint32_t to)
{
    struct platform_route route = route_of(counting, from, to);
    for (uint32_t i = 0; i < route.link_count; i++)
        counting->watchers[route.links[i]] |= (uint16_t)(1u << delay);
}

/* Counts a transfer on the route, for those of the delays that it overlaps. */
static void count_transfer(struct counting *counting, const struct platform_route *route, uint16_t watchers,
                           const struct moment *moment)
{
    for (uint32_t delay = 0; watchers >> delay; delay++) {
        if (!(watchers >> delay & 1) || !overlap(moment, delay_moment(counting, delay)))
            continue;
        for (uint32_t i = 0; i < route->link_count; i++)
            if (counting->watchers[route->links[i]] >> delay & 1)
                counting->transfers[(uint64_t)delay * counting->platform->link_count + route->links[i]]++;
    }
}

/* ---- messages ---- */

/* Bits of the delays that are this message. */
static uint16_t same_message(const struct counting *counting, uint32_t rank, uint32_t id)
{
    uint16_t same = 0;
    for (uint32_t i = 0; i < counting->contention->delay_count; i++) {
        const struct contention_delay *delay = &counting->contention->delays[i];
        same |= (uint16_t)((delay->rank == rank && delay->id == id) << i);
    }
    return same;
}

static void count_messages(struct counting *counting, uint32_t rank, const struct stream *stream)
{
    struct platform_route route;
    stream_route(counting->timeline->program, counting->platform, counting->hosts, rank, stream, &route);
    uint16_t watchers = route_watchers(counting, &route);
    const struct moment *moments = timeline_rank(counting->timeline, rank);
    for (uint32_t id = stream->first; watchers && id < stream->first + stream->count; id++)
        count_transfer(counting, &route, watchers & (uint16_t)~same_message(counting, rank, id), &moments[id]);
}

/* ---- collectives ---- */

static void load_members(struct counting *counting, uint32_t group, uint32_t instance)
{
    const struct program *program = counting->timeline->program;
    group_ranks(program, &program->groups[group], instance, counting->members);
}

/* Visits the routes of a collective's flows among the members that are loaded. */
static uint16_t flow_watchers(struct counting *counting, const struct collective_flows *flows)
{
    uint16_t watchers = 0;
    for (size_t i = 0; flows && i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        struct platform_route route = route_of(counting, counting->members[flow.from], counting->members[flow.to]);
        watchers |= route_watchers(counting, &route);
    }
    return watchers;
}

static bool overlaps_any(const struct counting *counting, uint16_t watchers, const struct moment *moment)
{
    for (uint32_t delay = 0; watchers >> delay; delay++)
        if (watchers >> delay & 1 && overlap(moment, delay_moment(counting, delay)))
            return true;
    return false;
}

/* Bits of the delays that are this collective. */
static uint16_t same_collective(const struct counting *counting, uint32_t group, uint32_t instance, uint32_t number)
{
    uint16_t same = 0;
    for (uint32_t i = 0; i < counting->contention->delay_count; i++) {
        const struct delayed_collective *delayed = &counting->collectives[i];
        same |=
            (uint16_t)((delayed->group == group && delayed->instance == instance && delayed->number == number) << i);
    }
    return same;
}

/* For the delays of the bits in `besides`. */
static void count_flows(struct counting *counting, const struct collective_flows *flows, uint16_t besides,
                        const struct moment *moment)
{
    for (size_t i = 0; flows && i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        struct platform_route route = route_of(counting, counting->members[flow.from], counting->members[flow.to]);
        count_transfer(counting, &route, route_watchers(counting, &route) & besides, moment);
    }
}

/* From the first data of a collective on to its end at all members that are loaded. */
static struct moment whole_moment(const struct counting *counting, const struct collective_flows *flows, uint32_t group,
                                  uint32_t number)
{
    const struct program *program = counting->timeline->program;
    struct moment whole = {.data_start = INFINITY, .end = 0};
    uint32_t count = flows && flows->start != START_TOGETHER ? group_size(program, &program->groups[group]) : 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = counting->members[i];
        const struct stream *stream = partner_collectives(&program->positions[program->mesh->position_of[rank]], group);
        const struct moment *moment = &timeline_rank(counting->timeline, rank)[stream->first + number];
        whole.data_start = fmin(whole.data_start, moment->data_start);
        whole.end = fmax(whole.end, moment->end);
    }
    return whole;
}

static void count_instance(struct counting *counting, uint32_t group, uint32_t instance)
{
    const struct program *program = counting->timeline->program;
    load_members(counting, group, instance);
    uint32_t rank = counting->members[0];
    const struct position *position = &program->positions[program->mesh->position_of[rank]];
    const struct stream *stream = partner_collectives(position, group);
    const struct collective_flows *last =
        NULL; /* watched are its watchers: mostly one kind of collective follows another of its kind */
    uint16_t watched = 0;
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct collective_flows *flows = assignment_flows(program, group, &position->operations[id]);
        if (flows != last)
            watched = flow_watchers(counting, flows);
        last = flows;
        uint16_t besides = (uint16_t)~same_collective(counting, group, instance, id - stream->first);
        struct moment whole = whole_moment(counting, flows, group, id - stream->first);
        if (overlaps_any(counting, watched & besides, &whole))
            count_flows(counting, flows, besides, &whole);
    }
}

/* ---- all of it ---- */

static void watch_delay(struct counting *counting, uint32_t index)
{
    const struct program *program = counting->timeline->program;
    const struct contention_delay *delay = &counting->contention->delays[index];
    counting->collectives[index] = (struct delayed_collective){UINT32_MAX, 0, 0};
    if (delay->peer != UINT32_MAX) {
        watch_route(counting, index, delay->rank, delay->peer);
        return;
    }
    const struct position *position = &program->positions[program->mesh->position_of[delay->rank]];
    const struct operation *operation = &position->operations[delay->id];
    uint32_t group = position->streams[operation->stream].peer;
    const struct collective_flows *flows = assignment_flows(program, group, operation);
    uint32_t instance = group_instance_of(program, &program->groups[group], program->mesh->replica_of[delay->rank]);
    counting->collectives[index] =
        (struct delayed_collective){group, instance, delay->id - position->streams[operation->stream].first};
    load_members(counting, group, instance);
    for (size_t i = 0; flows && i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        watch_route(counting, index, counting->members[flow.from], counting->members[flow.to]);
    }
}

static void count_all(struct counting *counting)
{
    const struct program *program = counting->timeline->program;
    for (uint32_t rank = 0; rank < program->mesh->ranks; rank++) {
        const struct position *position = &program->positions[program->mesh->position_of[rank]];
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_SEND)
                count_messages(counting, rank, &position->streams[i]);
    }
    for (uint32_t group = 0; group < program->group_count; group++)
        for (uint32_t i = 0;
             program->groups[group].collective_count && i < group_instances(program, &program->groups[group]); i++)
            count_instance(counting, group, i);
}

/* The links with most transfers; they are in the order of names. */
static void rank_links(const struct counting *counting, uint32_t index)
{
    struct contention_delay *delay = &counting->contention->delays[index];
    const uint64_t *transfers = &counting->transfers[(uint64_t)index * counting->platform->link_count];
    for (uint32_t link = 0; link < counting->platform->link_count; link++) {
        uint32_t place = delay->link_count;
        while (transfers[link] && place && delay->links[place - 1].others < transfers[link])
            place--;
        if (transfers[link] == 0 || place == CONTENTION_LINKS_MAX)
            continue;
        if (delay->link_count < CONTENTION_LINKS_MAX)
            delay->link_count++;
        for (uint32_t i = delay->link_count - 1; i > place; i--)
            delay->links[i] = delay->links[i - 1];
        delay->links[place] = (struct contention_link){counting->platform->links[link].name, transfers[link]};
    }
}

void contention_find_links(struct contention *contention, const struct timeline *timeline, struct platform *platform,
                           const uint32_t *hosts, struct arena *arena)
{
    struct counting counting = {
        .contention = contention, .timeline = timeline, .platform = platform, .hosts = hosts, .watchers = NULL};
    if (!contention->delay_count)
        return;
    counting.watchers = arena_array(arena, (size_t)platform->link_count + 1, sizeof *counting.watchers);
    counting.transfers =
        arena_array(arena, ((size_t)platform->link_count + 1) * contention->delay_count, sizeof *counting.transfers);
    counting.members = arena_array(arena, timeline->program->mesh->ranks, sizeof *counting.members);
    for (uint32_t i = 0; i < contention->delay_count; i++)
        watch_delay(&counting, i);
    count_all(&counting);
    for (uint32_t i = 0; i < contention->delay_count; i++)
        rank_links(&counting, i);
}
