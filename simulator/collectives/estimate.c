/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/estimate.h"

#include "base/arena.h"
#include "simulator/collectives/every_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a link carries in a phase. */
struct load {
    uint32_t link;
    struct estimate_line line; /* seconds_per_byte: bytes over the size */
    uint32_t flows;
};

struct scratch {
    uint32_t *places; /* a table of hashes of links, a power of two long, at most half full: where their loads are,
                         counted from 1; 0: empty */
    size_t place_count;
    struct load *loads;
    size_t load_count, load_capacity;
    struct estimate_line *lines;
    size_t count, capacity;
};

static bool same_line(const struct estimate_line *a, const struct estimate_line *b)
{
    bool same = a->first == b->first;
    for (unsigned scope = 0; scope < SCOPES; scope++)
        same = same && a->alpha[scope] == b->alpha[scope] && a->steps[scope] == b->steps[scope] &&
               a->seconds_per_byte[scope] == b->seconds_per_byte[scope];
    return same;
}

static void add_line(struct scratch *scratch, struct estimate_line line)
{
    if (scratch->count && same_line(&scratch->lines[scratch->count - 1], &line)) /* neighbours are mostly equal */
        return;
    scratch->lines = array_grow(scratch->lines, &scratch->capacity, scratch->count + 1, sizeof *scratch->lines);
    scratch->lines[scratch->count++] = line;
}

/* Where the place of a link's load is written, or 0 where it has none. */
static uint32_t *place_of(const struct scratch *scratch, uint32_t link)
{
    size_t at = link * 2654435769u & (scratch->place_count - 1);
    while (scratch->places[at] && scratch->loads[scratch->places[at] - 1].link != link)
        at = (at + 1) & (scratch->place_count - 1);
    return &scratch->places[at];
}

/* For one load more. */
static void make_places(struct scratch *scratch)
{
    if (scratch->place_count > 2 * scratch->load_count)
        return;
    free(scratch->places);
    scratch->place_count = scratch->place_count ? 2 * scratch->place_count : 64;
    scratch->places = array_zeroed(scratch->place_count, sizeof *scratch->places);
    for (size_t i = 0; i < scratch->load_count; i++)
        *place_of(scratch, scratch->loads[i].link) = (uint32_t)i + 1;
}

/* Adds a flow, whose bytes are over the size, to what a link carries. */
static void load_link(struct scratch *scratch, uint32_t link, const struct estimate_line *flow,
                      enum platform_scope scope)
{
    make_places(scratch);
    uint32_t *place = place_of(scratch, link);
    if (!*place) {
        scratch->loads =
            array_grow(scratch->loads, &scratch->load_capacity, scratch->load_count + 1, sizeof *scratch->loads);
        scratch->loads[scratch->load_count++] = (struct load){link, *flow, 1};
        *place = (uint32_t)scratch->load_count;
        return;
    }
    struct load *load = &scratch->loads[*place - 1];
    struct estimate_line *line = &load->line;
    load->flows++;
    bool first = line->steps[scope] <= 0;
    line->first = fmin(line->first, flow->first);
    line->seconds_per_byte[scope] += flow->seconds_per_byte[scope];
    line->alpha[scope] = first ? flow->alpha[scope] : fmin(line->alpha[scope], flow->alpha[scope]);
    line->steps[scope] = first ? flow->steps[scope] : fmin(line->steps[scope], flow->steps[scope]);
}

static void add_flow(struct scratch *scratch, struct platform *platform, const uint32_t *hosts,
                     const struct collective_phase_flow *flow)
{
    struct platform_route route;
    platform->route(platform, hosts[flow->from], hosts[flow->to], &route);
    enum platform_scope scope = platform_scope_of(platform, hosts[flow->from], hosts[flow->to]);
    struct estimate_line alone = {.first = route.latency};
    alone.alpha[scope] = route.latency;
    alone.steps[scope] = flow->steps;
    alone.seconds_per_byte[scope] = flow->share;
    for (uint32_t i = 0; i < route.link_count && flow->share > 0; i++)
        load_link(scratch, route.links[i], &alone, scope);
    alone.seconds_per_byte[scope] = flow->share / route.bandwidth;
    add_line(scratch, alone);
}

static void add_loads(struct scratch *scratch, const struct platform *platform)
{
    for (size_t i = 0; i < scratch->load_count; i++) {
        struct load *load = &scratch->loads[i];
        const struct platform_link *link = &platform->links[load->link];
        for (unsigned scope = 0; scope < SCOPES; scope++)
            load->line.seconds_per_byte[scope] /= link->bandwidth;
        if (load->flows > 1 && link->sharing != LINK_FATPIPE)
            add_line(scratch, load->line);
    }
    scratch->load_count = 0;
    if (scratch->places)
        memset(scratch->places, 0, scratch->place_count * sizeof *scratch->places);
}

static double further_of(const struct estimate_line *line, enum platform_scope scope,
                         const struct platform_ratios *ratios)
{
    double ratio = platform_latency_ratio(ratios, scope, line->alpha[scope]);
    return (fmax(1, line->steps[scope] * ratio) - 1) * line->alpha[scope];
}

/* Of the start-ups behind the first. */
static double further(const struct estimate_line *line, const struct platform_ratios *ratios)
{
    double least = INFINITY;
    for (unsigned scope = 0; scope < SCOPES; scope++)
        if (line->steps[scope] > 0)
            least = fmin(least, further_of(line, (enum platform_scope)scope, ratios));
    return least;
}

/* Lines with flows of the same scopes, whose bytes are all of one scope, can be compared by their slope alone; those
 * that mix bytes come last. */
static int class_of(const struct estimate_line *line)
{
    bool node = line->seconds_per_byte[SCOPE_NODE] > 0, network = line->seconds_per_byte[SCOPE_NETWORK] > 0;
    int scopes = (line->steps[SCOPE_NODE] > 0) + 2 * (line->steps[SCOPE_NETWORK] > 0);
    return (node && network ? 8 : network ? 4 : 0) + scopes;
}

/* Where transfers take their routes' own latencies. */
static double start_up(const struct estimate_line *line)
{
    static const struct platform_ratios plain = {{1, 1}, {1, 1}, 1};
    return line->first + further(line, &plain);
}

static int by_slope(const void *left, const void *right)
{
    const struct estimate_line *a = left, *b = right;
    if (class_of(a) != class_of(b))
        return class_of(a) - class_of(b);
    for (unsigned scope = 0; scope < SCOPES; scope++)
        if (a->seconds_per_byte[scope] < b->seconds_per_byte[scope] ||
            a->seconds_per_byte[scope] > b->seconds_per_byte[scope])
            return a->seconds_per_byte[scope] > b->seconds_per_byte[scope] ? -1 : 1;
    return (start_up(a) < start_up(b)) - (start_up(a) > start_up(b));
}

/* Whether a line is never longer than another one of its class, whatever the size and the ratios. */
static bool covered(const struct estimate_line *line, const struct estimate_line *other)
{
    bool covered = line->first <= other->first;
    for (unsigned scope = 0; scope < SCOPES; scope++)
        covered = covered && line->seconds_per_byte[scope] <= other->seconds_per_byte[scope] &&
                  line->steps[scope] <= other->steps[scope] &&
                  line->steps[scope] * line->alpha[scope] <= other->steps[scope] * other->alpha[scope];
    return covered;
}

/* Keeps the lines that are the largest for some size and ratios. */
static struct estimate_phase finish_phase(struct scratch *scratch, struct arena *arena)
{
    size_t kept = 0, begin = 0; /* begin: of the class */
    qsort(scratch->lines, scratch->count, sizeof *scratch->lines, by_slope);
    for (size_t i = 0; i < scratch->count; i++) {
        struct estimate_line line = scratch->lines[i];
        bool needed = true;
        if (kept > begin && class_of(&scratch->lines[begin]) != class_of(&line))
            begin = kept;
        for (size_t before = begin; before < kept && needed; before++)
            needed = !covered(&line, &scratch->lines[before]);
        if (needed)
            scratch->lines[kept++] = line;
    }
    struct estimate_phase phase = {arena_array(arena, kept, sizeof *phase.lines), (uint32_t)kept};
    memcpy(phase.lines, scratch->lines, kept * sizeof *phase.lines);
    scratch->count = 0;
    return phase;
}

/* ---- everybody to everybody ---- */

static void add_ports(struct scratch *scratch, const struct platform *platform, const struct pair_port *ports,
                      double share, double steps)
{
    for (uint32_t link = 0; link < platform->link_count; link++) {
        struct estimate_line line = {.first = INFINITY};
        uint32_t flows = 0;
        for (unsigned scope = 0; scope < SCOPES; scope++) {
            uint32_t own = ports[link].flows[scope];
            flows += own;
            if (!own)
                continue;
            line.first = fmin(line.first, ports[link].least[scope]);
            line.alpha[scope] = ports[link].least[scope];
            line.steps[scope] = steps;
            line.seconds_per_byte[scope] = own * share / platform->links[link].bandwidth;
        }
        if (flows > 1 && platform->links[link].sharing != LINK_FATPIPE)
            add_line(scratch, line);
    }
}

struct everybody {
    struct scratch *scratch;
    double share, steps; /* of each flow */
};

static void add_alone(void *user, const struct pair_flow *flow)
{
    const struct everybody *everybody = user;
    struct estimate_line alone = {.first = flow->latency};
    alone.alpha[flow->scope] = flow->latency;
    alone.steps[flow->scope] = everybody->steps;
    alone.seconds_per_byte[flow->scope] = everybody->share / flow->bandwidth;
    add_line(everybody->scratch, alone);
}

static void add_all_to_all(struct scratch *scratch, const struct collective_flows *flows, struct platform *platform,
                           const uint32_t *hosts)
{
    struct everybody everybody = {scratch, flows->total / (double)flows->count, flows->all_to_all - 1};
    struct pair_visit visit = {array_zeroed(platform->link_count, sizeof *visit.ports), add_alone, &everybody};
    every_pair_visit(platform, hosts, flows->all_to_all, &visit);
    add_ports(scratch, platform, visit.ports, everybody.share, everybody.steps);
    free(visit.ports);
}

struct estimate estimate_create(const struct collective_flows *flows, struct platform *platform, const uint32_t *hosts,
                                struct arena *arena)
{
    struct scratch scratch = {0};
    struct estimate estimate = {arena_array(arena, flows->phases + 1, sizeof *estimate.phases), 0};
    if (flows->all_to_all) {
        add_all_to_all(&scratch, flows, platform, hosts);
        estimate.phases[estimate.count++] = finish_phase(&scratch, arena);
    }
    for (size_t i = 0; !flows->all_to_all && i < flows->count;) {
        for (size_t end = collective_phase_end(flows, i); i < end; i++) {
            struct collective_phase_flow flow = collective_flow_at(flows, i);
            add_flow(&scratch, platform, hosts, &flow);
        }
        add_loads(&scratch, platform);
        estimate.phases[estimate.count++] = finish_phase(&scratch, arena);
    }
    free(scratch.places);
    free(scratch.loads);
    free(scratch.lines);
    return estimate;
}

/* Adds up the largest lines of the phases. */
static double sum_phases(const struct estimate *estimate, const struct platform_ratios *ratios, double bytes,
                         double *start_ups)
{
    double sum = 0;
    for (uint32_t phase = 0; phase < estimate->count; phase++) {
        double longest = 0, decisive = 0;
        for (uint32_t i = 0; i < estimate->phases[phase].count; i++) {
            const struct estimate_line *line = &estimate->phases[phase].lines[i];
            double start = line->first + further(line, ratios), seconds = start;
            for (unsigned scope = 0; scope < SCOPES; scope++)
                seconds += bytes * line->seconds_per_byte[scope] / ratios->efficiency[scope];
            decisive = seconds > longest ? start : decisive;
            longest = fmax(longest, seconds);
        }
        sum += longest;
        *start_ups += decisive;
    }
    return sum;
}

double estimate_seconds(const struct estimate *estimate, const struct platform_ratios *ratios, double bytes)
{
    double start_ups = 0;
    return sum_phases(estimate, ratios, bytes, &start_ups);
}

double estimate_latency(const struct estimate *estimate, const struct platform_ratios *ratios, double bytes)
{
    double start_ups = 0;
    sum_phases(estimate, ratios, bytes, &start_ups);
    return start_ups;
}
