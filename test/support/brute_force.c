/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/brute_force.h"

#include "simulator/collectives/assignment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the flows of a phase of a collective put on a link. */
struct burden {
    uint32_t flows;
    double bytes, soonest, further; /* the least of their first latencies, the least of those that follow */
};

struct relaxing {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct moment **times; /* [rank][id] */
    uint32_t *members;
    struct burden *burdens; /* [link] */
    uint32_t *burdened;     /* links that have one */
    uint32_t burdened_count;
    double *ready, *moves, *reached, *longest; /* [member] */
    bool changed;
};

static struct platform_route route_of(struct relaxing *r, uint32_t from, uint32_t to)
{
    struct platform_route route;
    r->platform->route(r->platform, r->hosts[from], r->hosts[to], &route);
    return route;
}

/* A collective of which one phase is looked at. */
struct phase {
    const struct collective_flows *flows;
    size_t first, end;
    const struct platform_ratios *ratios; /* the protocol's */
    double bytes;
    uint32_t member; /* whose flows count; ALL_MEMBERS */
};

#define ALL_MEMBERS UINT32_MAX

static void burden_links(struct relaxing *r, const struct platform_route *route, double bytes, double further)
{
    for (uint32_t i = 0; i < route->link_count; i++) {
        struct burden *burden = &r->burdens[route->links[i]];
        if (burden->flows == 0)
            r->burdened[r->burdened_count++] = route->links[i];
        burden->soonest = burden->flows ? fmin(burden->soonest, route->latency) : route->latency;
        burden->further = burden->flows ? fmin(burden->further, further) : further;
        burden->bytes += bytes;
        burden->flows++;
    }
}

/* A protocol multiplies latencies below 1 ms (doc/sites.md). */
static double latency_ratio(const struct platform_ratios *ratios, enum platform_scope scope, double latency)
{
    return latency < 1e-3 ? ratios->latency[scope] : ratios->far;
}

/* As long as its longest flow, and as its most burdened link needs for the bytes of all. */
static double phase_seconds(struct relaxing *r, const struct phase *phase)
{
    double longest = 0;
    for (size_t i = phase->first; i < phase->end; i++) {
        struct collective_phase_flow flow = collective_flow_at(phase->flows, i);
        if (phase->member != ALL_MEMBERS && flow.from != phase->member && flow.to != phase->member)
            continue;
        struct platform_route route = route_of(r, r->members[flow.from], r->members[flow.to]);
        enum platform_scope scope =
            platform_scope_of(r->platform, r->hosts[r->members[flow.from]], r->hosts[r->members[flow.to]]);
        double bytes = phase->bytes * flow.share / phase->ratios->efficiency[scope];
        double further = (fmax(1, flow.steps * latency_ratio(phase->ratios, scope, route.latency)) - 1) * route.latency;
        longest = fmax(longest, route.latency + bytes / route.bandwidth + further);
        if (flow.share > 0)
            burden_links(r, &route, bytes, further);
    }
    while (r->burdened_count) {
        uint32_t link = r->burdened[--r->burdened_count];
        const struct burden *burden = &r->burdens[link];
        if (burden->flows > 1 && r->platform->links[link].sharing != LINK_FATPIPE)
            longest =
                fmax(longest, burden->soonest + burden->bytes / r->platform->links[link].bandwidth + burden->further);
        r->burdens[link] = (struct burden){0};
    }
    return longest;
}

/* Phase after phase. */
static double collective_seconds(struct relaxing *r, uint32_t group, const struct operation *operation)
{
    const struct collective_flows *flows = assignment_flows(r->program, group, operation);
    struct collective_choice choice = assignment_choose(r->program, group, operation);
    const struct stagesim_cost *cost = operation_cost(r->program, operation);
    double repeats = fmax(1, cost->repeats), seconds = choice.delay;
    struct phase phase = {
        .flows = flows, .ratios = &choice.ratios, .bytes = cost->bytes / repeats, .member = ALL_MEMBERS};
    for (size_t i = 1; flows && i <= flows->count; i++)
        if (i == flows->count || collective_flow_at(flows, i).phase != collective_flow_at(flows, i - 1).phase) {
            phase.end = i;
            seconds += phase_seconds(r, &phase);
            phase.first = i;
        }
    return flows ? repeats * seconds : 0;
}

static void update(struct relaxing *r, double *value, double later)
{
    r->changed |= later > *value;
    *value = fmax(*value, later);
}

/* The k-th message of a stream is the k-th of the opposite one: the receive ends with its send. */
static void relax_receive(struct relaxing *r, uint32_t rank, const struct stream *stream, uint32_t k)
{
    uint32_t sender = mesh_rank(r->program->mesh, stream->peer, r->program->mesh->replica_of[rank]);
    uint32_t sent = r->program->positions[stream->peer].streams[stream->opposite].first + k;
    struct moment *times = &r->times[rank][stream->first + k];
    update(r, &times->data_start, r->times[sender][sent].data_start);
    update(r, &times->end, r->times[sender][sent].end);
}

/* ---- members that begin by and by ---- */

static size_t end_of_phase(const struct collective_flows *flows, size_t i)
{
    uint32_t phase = collective_flow_at(flows, i).phase;
    while (i < flows->count && collective_flow_at(flows, i).phase == phase)
        i++;
    return i;
}

/* Both members of every flow of a phase get the larger of their values, again and again: all of a ring have the same in
 * the end. */
static void level_rings(const struct collective_flows *flows, size_t first, size_t end, double *values)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = first; i < end; i++) {
            struct collective_phase_flow flow = collective_flow_at(flows, i);
            moved |= values[flow.from] < values[flow.to] || values[flow.from] > values[flow.to];
            values[flow.from] = values[flow.to] = fmax(values[flow.from], values[flow.to]);
        }
    }
}

/* One phase of members that have come so far at r->reached: when the flows of each begin, and when the last of them
 * ends. */
static void pass_phase(struct relaxing *r, const struct phase *all, size_t first, size_t end, double repeats,
                       uint32_t count)
{
    bool rings = all->flows->start == START_RINGS;
    for (uint32_t m = 0; m < count; m++)
        r->longest[m] = 0;
    if (rings)
        level_rings(all->flows, first, end, r->reached);
    for (uint32_t m = 0; m < count; m++)
        r->ready[m] = r->reached[m];
    for (size_t i = first; i < end; i++) {
        struct collective_phase_flow flow = collective_flow_at(all->flows, i);
        struct platform_route route = route_of(r, r->members[flow.from], r->members[flow.to]);
        enum platform_scope scope =
            platform_scope_of(r->platform, r->hosts[r->members[flow.from]], r->hosts[r->members[flow.to]]);
        double seconds =
            repeats * (fmax(1, flow.steps * latency_ratio(all->ratios, scope, route.latency)) * route.latency +
                       all->bytes * flow.share / all->ratios->efficiency[scope] / route.bandwidth);
        double start = fmax(r->ready[flow.from], r->ready[flow.to]);
        const uint32_t both[] = {flow.from, flow.to};
        for (int side = 0; side < 2; side++) {
            r->moves[both[side]] = fmin(r->moves[both[side]], start);
            r->longest[both[side]] = fmax(r->longest[both[side]], rings ? seconds : start + seconds);
        }
    }
    if (rings)
        level_rings(all->flows, first, end, r->longest);
    for (uint32_t m = 0; m < count; m++)
        r->reached[m] = rings ? r->reached[m] + r->longest[m] : fmax(r->reached[m], r->longest[m]);
}

/* The moment when all are done, where r->reached holds when each is ready to begin; r->moves: when data of each begin
 * to move. Links that flows share: all bytes take their time from the first one on, and in a single phase those of each
 * member from its own arrival on. */
static double by_and_by(struct relaxing *r, const struct phase *all, double repeats, uint32_t count)
{
    double first = INFINITY, end = 0, whole = repeats * phase_seconds(r, all);
    if (all->flows->start == START_CHAIN || all->flows->ends_apart)
        abort(); /* no random job has such */
    for (uint32_t m = 0; m < count; m++) {
        struct phase own = *all;
        own.member = m;
        first = fmin(first, r->reached[m]);
        r->moves[m] = INFINITY;
        if (all->flows->phases == 1)
            end = fmax(end, r->reached[m] + fmin(whole, repeats * phase_seconds(r, &own)));
    }
    end = fmax(end, first + whole);
    for (size_t i = 0, behind; i < all->flows->count; i = behind) {
        behind = end_of_phase(all->flows, i);
        pass_phase(r, all, i, behind, repeats, count);
    }
    for (uint32_t m = 0; m < count; m++)
        end = fmax(end, r->reached[m]);
    return end;
}

static void relax_by_and_by(struct relaxing *r, uint32_t rank, const struct stream *stream, uint32_t k,
                            const struct operation *operation, uint32_t count)
{
    struct collective_choice choice = assignment_choose(r->program, stream->peer, operation);
    const struct collective_flows *flows = assignment_flows(r->program, stream->peer, operation);
    const struct stagesim_cost *cost = operation_cost(r->program, operation);
    double repeats = fmax(1, cost->repeats);
    uint32_t own = 0;
    struct phase all = {.flows = flows,
                        .end = flows->count,
                        .ratios = &choice.ratios,
                        .bytes = cost->bytes / repeats,
                        .member = ALL_MEMBERS};
    for (uint32_t i = 0; i < count; i++) {
        const struct position *position = &r->program->positions[r->program->mesh->position_of[r->members[i]]];
        uint32_t first = position->streams[position_group_stream(position, stream->peer)].first;
        r->reached[i] = r->times[r->members[i]][first + k].start + repeats * choice.delay;
        own = r->members[i] == rank ? i : own;
    }
    double end = by_and_by(r, &all, repeats, count);
    update(r, &r->times[rank][stream->first + k].data_start,
           r->moves[own] - (flows->phases == 1 ? repeats * choice.delay : 0));
    update(r, &r->times[rank][stream->first + k].end, end);
}

/* All flows move from the moment of the last member's arrival, where they do not begin by and by. */
static void relax_collective(struct relaxing *r, uint32_t rank, const struct stream *stream, uint32_t k,
                             const struct operation *operation)
{
    const struct group *group = &r->program->groups[stream->peer];
    uint32_t count = group_size(r->program, group);
    group_ranks(r->program, group, group_instance_of(r->program, group, r->program->mesh->replica_of[rank]),
                r->members);
    const struct collective_flows *flows = assignment_flows(r->program, stream->peer, operation);
    if (flows && flows->start != START_TOGETHER) {
        relax_by_and_by(r, rank, stream, k, operation, count);
        return;
    }
    double last = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct position *position = &r->program->positions[r->program->mesh->position_of[r->members[i]]];
        last = fmax(
            last,
            r->times[r->members[i]][position->streams[position_group_stream(position, stream->peer)].first + k].start);
    }
    update(r, &r->times[rank][stream->first + k].data_start, last);
    update(r, &r->times[rank][stream->first + k].end, last + collective_seconds(r, stream->peer, operation));
}

/* How much longer than elsewhere a computation takes on a rank; its coordinate counted from the ranks' strides. */
static double factor_of(const struct program *program, uint32_t rank, const struct operation *operation)
{
    uint32_t variation = program->variation_of[operation->cost], coordinate = 0, size = 1;
    if (variation == VARIATION_NONE)
        return 1;
    for (unsigned i = 0; i < program->mesh->axis_count; i++)
        if (program->variations[variation].axes >> i & 1) {
            coordinate += rank / program->mesh->axes[i].stride % program->mesh->axes[i].size * size;
            size *= program->mesh->axes[i].size;
        }
    return program->variations[variation].factors[coordinate];
}

/* Seconds of a computation that nothing slows down, or of a delay. */
static double local_seconds(const struct relaxing *r, uint32_t rank, const struct operation *operation)
{
    const struct mesh *mesh = r->program->mesh;
    double seconds = operation_cost(r->program, operation)->seconds * factor_of(r->program, rank, operation);
    uint32_t first = mesh_rank(mesh, mesh->position_of[rank], 0);
    return operation->type == OPERATION_COMPUTE ? seconds * platform_full_speed(&r->platform->hosts[r->hosts[first]]) /
                                                      r->platform->hosts[r->hosts[rank]].speed
                                                : seconds;
}

static double send_seconds(struct relaxing *r, uint32_t rank, const struct stream *stream,
                           const struct operation *operation)
{
    struct platform_route route =
        route_of(r, rank, mesh_rank(r->program->mesh, stream->peer, r->program->mesh->replica_of[rank]));
    return route.latency + operation_cost(r->program, operation)->bytes / route.bandwidth;
}

/* By how much a message may leave before the one before it has arrived: pipelined ones travel one behind the other. */
static double lead(struct relaxing *r, uint32_t rank, const struct stream *stream)
{
    if (stream->type != OPERATION_SEND || !r->program->pipelined)
        return 0;
    return route_of(r, rank, mesh_rank(r->program->mesh, stream->peer, r->program->mesh->replica_of[rank])).latency;
}

static void relax(struct relaxing *r, uint32_t rank, const struct position *position, uint32_t id)
{
    const struct operation *operation = &position->operations[id];
    const struct stream *stream = &position->streams[operation->stream];
    struct moment *times = &r->times[rank][id];
    if (id > stream->first)
        update(r, &times->start, times[-1].end - lead(r, rank, stream));
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        update(r, &times->start, r->times[rank][operation_wait(position, operation, i)].end);
    if (stream->type == OPERATION_RECEIVE) {
        relax_receive(r, rank, stream, id - stream->first);
    } else if (stream->type == OPERATION_COLLECTIVE) {
        relax_collective(r, rank, stream, id - stream->first, operation);
    } else {
        double seconds = stream->type == OPERATION_SEND ? send_seconds(r, rank, stream, operation)
                                                        : local_seconds(r, rank, operation);
        update(r, &times->data_start, times->start);
        update(r, &times->end, times->start + seconds);
    }
}

static struct relaxing relaxing_create(const struct program *program, struct platform *platform, const uint32_t *hosts,
                                       struct moment **times)
{
    return (struct relaxing){.program = program,
                             .platform = platform,
                             .hosts = hosts,
                             .times = times,
                             .members = calloc(program->mesh->ranks, sizeof(uint32_t)),
                             .burdens = calloc(platform->link_count + (size_t)1, sizeof(struct burden)),
                             .burdened = calloc(platform->link_count + (size_t)1, sizeof(uint32_t)),
                             .ready = calloc(program->mesh->ranks, sizeof(double)),
                             .moves = calloc(program->mesh->ranks, sizeof(double)),
                             .reached = calloc(program->mesh->ranks, sizeof(double)),
                             .longest = calloc(program->mesh->ranks, sizeof(double)),
                             .changed = true};
}

static void relaxing_finish(struct relaxing *r)
{
    free(r->members);
    free(r->burdens);
    free(r->burdened);
    free(r->ready);
    free(r->moves);
    free(r->reached);
    free(r->longest);
}

bool brute_force(const struct program *program, struct platform *platform, const uint32_t *hosts,
                 struct timeline *timeline)
{
    const struct mesh *mesh = program->mesh;
    struct relaxing r = relaxing_create(program, platform, hosts, timeline->moments);
    uint64_t sweeps = 0, most = 1;
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        const struct position *position = &program->positions[mesh->position_of[rank]];
        most += position->operation_count;
        for (uint32_t id = 0; id < position->operation_count; id++)
            r.times[rank][id] = (struct moment){0, 0, 0};
    }
    for (; r.changed && sweeps < most; sweeps++) {
        r.changed = false;
        for (uint32_t rank = 0; rank < mesh->ranks; rank++)
            for (uint32_t id = 0; id < program->positions[mesh->position_of[rank]].operation_count; id++)
                relax(&r, rank, &program->positions[mesh->position_of[rank]], id);
    }
    relaxing_finish(&r);
    return !r.changed;
}

/* ---- times that follow from each other ---- */

/* What a collective takes of its members' compute. */
static double share_of(struct relaxing *r, uint32_t rank, uint32_t number)
{
    const struct group *group = &r->program->groups[number];
    uint32_t count = group_size(r->program, group);
    bool leaves = false;
    group_ranks(r->program, group, group_instance_of(r->program, group, r->program->mesh->replica_of[rank]),
                r->members);
    for (uint32_t i = 0; i < count; i++)
        leaves |=
            strcmp(r->platform->hosts[r->hosts[r->members[i]]].node, r->platform->hosts[r->hosts[rank]].node) != 0;
    return count < 2 ? 0 : leaves ? r->platform->library.overlap_network : r->platform->library.overlap_node;
}

/* Collectives of a rank while they take a share: from the arrival of the last member to the end. */
struct span {
    double start, end, share;
};

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The work that is done from `start` to `end`: the span between every two moments at which anything changes, times its
 * rate. */
static double work_done(const struct span *spans, size_t count, double start, double end)
{
    double *moments = calloc(2 * count + 2, sizeof *moments), work = 0;
    for (size_t i = 0; i < count; i++) {
        moments[2 * i] = fmin(fmax(spans[i].start, start), end);
        moments[2 * i + 1] = fmin(fmax(spans[i].end, start), end);
    }
    moments[2 * count] = start;
    moments[2 * count + 1] = end;
    qsort(moments, 2 * count + 2, sizeof *moments, by_value);
    for (size_t i = 0; i < 2 * count + 1; i++) {
        double middle = (moments[i] + moments[i + 1]) / 2, share = 0;
        for (size_t k = 0; k < count; k++)
            share += spans[k].start < middle && middle < spans[k].end ? spans[k].share : 0;
        work += (moments[i + 1] - moments[i]) * (1 - fmin(share, 0.9));
    }
    free(moments);
    return work;
}

static size_t find_spans(struct relaxing *r, uint32_t rank, const struct position *position, struct span *spans)
{
    size_t count = 0;
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        double share = stream->type == OPERATION_COLLECTIVE ? share_of(r, rank, stream->peer) : 0;
        for (uint32_t id = stream->first; share > 0 && id < stream->first + stream->count; id++)
            spans[count++] = (struct span){r->times[rank][id].data_start, r->times[rank][id].end, share};
    }
    return count;
}

static double operation_error(struct relaxing *r, uint32_t rank, const struct position *position, uint32_t id,
                              const struct span *spans, size_t span_count)
{
    const struct operation *operation = &position->operations[id];
    const struct stream *stream = &position->streams[operation->stream];
    struct moment *times = &r->times[rank][id], follows = {0, 0, 0};
    double error = 0;
    if (operation->type == OPERATION_COMPUTE) {
        double work = work_done(spans, span_count, times->start, times->end);
        error = fabs(work - local_seconds(r, rank, operation));
        follows = (struct moment){0, times->start, times->end};
    } else if (stream->type == OPERATION_SEND || stream->type == OPERATION_DELAY) {
        double seconds = stream->type == OPERATION_SEND ? send_seconds(r, rank, stream, operation)
                                                        : local_seconds(r, rank, operation);
        follows = (struct moment){0, times->start, times->start + seconds};
    } else { /* from the times of other ranks */
        struct moment kept = *times;
        times->data_start = times->end = 0;
        if (stream->type == OPERATION_RECEIVE)
            relax_receive(r, rank, stream, id - stream->first);
        else
            relax_collective(r, rank, stream, id - stream->first, operation);
        follows = *times;
        *times = kept;
    }
    follows.start = id > stream->first ? fmax(0, times[-1].end - lead(r, rank, stream)) : 0;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        follows.start = fmax(follows.start, r->times[rank][operation_wait(position, operation, i)].end);
    error = fmax(error, fmax(fabs(times->start - follows.start), fabs(times->data_start - follows.data_start)));
    error = fmax(error, fabs(times->end - follows.end));
    return isnan(times->start + times->data_start + times->end) ? INFINITY : error;
}

double brute_force_error(const struct program *program, struct platform *platform, const uint32_t *hosts,
                         const struct timeline *timeline)
{
    const struct mesh *mesh = program->mesh;
    struct relaxing r = relaxing_create(program, platform, hosts, timeline->moments);
    double worst = 0;
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        const struct position *position = &program->positions[mesh->position_of[rank]];
        struct span *spans = calloc(position->operation_count + (size_t)1, sizeof *spans);
        size_t count = find_spans(&r, rank, position, spans);
        for (uint32_t id = 0; id < position->operation_count; id++)
            worst = fmax(worst, operation_error(&r, rank, position, id, spans, count));
        free(spans);
    }
    relaxing_finish(&r);
    return worst;
}
