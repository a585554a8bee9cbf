/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/estimate.h"

#include "simulator/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct load {
    double bytes;        /* over the size */
    double first;        /* least latency of its flows */
    double alpha, steps; /* of the flow whose further start-ups are least */
    uint32_t flows;
};

struct scratch {
    struct load *loads; /* [link] */
    uint32_t *touched;  /* links with load */
    size_t touched_count;
    struct estimate_line *lines;
    size_t count, capacity;
};

static bool same_line(const struct estimate_line *a, const struct estimate_line *b)
{
    return a->first == b->first && a->alpha == b->alpha && a->steps == b->steps && a->seconds_per_byte == b->seconds_per_byte;
}

static void add_line(struct scratch *scratch, struct estimate_line line)
{
    if (scratch->count && same_line(&scratch->lines[scratch->count - 1], &line)) /* neighbours are mostly equal */
        return;
    scratch->lines = array_grow(scratch->lines, &scratch->capacity, scratch->count + 1, sizeof *scratch->lines);
    scratch->lines[scratch->count++] = line;
}

static void load_link(struct scratch *scratch, uint32_t link, double latency, const struct collective_phase_flow *flow)
{
    struct load *load = &scratch->loads[link];
    if (load->flows++ == 0) {
        scratch->touched[scratch->touched_count++] = link;
        *load = (struct load){.first = latency, .alpha = latency, .steps = flow->steps, .flows = 1};
    }
    load->bytes += flow->share;
    load->first = fmin(load->first, latency);
    if (latency * (flow->steps - 1) < load->alpha * (load->steps - 1)) {
        load->alpha = latency;
        load->steps = flow->steps;
    }
}

static void add_flow(struct scratch *scratch, struct platform *platform, const uint32_t *hosts, bool sharing,
                     const struct collective_phase_flow *flow)
{
    struct platform_route route;
    platform->route(platform, hosts[flow->from], hosts[flow->to], &route);
    add_line(scratch, (struct estimate_line){route.latency, route.latency, flow->steps, flow->share / route.bandwidth});
    for (uint32_t i = 0; sharing && i < route.link_count && flow->share > 0; i++)
        load_link(scratch, route.links[i], route.latency, flow);
}

static void add_loads(struct scratch *scratch, const struct platform *platform)
{
    for (size_t i = 0; i < scratch->touched_count; i++) {
        struct load *load = &scratch->loads[scratch->touched[i]];
        const struct platform_link *link = &platform->links[scratch->touched[i]];
        if (load->flows > 1 && link->sharing != LINK_FATPIPE)
            add_line(scratch, (struct estimate_line){load->first, load->alpha, load->steps, load->bytes / link->bandwidth});
        load->flows = 0;
    }
    scratch->touched_count = 0;
}

/* Without bytes, where transfers take their routes' own latencies. */
static double start_up(const struct estimate_line *line)
{
    return line->first + (line->steps - 1) * line->alpha;
}

static int by_slope(const void *left, const void *right)
{
    const struct estimate_line *a = left, *b = right;
    if (a->seconds_per_byte < b->seconds_per_byte || a->seconds_per_byte > b->seconds_per_byte)
        return a->seconds_per_byte > b->seconds_per_byte ? -1 : 1;
    return (start_up(a) < start_up(b)) - (start_up(a) > start_up(b));
}

/* Keeps the lines that are the largest for some size and latency ratio. */
static struct estimate_phase finish_phase(struct scratch *scratch, struct arena *arena)
{
    size_t kept = 0;
    qsort(scratch->lines, scratch->count, sizeof *scratch->lines, by_slope);
    double first = -1, total = -1;
    for (size_t i = 0; i < scratch->count; i++) {
        struct estimate_line line = scratch->lines[i];
        if (line.first <= first && start_up(&line) <= total)
            continue;
        first = fmax(first, line.first);
        total = fmax(total, start_up(&line));
        scratch->lines[kept++] = line;
    }
    struct estimate_phase phase = {arena_array(arena, kept, sizeof *phase.lines), (uint32_t)kept};
    memcpy(phase.lines, scratch->lines, kept * sizeof *phase.lines);
    scratch->count = 0;
    return phase;
}

struct estimate estimate_create(const struct collective_flows *flows, struct platform *platform, const uint32_t *hosts, bool sharing,
                                struct arena *arena)
{
    struct scratch scratch = {.loads = array_zeroed(platform->link_count, sizeof *scratch.loads),
                              .touched = array_zeroed(platform->link_count, sizeof *scratch.touched)};
    struct estimate estimate = {arena_array(arena, flows->phases + 1, sizeof *estimate.phases), 0};
    for (size_t i = 0; i < flows->count;) {
        for (size_t end = collective_phase_end(flows, i); i < end; i++) {
            struct collective_phase_flow flow = collective_flow_at(flows, i);
            add_flow(&scratch, platform, hosts, sharing, &flow);
        }
        add_loads(&scratch, platform);
        estimate.phases[estimate.count++] = finish_phase(&scratch, arena);
    }
    free(scratch.loads);
    free(scratch.touched);
    free(scratch.lines);
    return estimate;
}

/* Adds up the largest lines of the phases. */
static double sum_phases(const struct estimate *estimate, double latency, double efficiency, double bytes, double *start_ups)
{
    double sum = 0;
    for (uint32_t phase = 0; phase < estimate->count; phase++) {
        double longest = 0, decisive = 0;
        for (uint32_t i = 0; i < estimate->phases[phase].count; i++) {
            const struct estimate_line *line = &estimate->phases[phase].lines[i];
            double start = line->first + (fmax(1, line->steps * latency) - 1) * line->alpha;
            double seconds = start + bytes * line->seconds_per_byte / efficiency;
            decisive = seconds > longest ? start : decisive;
            longest = fmax(longest, seconds);
        }
        sum += longest;
        *start_ups += decisive;
    }
    return sum;
}

double estimate_seconds(const struct estimate *estimate, double latency, double efficiency, double bytes)
{
    double start_ups = 0;
    return sum_phases(estimate, latency, efficiency, bytes, &start_ups);
}

double estimate_latency(const struct estimate *estimate, double latency, double efficiency, double bytes)
{
    double start_ups = 0;
    sum_phases(estimate, latency, efficiency, bytes, &start_ups);
    return start_ups;
}
