/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/idle_generate.h"

#include "base/arena.h"
#include "base/random/draws.h"
#include "base/rounded/rounded.h"

#include <math.h>
#include <stdlib.h>

/* ---- lengths ---- */

/* Idle fragments of single nodes, 10 to 25 February 2021, all 423,354 that began and ended within these two weeks: how
 * many are at most so long, and their share of all idle time. Counted in the log that goes with Liu et al., "BFTrainer:
 * Low-Cost Training of Neural Networks on Unfillable Supercomputer Nodes", arXiv 2106.12091; the numbers are facts, the
 * log itself is not here. */
static const struct {
    double seconds, fragments, time;
} classes[] = {
    {60, 0, 0},
    {120, 63753, 0.01116},
    {180, 118046, 0.02670},
    {300, 170140, 0.05124},
    {600, 236398, 0.10850},
    {900, 276571, 0.16585},
    {1200, 300558, 0.21562},
    {1800, 340802, 0.33332},
    {2700, 369341, 0.45712},
    {3600, 385660, 0.55851},
    {5400, 408088, 0.75273},
    {7200, 415005, 0.83909},
    {14400, 423152, 0.98945},
    {28800, 423319, 0.99504},
    {86400, 423346, 0.99744},
    {236364, 423354, 1}, /* as far beyond its mean of 161,382 s as that is beyond the class before */
};

static const double mean_length = 1192; /* seconds; of the same fragments */

enum { CLASSES = sizeof classes / sizeof *classes };

/* A class's share of time over its share of fragments is its mean. Uniform up to the mean and beyond it, with the
 * chances that give this mean. */
double idle_fragment_length(double quantile)
{
    const double all = classes[CLASSES - 1].fragments;
    size_t i = 1;
    while (i < CLASSES - 1 && quantile * all >= classes[i].fragments)
        i++;
    double low = classes[i - 1].seconds, high = classes[i].seconds;
    double count = classes[i].fragments - classes[i - 1].fragments;
    double mean = (classes[i].time - classes[i - 1].time) * mean_length * all / count;
    double part = fmin(1, (quantile * all - classes[i - 1].fragments) / count);
    mean = fmin(fmax(mean, low + (high - low) / 100), high - (high - low) / 100);
    double below = (high - mean) / (high - low);
    return part < below ? low + (mean - low) * part / below : mean + (high - mean) * (part - below) / (1 - below);
}

/* ---- drawing ---- */

/* Each group has a stream of its own, so that more nodes leave the first ones as they are. */
static struct draws stream_of(uint64_t seed, uint64_t group)
{
    struct draws draws = {seed * 0xd1342543de82ef95u + group * 0x2545f4914f6cdd1du + 1};
    draw_bits(&draws);
    return draws;
}

struct spans {
    struct idle_span *items;
    size_t count, capacity;
};

static void add_spans(struct spans *spans, const struct idle_generation *generation, uint64_t group, double from,
                      double to)
{
    uint64_t first = group * generation->together, end = first + generation->together;
    for (uint64_t node = first; node < end && node < generation->nodes; node++) {
        spans->items = array_grow(spans->items, &spans->capacity, spans->count + 1, sizeof *spans->items);
        spans->items[spans->count++] = (struct idle_span){(uint32_t)node, from, to};
    }
}

/* Begins long before the window, so that its beginning is like any other moment. */
static void draw_group(struct spans *spans, const struct idle_generation *generation, uint64_t group)
{
    enum { CYCLES_BEFORE = 20 };
    double busy = mean_length * (1 - generation->share) / generation->share;
    double now = -CYCLES_BEFORE * (busy + mean_length);
    struct draws draws = stream_of(generation->seed, group);
    while (now < generation->duration) {
        now += fmax(1, round(-busy * rounded_log(1 - draw_unit(&draws))));
        double to = now + fmax(1, round(idle_fragment_length(draw_unit(&draws))));
        if (to > 0 && now < generation->duration)
            add_spans(spans, generation, group, fmax(0, now), fmin(to, generation->duration));
        now = to;
    }
}

struct idle_log *idle_generate(const struct idle_generation *generation, struct arena *arena)
{
    struct spans spans = {NULL, 0, 0};
    uint64_t groups = (generation->nodes + generation->together - 1) / generation->together;
    for (uint64_t group = 0; group < groups; group++)
        draw_group(&spans, generation, group);
    struct idle_span *kept = arena_array(arena, spans.count + 1, sizeof *kept);
    for (size_t i = 0; i < spans.count; i++)
        kept[i] = spans.items[i];
    struct idle_log *log = idle_log_create(NULL, (uint32_t)generation->nodes, kept, spans.count, arena);
    log->end = generation->duration;
    free(spans.items);
    return log;
}
