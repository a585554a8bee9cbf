/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/arrivals.h"

#include "base/arena.h"
#include "simulator/collectives/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a flow's route. */
struct edge {
    double latency, seconds_per_byte;
    enum platform_scope scope;
};

struct arrivals {
    const struct collective_flows *flows;
    uint32_t ranks;
    struct platform *platform;
    const uint32_t *hosts;
    struct arena *arena;
    struct edge *edges;    /* [flow]; NULL where all flows are one phase and end together */
    struct estimate whole; /* all flows as if they were one phase */
    struct estimate *own;  /* [member]: of its flows alone; NULL until asked for */
    double *now;           /* [member]: ends of earlier phases */
    uint32_t *successor;   /* [member]: to whom its flow of the phase goes */
    double *seconds;       /* [member]: how long that takes */
};

static bool is_one_phase(const struct collective_flows *flows)
{
    return flows->phases == 1 && flows->start == START_PAIRS && !flows->ends_apart;
}

/* The flows of a member, or of all (member `ranks`), as one phase. */
static struct estimate estimate_of(const struct arrivals *arrivals, uint32_t member)
{
    struct collective_flows chosen = {0};
    for (size_t i = 0; i < arrivals->flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(arrivals->flows, i);
        if (member == arrivals->ranks || flow.from == member || flow.to == member)
            collective_flows_add(&chosen, 0, flow.from, flow.to, flow.share, flow.steps);
    }
    struct estimate estimate = estimate_create(&chosen, arrivals->platform, arrivals->hosts, arrivals->arena);
    collective_flows_finish(&chosen);
    return estimate;
}

static void find_edges(struct arrivals *arrivals)
{
    arrivals->edges = arena_array(arrivals->arena, arrivals->flows->count, sizeof *arrivals->edges);
    for (size_t i = 0; arrivals->platform && i < arrivals->flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(arrivals->flows, i);
        struct platform_route route;
        uint32_t from = arrivals->hosts[flow.from], to = arrivals->hosts[flow.to];
        arrivals->platform->route(arrivals->platform, from, to, &route);
        arrivals->edges[i] =
            (struct edge){route.latency, 1 / route.bandwidth, platform_scope_of(arrivals->platform, from, to)};
    }
}

/* Everybody to everybody is what takes long to look at. */
static struct estimate estimate_all_to_all(const struct arrivals *arrivals)
{
    const struct collective_flows *flows = arrivals->flows;
    bool known = flows->estimate && !memcmp(flows->hosts, arrivals->hosts, arrivals->ranks * sizeof *flows->hosts);
    return known ? *flows->estimate : estimate_create(flows, arrivals->platform, arrivals->hosts, arrivals->arena);
}

struct arrivals *arrivals_create(const struct collective_flows *flows, uint32_t ranks, struct platform *platform,
                                 const uint32_t *hosts, struct arena *arena)
{
    struct arrivals *arrivals = arena_alloc(arena, sizeof *arrivals);
    *arrivals = (struct arrivals){.flows = flows, .ranks = ranks, .platform = platform, .hosts = hosts, .arena = arena};
    arrivals->now = arena_array(arena, ranks, sizeof *arrivals->now);
    arrivals->successor = arena_array(arena, ranks, sizeof *arrivals->successor);
    arrivals->seconds = arena_array(arena, ranks, sizeof *arrivals->seconds);
    if (!is_one_phase(flows))
        find_edges(arrivals);
    if (!flows->ends_apart && platform)
        arrivals->whole = flows->all_to_all ? estimate_all_to_all(arrivals) : estimate_of(arrivals, ranks);
    return arrivals;
}

/* ---- how long flows take ---- */

static double start_ups(const struct edge *edge, const struct collective_phase_flow *flow,
                        const struct arrivals_size *size)
{
    return fmax(1, flow->steps * platform_latency_ratio(&size->ratios, edge->scope, edge->latency));
}

static double flow_seconds(const struct arrivals *arrivals, size_t index, const struct collective_phase_flow *flow,
                           const struct arrivals_size *size)
{
    const struct edge *edge = &arrivals->edges[index];
    return size->repeats * start_ups(edge, flow, size) * edge->latency +
           flow->share * size->bytes / size->ratios.efficiency[edge->scope] * edge->seconds_per_byte;
}

static double estimated(const struct estimate *estimate, const struct arrivals_size *size)
{
    return size->repeats * estimate_seconds(estimate, &size->ratios, size->bytes / size->repeats);
}

/* ---- one phase ---- */

static void find_smallest(const double *values, uint32_t count, uint32_t *smallest, double *second, double *largest)
{
    *smallest = 0;
    *second = INFINITY;
    *largest = values[0];
    for (uint32_t i = 1; i < count; i++) {
        *second = fmin(*second, fmax(values[i], values[*smallest]));
        *smallest = values[i] < values[*smallest] ? i : *smallest;
        *largest = fmax(*largest, values[i]);
    }
}

static void start_flow(const double *ready, const struct collective_phase_flow *flow, double *starts)
{
    double start = fmax(ready[flow->from], ready[flow->to]);
    starts[flow->from] = fmin(starts[flow->from], start);
    starts[flow->to] = fmin(starts[flow->to], start);
}

static void start_pairs(const struct arrivals *arrivals, const double *ready, uint32_t earliest, double second,
                        double *starts)
{
    for (size_t i = 0; !arrivals->flows->all_to_all && i < arrivals->flows->count; i++)
        start_flow(ready, &arrivals->flows->items[i], starts);
    for (uint32_t m = 0; arrivals->flows->all_to_all && m < arrivals->ranks; m++)
        starts[m] = m == earliest ? second : ready[m];
}

static double evaluate_phase(struct arrivals *arrivals, const struct arrivals_size *size, const double *ready,
                             double *starts)
{
    uint32_t earliest;
    double second, last, end = INFINITY;
    find_smallest(ready, arrivals->ranks, &earliest, &second, &last);
    start_pairs(arrivals, ready, earliest, second, starts);
    if (isinf(last) || !arrivals->platform)
        return last;
    double whole = estimated(&arrivals->whole, size);
    end = ready[earliest] + whole;
    if (ready[earliest] >= last)
        return end;
    if (!arrivals->own) {
        arrivals->own = arena_array(arrivals->arena, arrivals->ranks, sizeof *arrivals->own);
        for (uint32_t m = 0; m < arrivals->ranks; m++)
            arrivals->own[m] = estimate_of(arrivals, m);
    }
    for (uint32_t m = 0; m < arrivals->ranks; m++)
        end = fmax(end, ready[m] + fmin(whole, estimated(&arrivals->own[m], size)));
    return end;
}

/* ---- phase after phase ---- */

static void end_flow(const struct collective_phase_flow *flow, double end, double *ends)
{
    ends[flow->from] = fmax(ends[flow->from], end);
    ends[flow->to] = fmax(ends[flow->to], end);
}

/* Flows `first` to `end`, each when its members are ready. */
static void evaluate_pairs(struct arrivals *arrivals, const struct arrivals_size *size, size_t first, size_t end,
                           double *starts, double *ends)
{
    for (size_t i = first; i < end; i++) {
        const struct collective_phase_flow *flow = &arrivals->flows->items[i];
        start_flow(arrivals->now, flow, starts);
        double start = fmax(arrivals->now[flow->from], arrivals->now[flow->to]);
        end_flow(flow, start + flow_seconds(arrivals, i, flow, size), ends);
    }
}

/* Every member of a ring has one flow, to its successor: all begin with the last member and end with the longest flow.
 */
static void evaluate_ring(struct arrivals *arrivals, uint32_t member, double *starts, double *ends)
{
    double start = 0, longest = 0;
    uint32_t m = member;
    do {
        start = fmax(start, arrivals->now[m]);
        longest = fmax(longest, arrivals->seconds[m]);
        m = arrivals->successor[m];
    } while (m != member);
    do {
        uint32_t next = arrivals->successor[m];
        starts[m] = fmin(starts[m], start);
        ends[m] = start + longest;
        arrivals->successor[m] = m; /* done */
        m = next;
    } while (m != member);
}

static void evaluate_rings(struct arrivals *arrivals, const struct arrivals_size *size, size_t first, size_t end,
                           double *starts, double *ends)
{
    for (uint32_t m = 0; m < arrivals->ranks; m++)
        arrivals->successor[m] = m;
    for (size_t i = first; i < end; i++) {
        const struct collective_phase_flow *flow = &arrivals->flows->items[i];
        arrivals->successor[flow->from] = flow->to;
        arrivals->seconds[flow->from] = flow_seconds(arrivals, i, flow, size);
    }
    for (size_t i = first; i < end; i++)
        if (arrivals->successor[arrivals->flows->items[i].from] != arrivals->flows->items[i].from)
            evaluate_ring(arrivals, arrivals->flows->items[i].from, starts, ends);
}

static void evaluate_phases(struct arrivals *arrivals, const struct arrivals_size *size, double *starts, double *ends)
{
    for (size_t first = 0, end; first < arrivals->flows->count; first = end) {
        end = collective_phase_end(arrivals->flows, first);
        memcpy(arrivals->now, ends, arrivals->ranks * sizeof *ends);
        if (arrivals->flows->start == START_RINGS)
            evaluate_rings(arrivals, size, first, end, starts, ends);
        else
            evaluate_pairs(arrivals, size, first, end, starts, ends);
    }
}

/* ---- a chain ---- */

static void evaluate_chain(struct arrivals *arrivals, const struct arrivals_size *size, const double *ready,
                           double *starts, double *ends)
{
    double begun = 0, origin = -INFINITY, finished = 0; /* of the flow before: moves, v and w of arrivals.h */
    for (size_t i = 0; i < arrivals->flows->count; i++) {
        const struct collective_phase_flow *flow = &arrivals->flows->items[i];
        const struct edge *edge = &arrivals->edges[i];
        double latency = edge->latency, ratio = platform_latency_ratio(&size->ratios, edge->scope, latency),
               total = flow_seconds(arrivals, i, flow, size);
        double both = fmax(ready[flow->from], ready[flow->to]);
        begun = fmax(begun, both);
        origin = fmax(origin, both - arrivals_before(i, flow, ratio) * latency);
        finished = fmax(finished, origin + total);
        /* With all start-ups but one left out it takes as long as the transfer itself. */
        double least = begun + total - (size->repeats * start_ups(edge, flow, size) - 1) * latency;
        double end = fmax(least, finished - arrivals_behind(i, flow, ratio) * latency);
        starts[flow->from] = fmin(starts[flow->from], begun);
        starts[flow->to] = fmin(starts[flow->to], begun);
        end_flow(flow, end, ends);
    }
}

/* ---- all of it ---- */

double arrivals_evaluate(struct arrivals *arrivals, const struct arrivals_size *size, const double *ready,
                         double *starts, double *ends)
{
    const struct collective_flows *flows = arrivals->flows;
    double first = INFINITY, last = 0;
    for (uint32_t m = 0; m < arrivals->ranks; m++) {
        starts[m] = INFINITY;
        ends[m] = ready[m];
        first = fmin(first, ready[m]);
    }
    if (is_one_phase(flows))
        last = evaluate_phase(arrivals, size, ready, starts);
    else if (flows->start == START_CHAIN)
        evaluate_chain(arrivals, size, ready, starts, ends);
    else
        evaluate_phases(arrivals, size, starts, ends);
    if (!flows->ends_apart && arrivals->platform && flows->phases > 1)
        last = fmax(last, first + estimated(&arrivals->whole, size));
    for (uint32_t m = 0; m < arrivals->ranks; m++)
        last = fmax(last, ends[m]);
    for (uint32_t m = 0; m < arrivals->ranks && !flows->ends_apart; m++)
        ends[m] = last;
    return last;
}
