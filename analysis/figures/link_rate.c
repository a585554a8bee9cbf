/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/link_rate.h"

#include "analysis/figures/partner.h"
#include "base/arena.h"
#include "platforms/view.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/stream_route.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes per second of a kind change by so much. */
struct change {
    double time, by;
    uint32_t kind;
};

/* What one byte of a collective with these flows puts on the links of each kind, over all instances that an entry
 * stands for. */
struct share {
    uint32_t entry;
    const struct collective_flows *flows;
    double *hops; /* [kind] */
};

struct rating {
    const struct timeline *timeline;
    struct platform *platform;
    const uint32_t *hosts;
    struct arena *arena;
    uint32_t *kind_of; /* [link] */
    const char **names;
    uint32_t kinds;
    bool *used; /* [link] */
    struct change *changes;
    size_t count, capacity;
    struct share *shares;
    size_t share_count, share_capacity;
};

/* ---- kinds ---- */

struct named_link {
    struct view_links alike;
    uint32_t index;
};

static void find_kinds(struct rating *rating)
{
    const struct platform *platform = rating->platform;
    size_t none = 0, count = platform->link_count;
    struct named_link *links = array_grow(NULL, &none, count + 1, sizeof *links);
    rating->kind_of = arena_array(rating->arena, count + 1, sizeof *rating->kind_of);
    rating->names = arena_array(rating->arena, count + 1, sizeof *rating->names);
    rating->used = arena_array(rating->arena, count + 1, sizeof *rating->used);
    for (uint32_t i = 0; i < count; i++) {
        const struct platform_link *link = &platform->links[i];
        links[i] = (struct named_link){{.bandwidth = link->bandwidth, .latency = link->latency}, i};
        view_link_class(link->name, links[i].alike.name, sizeof links[i].alike.name);
    }
    if (count)
        qsort(links, count, sizeof *links, view_links_order);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || view_links_order(&links[i - 1], &links[i]) != 0)
            rating->names[rating->kinds++] = arena_copy(rating->arena, links[i].alike.name);
        rating->kind_of[links[i].index] = rating->kinds - 1;
    }
    free(links);
}

/* ---- changes ---- */

static void add_links(struct rating *rating, const struct platform_route *route, double share, double *hops)
{
    for (uint32_t i = 0; i < route->link_count; i++) {
        hops[rating->kind_of[route->links[i]]] += share;
        rating->used[route->links[i]] = true;
    }
}

static void add_route(struct rating *rating, uint32_t from, uint32_t to, double share, double *hops)
{
    struct platform_route route;
    rating->platform->route(rating->platform, rating->hosts[from], rating->hosts[to], &route);
    add_links(rating, &route, share, hops);
}

static void add_change(struct rating *rating, double time, uint32_t kind, double by)
{
    rating->changes = array_grow(rating->changes, &rating->capacity, rating->count + 1, sizeof *rating->changes);
    rating->changes[rating->count++] = (struct change){time, by, kind};
}

static void add_transfer(struct rating *rating, const struct moment *moment, double bytes, const double *hops)
{
    double seconds = moment->end - moment->data_start;
    for (uint32_t kind = 0; kind < rating->kinds && seconds > 0 && bytes > 0; kind++) {
        if (hops[kind] <= 0)
            continue;
        add_change(rating, moment->data_start, kind, bytes * hops[kind] / seconds);
        add_change(rating, moment->end, kind, -bytes * hops[kind] / seconds);
    }
}

/* Ranks that an entry stands for have its times, but routes of their own. */
static void add_messages(struct rating *rating, uint32_t entry, const struct position *position, uint32_t stream)
{
    const struct timeline *timeline = rating->timeline;
    const struct program *program = timeline->program;
    const struct stream *sends = &position->streams[stream];
    double *hops = arena_array(rating->arena, rating->kinds + (size_t)1, sizeof *hops);
    uint32_t index = program->mesh->position_of[timeline->ranks[entry]];
    for (uint32_t replica = 0; replica < program->mesh->replicas; replica++) {
        uint32_t rank = mesh_rank(program->mesh, index, replica);
        struct platform_route route;
        if (timeline->index_of[rank] != entry)
            continue;
        stream_route(program, rating->platform, rating->hosts, rank, sends, &route);
        add_links(rating, &route, 1, hops);
    }
    for (uint32_t id = sends->first; id < sends->first + sends->count; id++)
        add_transfer(rating, &timeline->moments[entry][id], operation_cost(program, &position->operations[id])->bytes,
                     hops);
}

static double *share_of(struct rating *rating, uint32_t entry, const struct collective_flows *flows)
{
    for (size_t i = 0; i < rating->share_count; i++)
        if (rating->shares[i].entry == entry && rating->shares[i].flows == flows)
            return rating->shares[i].hops;
    rating->shares =
        array_grow(rating->shares, &rating->share_capacity, rating->share_count + 1, sizeof *rating->shares);
    double *hops = arena_array(rating->arena, rating->kinds + (size_t)1, sizeof *hops);
    rating->shares[rating->share_count++] = (struct share){entry, flows, hops};
    return hops;
}

/* The flows of one instance, each kind of them once. */
static void add_instance(struct rating *rating, uint32_t group, const uint32_t *ranks)
{
    const struct timeline *timeline = rating->timeline;
    uint32_t entry = timeline->index_of[ranks[0]];
    const struct position *position = timeline_position(timeline, entry);
    const struct stream *stream = partner_collectives(position, group);
    const struct collective_flows *seen[8];
    uint32_t count = 0;
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct collective_flows *flows = assignment_flows(timeline->program, group, &position->operations[id]);
        uint32_t known = 0;
        while (known < count && seen[known] != flows)
            known++;
        if (!flows || known < count || count == sizeof seen / sizeof *seen)
            continue;
        seen[count++] = flows;
        double *hops = share_of(rating, entry, flows);
        for (size_t i = 0; i < flows->count; i++) {
            struct collective_phase_flow flow = collective_flow_at(flows, i);
            add_route(rating, ranks[flow.from], ranks[flow.to], flow.share, hops);
        }
    }
}

static void add_shares(struct rating *rating, uint32_t group)
{
    const struct timeline *timeline = rating->timeline;
    for (size_t i = 0; i < rating->share_count; i++) {
        const struct share *share = &rating->shares[i];
        const struct position *position = timeline_position(timeline, share->entry);
        const struct stream *stream = partner_collectives(position, group);
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
            const struct operation *operation = &position->operations[id];
            if (assignment_flows(timeline->program, group, operation) == share->flows)
                add_transfer(rating, &timeline->moments[share->entry][id],
                             operation_cost(timeline->program, operation)->bytes, share->hops);
        }
    }
    rating->share_count = 0;
}

static void add_collectives(struct rating *rating)
{
    const struct program *program = rating->timeline->program;
    uint32_t *ranks = arena_array(rating->arena, program->mesh->ranks + (size_t)1, sizeof *ranks);
    for (uint32_t group = 0; group < program->group_count; group++) {
        if (!program->groups[group].collective_count)
            continue;
        for (uint32_t i = 0; i < group_instances(program, &program->groups[group]); i++) {
            group_ranks(program, &program->groups[group], i, ranks);
            add_instance(rating, group, ranks);
        }
        add_shares(rating, group);
    }
}

/* ---- rates ---- */

static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* What rounding leaves of nothing is nothing. */
static double without_rounding(double rate, double largest)
{
    return fabs(rate) < 1e-9 * largest ? 0 : rate;
}

static void add_up(struct rating *rating, const uint32_t *kept, const double *bandwidth, struct link_rates *rates)
{
    double *now = arena_array(rating->arena, rating->kinds + (size_t)1, sizeof *now),
           *largest = arena_array(rating->arena, rating->kinds + (size_t)1, sizeof *largest);
    rates->rates = arena_array(rating->arena, rating->count + rates->kind_count + 1, sizeof *rates->rates);
    for (uint32_t kind = 0; kind < rates->kind_count; kind++)
        rates->rates[rates->rate_count++] = (struct link_rate){0, 0, kind};
    for (size_t i = 0; i < rating->count; i++) {
        const struct change *change = &rating->changes[i];
        now[change->kind] += change->by;
        largest[change->kind] = fmax(largest[change->kind], now[change->kind]);
        bool more = i + 1 < rating->count && change[1].time == change->time && change[1].kind == change->kind;
        if (more)
            continue;
        now[change->kind] = without_rounding(now[change->kind], largest[change->kind]);
        rates->rates[rates->rate_count++] =
            (struct link_rate){change->time, now[change->kind] / bandwidth[change->kind], kept[change->kind]};
    }
}

static struct link_rates *finish(struct rating *rating)
{
    struct link_rates *rates = arena_alloc(rating->arena, sizeof *rates);
    double *bandwidth = arena_array(rating->arena, rating->kinds + (size_t)1, sizeof *bandwidth);
    uint32_t *kept = arena_array(rating->arena, rating->kinds + (size_t)1, sizeof *kept);
    *rates = (struct link_rates){.names = arena_array(rating->arena, rating->kinds + (size_t)1, sizeof *rates->names)};
    for (uint32_t i = 0; i < rating->platform->link_count; i++)
        if (rating->used[i])
            bandwidth[rating->kind_of[i]] += rating->platform->links[i].bandwidth;
    for (uint32_t kind = 0; kind < rating->kinds; kind++) {
        kept[kind] = rates->kind_count;
        if (bandwidth[kind] > 0)
            rates->names[rates->kind_count++] = rating->names[kind];
    }
    if (rating->count)
        qsort(rating->changes, rating->count, sizeof *rating->changes, by_time);
    add_up(rating, kept, bandwidth, rates);
    return rates;
}

struct link_rates *link_rates_create(const struct timeline *timeline, struct platform *platform, const uint32_t *hosts,
                                     struct arena *arena)
{
    struct rating rating = {.timeline = timeline, .platform = platform, .hosts = hosts, .arena = arena};
    find_kinds(&rating);
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        const struct position *position = timeline_position(timeline, entry);
        for (uint32_t i = 1; i < position->stream_count; i++)
            if (position->streams[i].type == OPERATION_SEND)
                add_messages(&rating, entry, position, i);
    }
    add_collectives(&rating);
    struct link_rates *rates = finish(&rating);
    free(rating.changes);
    free(rating.shares);
    return rates;
}
