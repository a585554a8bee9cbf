/* SPDX-License-Identifier: Apache-2.0 */
/* The generator against the published distribution of idle fragments (arXiv 2106.12091 and its log: mean 1,192 s,
 * median 475 s, 95 % below 4,723 s; 55.8 % are below 600 s and hold 10.8 % of the time). */
#include "cluster/idle/idle_generate.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static void expect(const char *what, double is, double should, double margin)
{
    cr_assert(fabs(is - should) <= margin * fabs(should), "%s is %.6g, expected %.6g", what, is, should);
}

Test(idle_generate, quantiles)
{
    enum { STEPS = 1000000 };
    double sum = 0, short_sum = 0, before = 0;
    for (int i = 0; i < STEPS; i++) {
        double length = idle_fragment_length((i + 0.5) / STEPS);
        cr_assert_geq(length, before);
        before = length;
        sum += length;
        short_sum += length <= 600 ? length : 0;
    }
    expect("mean", sum / STEPS, 1192, 0.001);
    expect("share of time below 600 s", short_sum / sum, 0.1085, 0.002);
    expect("quantile of 600 s", idle_fragment_length(0.55839), 600, 0.001);
    expect("median", idle_fragment_length(0.5), 475, 0.03);
    expect("95 %", idle_fragment_length(0.95), 4723, 0.03);
}

struct sample {
    double *lengths;
    size_t count;
    double idle;
};

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The largest distance between the shares of fragments below each published length. */
static double distance(const struct sample *sample)
{
    static const double published[][2] = {{120, 0.15059},  {300, 0.40189},  {600, 0.55839},  {1200, 0.70994},
                                          {2700, 0.87242}, {5400, 0.96394}, {14400, 0.99952}};
    double worst = 0;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        size_t below = 0;
        while (below < sample->count && sample->lengths[below] <= published[i][0])
            below++;
        worst = fmax(worst, fabs((double)below / (double)sample->count - published[i][1]));
    }
    return worst;
}

/* A week of 1,000 nodes: some 43,000 fragments, of which those that the window cuts are left out; by the bound of
 * Kolmogorov and Smirnov the distance is below 1.63 / sqrt(n) in 99 of 100 samples. */
Test(idle_generate, a_week)
{
    const struct idle_generation generation = {
        .nodes = 1000, .together = 1, .seed = 1, .share = 0.085, .duration = 604800};
    struct arena *arena = arena_create();
    struct idle_log *log = idle_generate(&generation, arena);
    struct sample sample = {array_zeroed(log->count, sizeof(double)), 0, 0};
    for (size_t i = 0; i < log->count; i++) {
        const struct idle_span *span = &log->spans[i];
        sample.idle += span->to - span->from;
        if (span->from > 0 && span->to < generation.duration)
            sample.lengths[sample.count++] = span->to - span->from;
    }
    qsort(sample.lengths, sample.count, sizeof *sample.lengths, by_value);
    double far = distance(&sample), bound = 1.63 / sqrt((double)sample.count);
    cr_assert(far < bound, "%zu fragments, distance %.4f, bound %.4f", sample.count, far, bound);
    expect("idle nodes", sample.idle / generation.duration, 85, 0.02);
    free(sample.lengths);
    arena_destroy(arena);
}

static bool is_same(const struct idle_log *left, const struct idle_log *right)
{
    for (size_t i = 0; i < left->count && i < right->count; i++) {
        const struct idle_span *a = &left->spans[i], *b = &right->spans[i];
        if (a->node != b->node || a->from != b->from || a->to != b->to)
            return false;
    }
    return left->count == right->count;
}

/* Another seed gives another log; nodes that are together have the same spans. */
Test(idle_generate, seeds_and_groups)
{
    struct idle_generation generation = {.nodes = 30, .together = 10, .seed = 5, .share = 0.2, .duration = 86400};
    struct arena *arena = arena_create();
    struct idle_log *log = idle_generate(&generation, arena), *again = idle_generate(&generation, arena);
    cr_assert(is_same(log, again));
    for (size_t i = 0; i < log->count; i++)
        cr_assert(i % 10 == 0 ||
                  (log->spans[i].from == log->spans[i - 1].from && log->spans[i].to == log->spans[i - 1].to));
    generation.seed = 6;
    cr_assert(!is_same(log, idle_generate(&generation, arena)));
    arena_destroy(arena);
}
