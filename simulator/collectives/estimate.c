/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/estimate.h"

#include "simulator/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct load {
    double bytes;        /* over the size */
    double alpha, steps; /* of the flow whose start-up is least */
    uint32_t flows;
};

struct scratch {
    struct load *loads; /* [link] */
    uint32_t *touched;  /* links with load */
    size_t touched_count;
    struct estimate_line *lines;
    size_t count, capacity;
};

static void add_line(struct scratch *scratch, double alpha, double steps, double seconds_per_byte)
{
    if (scratch->count) { /* neighbours are mostly equal */
        const struct estimate_line *last = &scratch->lines[scratch->count - 1];
        if (last->alpha == alpha && last->steps == steps && last->seconds_per_byte == seconds_per_byte)
            return;
    }
    scratch->lines = array_grow(scratch->lines, &scratch->capacity, scratch->count + 1, sizeof *scratch->lines);
    scratch->lines[scratch->count++] = (struct estimate_line){alpha, steps, seconds_per_byte};
}

static void add_flow(struct scratch *scratch, struct platform *platform, const uint32_t *hosts, const struct collective_phase_flow *flow)
{
    struct platform_route route;
    platform->route(platform, hosts[flow->from], hosts[flow->to], &route);
    add_line(scratch, route.latency, flow->steps, flow->share / route.bandwidth);
    for (uint32_t i = 0; i < route.link_count && flow->share > 0; i++) {
        struct load *load = &scratch->loads[route.links[i]];
        if (load->flows++ == 0) {
            scratch->touched[scratch->touched_count++] = route.links[i];
            *load = (struct load){.alpha = route.latency, .steps = flow->steps, .flows = 1};
        }
        load->bytes += flow->share;
        if (route.latency * flow->steps < load->alpha * load->steps) {
            load->alpha = route.latency;
            load->steps = flow->steps;
        }
    }
}

static void add_loads(struct scratch *scratch, const struct platform *platform)
{
    for (size_t i = 0; i < scratch->touched_count; i++) {
        struct load *load = &scratch->loads[scratch->touched[i]];
        const struct platform_link *link = &platform->links[scratch->touched[i]];
        if (load->flows > 1 && link->sharing != LINK_FATPIPE)
            add_line(scratch, load->alpha, load->steps, load->bytes / link->bandwidth);
        load->flows = 0;
    }
    scratch->touched_count = 0;
}

static int by_slope(const void *left, const void *right)
{
    const struct estimate_line *a = left, *b = right;
    if (a->seconds_per_byte != b->seconds_per_byte)
        return a->seconds_per_byte > b->seconds_per_byte ? -1 : 1;
    if (a->alpha != b->alpha)
        return a->alpha > b->alpha ? -1 : 1;
    return (a->steps < b->steps) - (a->steps > b->steps);
}

/* Keeps the lines that are the largest for some size and latency ratio. */
static struct estimate_phase finish_phase(struct scratch *scratch, struct arena *arena)
{
    size_t kept = 0;
    qsort(scratch->lines, scratch->count, sizeof *scratch->lines, by_slope);
    double alpha = -1, total = -1;
    for (size_t i = 0; i < scratch->count; i++) {
        struct estimate_line line = scratch->lines[i];
        if (line.alpha <= alpha && line.alpha * line.steps <= total)
            continue;
        alpha = fmax(alpha, line.alpha);
        total = fmax(total, line.alpha * line.steps);
        scratch->lines[kept++] = line;
    }
    struct estimate_phase phase = {arena_array(arena, kept, sizeof *phase.lines), (uint32_t)kept};
    memcpy(phase.lines, scratch->lines, kept * sizeof *phase.lines);
    scratch->count = 0;
    return phase;
}

struct estimate estimate_create(const struct collective_flows *flows, struct platform *platform, const uint32_t *hosts, struct arena *arena)
{
    struct scratch scratch = {.loads = calloc((size_t)platform->link_count + 1, sizeof *scratch.loads),
                              .touched = calloc((size_t)platform->link_count + 1, sizeof *scratch.touched)};
    struct estimate estimate = {arena_array(arena, flows->phases + 1, sizeof *estimate.phases), 0};
    if (!scratch.loads || !scratch.touched)
        abort();
    for (size_t i = 0; i < flows->count;) {
        for (size_t end = collective_phase_end(flows, i); i < end; i++) {
            struct collective_phase_flow flow = collective_flow_at(flows, i);
            add_flow(&scratch, platform, hosts, &flow);
        }
        add_loads(&scratch, platform);
        estimate.phases[estimate.count++] = finish_phase(&scratch, arena);
    }
    free(scratch.loads);
    free(scratch.touched);
    free(scratch.lines);
    return estimate;
}

double estimate_seconds(const struct estimate *estimate, double latency, double efficiency, double bytes)
{
    double sum = 0;
    for (uint32_t phase = 0; phase < estimate->count; phase++) {
        double longest = 0;
        for (uint32_t i = 0; i < estimate->phases[phase].count; i++) {
            const struct estimate_line *line = &estimate->phases[phase].lines[i];
            longest = fmax(longest, fmax(1, line->steps * latency) * line->alpha + bytes * line->seconds_per_byte / efficiency);
        }
        sum += longest;
    }
    return sum;
}
