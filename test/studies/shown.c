/* SPDX-License-Identifier: Apache-2.0 */
#include "test/studies/shown.h"

#include <math.h>
#include <stdio.h>

struct figure {
    const char *name;
    double a, b, scale;
};

static bool same_figures(const struct figure *figures, size_t count, uint64_t seed)
{
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        if (fabs(figures[i].a - figures[i].b) <= 1e-9 * fmax(fabs(figures[i].b), figures[i].scale))
            continue;
        same = false;
        fprintf(stderr, "seed %llu: %s %.17g; of the whole job %.17g\n", (unsigned long long)seed, figures[i].name,
                figures[i].a, figures[i].b);
    }
    return same;
}

#define FIGURE(name, scale)                                                                                            \
    (struct figure)                                                                                                    \
    {                                                                                                                  \
#name, a->name, b->name, scale                                                                                 \
    }

static bool same_workers(const struct report *a, const struct report *b, uint64_t seed)
{
    bool same = a->worker_count == b->worker_count;
    for (uint32_t i = 0; i < a->worker_count && same; i++) {
        const struct worker_report *mine = &a->workers[i], *theirs = &b->workers[i];
        struct figure figures[4 + CAUSES] = {
            {"worker's busy", mine->busy, theirs->busy, 0},
            {"worker's span", mine->span, theirs->span, 0},
            {"worker's in flight", mine->peak_in_flight, theirs->peak_in_flight, 0},
            {"worker's bytes", mine->peak_bytes, theirs->peak_bytes, 0},
        };
        for (int cause = 0; cause < CAUSES; cause++)
            figures[4 + cause] = (struct figure){cause_names[cause], mine->causes[cause], theirs->causes[cause], 1};
        same = same_figures(figures, 4 + CAUSES, seed);
    }
    return same;
}

static bool same_collectives(const struct report *a, const struct report *b, uint64_t seed)
{
    bool same = a->collective_count == b->collective_count;
    for (size_t i = 0; i < a->collective_count && same; i++) {
        const struct collective_use *mine = &a->collectives[i], *theirs = &b->collectives[i];
        const struct figure figures[] = {{"collectives", mine->count, theirs->count, 0},
                                         {"least bytes", mine->least_bytes, theirs->least_bytes, 0},
                                         {"most bytes", mine->most_bytes, theirs->most_bytes, 0}};
        same = same_figures(figures, sizeof figures / sizeof *figures, seed);
    }
    return same;
}

bool shown_are_same(const struct report *a, const struct report *b, double exposed, uint64_t seed)
{
    double path = a->critical_compute + a->critical_receive + a->critical_collective + a->critical_delay;
    double sensitive = a->sensitive_compute + a->sensitive_bandwidth + a->sensitive_latency, scale = b->iteration;
    const struct figure figures[] = {
        FIGURE(iteration, 0),
        FIGURE(makespan, 0),
        FIGURE(micro_batches, 0),
        FIGURE(bubble, 1),
        FIGURE(bubble_min, 1),
        FIGURE(bubble_max, 1),
        FIGURE(over_ideal, 1),
        FIGURE(span_max, 1),
        FIGURE(causes[CAUSE_FILL], 1),
        FIGURE(causes[CAUSE_DRAIN], 1),
        FIGURE(causes[CAUSE_RECEIVE], 1),
        FIGURE(causes[CAUSE_COLLECTIVE], 1),
        FIGURE(causes[CAUSE_DEPENDENCY], 1),
        FIGURE(idle.shares[IDLE_ORDER], 1),
        FIGURE(idle.shares[IDLE_IMBALANCE], 1),
        FIGURE(idle.shares[IDLE_TRANSFER], 1),
        FIGURE(exposed, scale),
        {"exposed, which is asked for", exposed, b->exposed, scale},
        FIGURE(overlapped, scale),
        FIGURE(sent_bytes, 0),
        FIGURE(peak_in_flight, 0),
        FIGURE(peak_bytes, 0),
        FIGURE(capacity_bytes, 0),
        FIGURE(fits, 0),
        FIGURE(limits.shares[LIMIT_NETWORK], 1),
        FIGURE(mfu, 0),
        FIGURE(hfu, 0),
        FIGURE(energy, 0),
        FIGURE(critical_length, 0),
        FIGURE(critical_delay, scale),
        FIGURE(critical_compute, scale),
        FIGURE(sensitive_compute, scale),
        FIGURE(sensitive_latency, scale),
        {"parts of the path", path, b->critical_length, 0},
        {"parts of the path that scale", fmax(0, sensitive - path), 0, scale},
    };
    return same_figures(figures, sizeof figures / sizeof *figures, seed) && same_workers(a, b, seed) &&
           same_collectives(a, b, seed);
}
