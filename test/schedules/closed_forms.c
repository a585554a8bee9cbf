/* SPDX-License-Identifier: Apache-2.0 */
/* Iteration times, latencies and stash peaks of the schedules without split backward against their closed forms, over a
 * grid of workers D, micro-batches N and times. */
#include "test/schedules/harness.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define EXPECT(actual, expected, ...)                                                                                  \
    do {                                                                                                               \
        double actual_ = (actual), expected_ = (expected);                                                             \
        char at_[128];                                                                                                 \
        snprintf(at_, sizeof at_, __VA_ARGS__);                                                                        \
        cr_expect(harness_equal(actual_, expected_), "%s: %.12g instead of %.12g", at_, actual_, expected_);           \
    } while (0)

static const uint32_t depths[] = {2, 4, 6, 8, 16, 32};
static const uint32_t counts[] = {1, 2, 3, 5, 8, 12, 16, 24, 32, 33, 64, 128};
static const struct times shapes[] = {
    {.forward = 1, .backward = 2}, {.forward = 1, .backward = 1}, {.forward = 0.7, .backward = 3.1}};

/* Runs `body` for every depth D, count N and shape t of the grid. */
#define GRID(D, N, t)                                                                                                  \
    for (size_t d_ = 0; d_ < sizeof depths / sizeof *depths; d_++)                                                     \
        for (size_t n_ = 0; n_ < sizeof counts / sizeof *counts; n_++)                                                 \
            for (size_t t_ = 0; t_ < sizeof shapes / sizeof *shapes; t_++)                                             \
                for (uint32_t D = depths[d_], N = counts[n_], once_ = 1; once_; once_ = 0)                             \
                    for (struct times t = shapes[t_]; once_; once_ = 0)

Test(closed_forms, flushed_lines)
{
    GRID(D, N, t)
    {
        double expected = (N + D - 1) * (t.forward + t.backward);
        struct outcome gpipe = harness_outcome("gpipe", D, N, NULL, t), line = harness_outcome("1f1b", D, N, NULL, t),
                       eager = harness_outcome("eager-1f1b", D, N, NULL, t);
        EXPECT(gpipe.makespan, expected, "gpipe D=%u N=%u", D, N);
        EXPECT(line.makespan, expected, "1f1b D=%u N=%u", D, N);
        EXPECT(eager.makespan, expected, "eager-1f1b D=%u N=%u", D, N);
        EXPECT(line.ratio, (D - 1.0) / (N + D - 1.0), "1f1b ratio D=%u N=%u", D, N);
        EXPECT(line.over_ideal, (D - 1.0) / N, "1f1b over ideal D=%u N=%u", D, N);
        EXPECT(line.span_max, (D - 1.0) / (N + D - 1.0), "1f1b span D=%u N=%u", D, N);
        for (uint32_t w = 0; w < D; w++) {
            EXPECT(gpipe.peaks[w], N, "gpipe peak D=%u N=%u w=%u", D, N, w);
            EXPECT(line.peaks[w], fmin(N, D - w), "1f1b peak D=%u N=%u w=%u", D, N, w);
            EXPECT(eager.peaks[w], fmin(N, 2 * (D - 1 - w) + 1), "eager-1f1b peak D=%u N=%u w=%u", D, N, w);
        }
    }
}

Test(closed_forms, gems)
{
    GRID(D, N, t)
    {
        struct outcome gems = harness_outcome("gems", D, N, NULL, t);
        EXPECT(gems.makespan, N * (D * t.backward + t.forward) + (D - 1) * t.forward, "gems D=%u N=%u", D, N);
        EXPECT(gems.peak_least, 1, "gems D=%u N=%u", D, N);
        EXPECT(gems.peak_most, 1, "gems D=%u N=%u", D, N);
    }
}

/* Direct concatenation, every f that divides D/2. */
Test(closed_forms, chimera_direct)
{
    GRID(D, N, t)
    {
        for (uint32_t f = 1; f <= D / 2 && N % D == 0; f++) {
            if (D / 2 % f)
                continue;
            char pairs[32];
            snprintf(pairs, sizeof pairs, "pairs=%u", f);
            double K = (double)N / D, Df = D, reach = Df / f - 2;
            struct outcome chimera = harness_outcome("chimera", D, N, OPTIONS(pairs), t);
            EXPECT(chimera.makespan, N * (t.forward + t.backward) + reach * (K * t.backward - (K - 1) * t.forward),
                   "D=%u N=%u f=%u", D, N, f);
            double critical = (K * Df - (K - 1) * reach) * t.forward + K * (Df + reach) * t.backward;
            EXPECT(chimera.makespan, critical, "C_f, C_b D=%u N=%u f=%u", D, N, f);
            if (t.forward == t.backward)
                EXPECT(chimera.ratio, (Df - 2 * f) / (2 * f * N + Df - 2 * f), "share D=%u N=%u f=%u", D, N, f);
            if (N == D && t.backward == 2 * t.forward && f == 1)
                EXPECT(chimera.ratio, (Df - 2) / (1.5 * N + Df - 2), "share D=%u N=%u", D, N);
            EXPECT(chimera.peak_least, Df - Df / (2 * f) + 1, "peak D=%u N=%u f=%u", D, N, f);
            EXPECT(chimera.peak_most, Df, "peak D=%u N=%u f=%u", D, N, f);
        }
    }
}

/* Forward doubling and its final form with half the bubbles, backward halving; published for t_B = 2 t_F. */
Test(closed_forms, chimera_doubling_and_halving)
{
    const struct times t = {.forward = 1, .backward = 2};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        uint32_t D = depths[d];
        for (uint32_t N = D; N <= 128; N += D) {
            struct outcome halving = harness_outcome("chimera", D, N, OPTIONS("concatenation=halving"), t);
            EXPECT(halving.makespan, 3 * N + (D - 2), "halving D=%u N=%u", D, N);
            cr_expect(halving.peak_most <= D, "halving D=%u N=%u: peak %g", D, N, halving.peak_most);
            if (N % (2 * D))
                continue;
            struct outcome doubling = harness_outcome("chimera", D, N, OPTIONS("concatenation=doubling"), t);
            struct outcome split = harness_outcome("chimera", D, N, OPTIONS("concatenation=doubling-split"), t);
            EXPECT(doubling.makespan, 3 * N + 2 * (D - 2), "doubling D=%u N=%u", D, N);
            EXPECT(split.makespan, 3 * N + 1.5 * (D - 2), "doubling-split D=%u N=%u", D, N);
            cr_expect(doubling.peak_most <= 2 * D, "doubling D=%u N=%u: peak %g", D, N, doubling.peak_most);
        }
    }
}

/* Fewer micro-batches than workers. */
Test(closed_forms, chimera_short)
{
    const struct times t = {.forward = 1, .backward = 1};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (uint32_t D = depths[d], N = 2; N < D; N += 2)
            EXPECT(harness_outcome("chimera", D, N, NULL, t).makespan, N + 2 * D - 2, "D=%u N=%u", D, N);
}

static double least(double left, double right)
{
    return left < right ? left : right;
}

static void expect_interleaved(uint32_t D, uint32_t N, uint32_t v, uint32_t group, struct times t)
{
    char chunks[32], groups[32];
    snprintf(chunks, sizeof chunks, "chunks=%u", v);
    snprintf(groups, sizeof groups, "group=%u", group);
    struct outcome outcome = harness_outcome("interleaved", D, N, OPTIONS(chunks, groups), t);
    EXPECT(outcome.makespan, (N + (D - 1.0) / v) * (t.forward + t.backward), "D=%u N=%u v=%u g=%u", D, N, v, group);
    for (uint32_t w = 0; w < D && group == D; w++)
        EXPECT(outcome.peaks[w], least(N, (2.0 * (D - 1 - w) + (v - 1) * D + 1) / v), "peak D=%u N=%u v=%u w=%u", D, N,
               v, w);
}

Test(closed_forms, interleaved)
{
    static const uint32_t chunks[] = {2, 3, 8};
    GRID(D, N, t)
    {
        for (size_t i = 0; i < sizeof chunks / sizeof *chunks && N % D == 0; i++)
            expect_interleaved(D, N, chunks[i], D, t);
    }
    expect_interleaved(4, 10, 2, 5, shapes[0]);
    expect_interleaved(4, 10, 2, 6, shapes[0]);
    expect_interleaved(8, 20, 2, 10, shapes[0]);
    expect_interleaved(8, 20, 2, 11, shapes[2]);
}

/* Groups that are not given: as many of one size as have at least as many micro-batches as there are workers; fewer
 * micro-batches are one group, and each chunk waits for the one before. */
Test(closed_forms, interleaved_groups)
{
    static const uint32_t sizes[][2] = {{4, 5}, {4, 10}, {8, 18}, {8, 20}, {6, 8}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t D = sizes[i][0], N = sizes[i][1];
        EXPECT(harness_outcome("interleaved", D, N, NULL, shapes[2]).makespan,
               (N + (D - 1) / 2.0) * (shapes[2].forward + shapes[2].backward), "D=%u N=%u", D, N);
    }
    for (uint32_t D = 2; D <= 8; D++)
        for (uint32_t N = 1; N < D; N++)
            for (uint32_t v = 2; v <= 3; v++) {
                char chunks[32];
                snprintf(chunks, sizeof chunks, "chunks=%u", v);
                EXPECT(harness_outcome("interleaved", D, N, OPTIONS(chunks), shapes[0]).makespan,
                       (v * D + N - 1.0) * (shapes[0].forward + shapes[0].backward) / v, "D=%u N=%u v=%u", D, N, v);
            }
}

Test(closed_forms, breadth_first)
{
    static const uint32_t chunks[] = {1, 2, 4};
    GRID(D, N, t)
    {
        for (size_t i = 0; i < sizeof chunks / sizeof *chunks && N >= D; i++) {
            char text[32];
            snprintf(text, sizeof text, "chunks=%u", chunks[i]);
            struct outcome outcome = harness_outcome("breadth-first", D, N, OPTIONS(text), t);
            EXPECT(outcome.makespan, (N + (D - 1.0) / chunks[i]) * (t.forward + t.backward), "D=%u N=%u v=%u", D, N,
                   chunks[i]);
            EXPECT(outcome.over_ideal, (D - 1.0) / N / chunks[i], "D=%u N=%u v=%u", D, N, chunks[i]);
            EXPECT(outcome.peak_least, N, "D=%u N=%u v=%u", D, N, chunks[i]);
            EXPECT(outcome.peak_most, N, "D=%u N=%u v=%u", D, N, chunks[i]);
        }
    }
}

/* In steady state no worker of an asynchronous schedule idles. */
Test(closed_forms, asynchronous)
{
    static const char *const names[] = {"pipedream", "pipedream-2bw"};
    GRID(D, N, t)
    {
        for (unsigned i = 0; i < 2; i++) {
            if (i == 1 && N < D)
                continue;
            struct schedule_request request = harness_request(names[i], D, N, NULL);
            request.iterations = 2 * D + 1;
            struct outcome outcome = harness_run(names[i], &request, t);
            EXPECT(outcome.iteration, N * (t.forward + t.backward), "%s D=%u N=%u", names[i], D, N);
            EXPECT(outcome.ratio, 0, "%s D=%u N=%u", names[i], D, N);
            for (uint32_t w = 0; w < D; w++)
                EXPECT(outcome.peaks[w], least((double)N * request.iterations, D - w), "%s peak D=%u N=%u w=%u",
                       names[i], D, N, w);
        }
    }
}

/* What a latency c on every hop adds, c <= t_F. */
Test(closed_forms, latency)
{
    static const double latencies[] = {0.01, 0.1, 0.5, 1};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            for (size_t i = 0; i < sizeof latencies / sizeof *latencies; i++) {
                uint32_t D = depths[d], N = counts[n];
                double c = latencies[i], plain = 3.0 * (N + D - 1), K = (double)N / D;
                struct times t = {.forward = 1, .backward = 2, .latency = c};
                EXPECT(harness_outcome("gpipe", D, N, NULL, t).makespan, plain + 2 * (D - 1) * c,
                       "gpipe D=%u N=%u c=%g", D, N, c);
                EXPECT(harness_outcome("eager-1f1b", D, N, NULL, t).makespan, plain + 2 * (D - 1) * c,
                       "eager D=%u N=%u c=%g", D, N, c);
                EXPECT(harness_outcome("gems", D, N, NULL, t).makespan,
                       N * (2.0 * D + 1) + (D - 1) + (N + 1.0) * (D - 1) * c, "gems D=%u N=%u c=%g", D, N, c);
                if (N % D)
                    continue;
                EXPECT(harness_outcome("1f1b", D, N, NULL, t).makespan, plain + (2.0 * (D - 1) * K + 2 * (D - 2.0)) * c,
                       "1f1b D=%u N=%u c=%g", D, N, c);
                if (D >= 4)
                    EXPECT(harness_outcome("chimera", D, N, NULL, t).makespan,
                           3.0 * N + (D - 2) * (K + 1) + (K * (2.0 * D - 4) + D - 1) * c, "chimera D=%u N=%u c=%g", D,
                           N, c);
            }
}

/* t_F = 1, t_B = 2: gpipe and 1f1b, gems, chimera with 1 and 2 pairs, interleaved with 2 chunks, doubling, its final
 * form, halving; 0: not possible. */
Test(closed_forms, check_values)
{
    static const struct {
        uint32_t workers, micro_batches;
        double line, gems, chimera, pairs, interleaved, doubling, split, halving;
    } rows[] = {
        {4, 4, 21, 39, 16, 12, 16.5, 0, 0, 14},     {4, 8, 33, 75, 30, 24, 28.5, 28, 27, 26},
        {4, 16, 57, 147, 58, 48, 52.5, 52, 51, 50}, {8, 8, 45, 143, 36, 28, 34.5, 0, 0, 30},
        {8, 16, 69, 279, 66, 54, 58.5, 60, 57, 54}, {8, 32, 117, 551, 126, 106, 106.5, 108, 105, 102},
        {16, 16, 93, 543, 76, 60, 70.5, 0, 0, 62},
    };
    const struct times t = {.forward = 1, .backward = 2};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t D = rows[i].workers, N = rows[i].micro_batches;
        EXPECT(harness_outcome("gpipe", D, N, NULL, t).makespan, rows[i].line, "gpipe D=%u N=%u", D, N);
        EXPECT(harness_outcome("1f1b", D, N, NULL, t).makespan, rows[i].line, "1f1b D=%u N=%u", D, N);
        EXPECT(harness_outcome("gems", D, N, NULL, t).makespan, rows[i].gems, "gems D=%u N=%u", D, N);
        EXPECT(harness_outcome("chimera", D, N, NULL, t).makespan, rows[i].chimera, "chimera D=%u N=%u", D, N);
        EXPECT(harness_outcome("chimera", D, N, OPTIONS("pairs=2"), t).makespan, rows[i].pairs, "two pairs D=%u N=%u",
               D, N);
        EXPECT(harness_outcome("interleaved", D, N, NULL, t).makespan, rows[i].interleaved, "interleaved D=%u N=%u", D,
               N);
        EXPECT(harness_outcome("chimera", D, N, OPTIONS("concatenation=halving"), t).makespan, rows[i].halving,
               "halving D=%u N=%u", D, N);
        if (!rows[i].doubling)
            continue;
        EXPECT(harness_outcome("chimera", D, N, OPTIONS("concatenation=doubling"), t).makespan, rows[i].doubling,
               "doubling D=%u N=%u", D, N);
        EXPECT(harness_outcome("chimera", D, N, OPTIONS("concatenation=doubling-split"), t).makespan, rows[i].split,
               "split D=%u N=%u", D, N);
    }
}

/* Chimera, Figure 1: bubble shares on 2,048 nodes as read off the figure, to 2 points; the figure takes t_B = t_F. */
Test(closed_forms, chimera_figure_1)
{
    static const struct {
        const char *name;
        uint32_t workers, micro_batches;
        double share;
    } bars[] = {{"gpipe", 8, 8, 0.45}, {"gems", 8, 4, 0.83}, {"1f1b", 16, 16, 0.49}, {"chimera", 32, 32, 0.32}};
    for (unsigned i = 0; i < 4; i++) {
        struct outcome outcome = harness_outcome(bars[i].name, bars[i].workers, bars[i].micro_batches, NULL,
                                                 (struct times){.forward = 1, .backward = 1});
        cr_expect_float_eq(outcome.ratio, bars[i].share, 0.02, "%s: %.4f instead of %.2f", bars[i].name, outcome.ratio,
                           bars[i].share);
    }
}
