/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search_estimate.h"

#include <math.h>
#include <string.h>

void search_spent_add(struct search_spent *spent, unsigned class, double seconds)
{
    atomic_fetch_add(&spent->nanoseconds[class], (uint64_t)(1e9 * fmax(0, seconds)));
    atomic_fetch_add(&spent->count[class], 1);
}

/* One line a second; the oldest goes. */
static void note_past(struct search_estimate *estimate, struct search_spent *spent, double now)
{
    if (estimate->pasts && now - estimate->noted < 1)
        return;
    if (estimate->pasts == ESTIMATE_SECONDS)
        memmove(estimate->past, estimate->past + 1, (ESTIMATE_SECONDS - 1) * sizeof *estimate->past);
    else
        estimate->pasts++;
    for (unsigned i = 0; i < SEARCH_CLASSES; i++) {
        estimate->past[estimate->pasts - 1].count[i] = atomic_load(&spent->count[i]);
        estimate->past[estimate->pasts - 1].nanoseconds[i] = atomic_load(&spent->nanoseconds[i]);
    }
    estimate->noted = now;
}

/* Seconds of a candidate of the class: of late, or ever; 0: none was done. */
static double seconds_of(const struct search_estimate *estimate, struct search_spent *spent, unsigned class)
{
    uint64_t count = atomic_load(&spent->count[class]), time = atomic_load(&spent->nanoseconds[class]);
    if (!count)
        return 0;
    uint64_t late = estimate->pasts ? count - estimate->past[0].count[class] : 0;
    if (late)
        return 1e-9 * (double)(time - estimate->past[0].nanoseconds[class]) / (double)late;
    return 1e-9 * (double)time / (double)count;
}

/* The nearest class that is known says it for one that is not: cost grows with the work. */
static double guess(const struct search_estimate *estimate, struct search_spent *spent, unsigned class)
{
    for (unsigned distance = 0; distance < SEARCH_CLASSES; distance++) {
        double below = class >= distance ? seconds_of(estimate, spent, class - distance) : 0;
        double above = class + distance < SEARCH_CLASSES ? seconds_of(estimate, spent, class + distance) : 0;
        if (below > 0)
            return ldexp(below, (int)distance);
        if (above > 0)
            return ldexp(above, -(int)distance);
    }
    return 0;
}

double search_estimate_left(struct search_estimate *estimate, struct search_spent *spent, unsigned processes,
                            double now)
{
    double seconds = 0;
    bool left = false;
    for (unsigned i = 0; i < SEARCH_CLASSES; i++) {
        uint64_t done = atomic_load(&spent->count[i]);
        left |= estimate->total[i] > done;
        if (estimate->total[i] > done)
            seconds += (double)(estimate->total[i] - done) * guess(estimate, spent, i);
    }
    note_past(estimate, spent, now);
    return left && seconds <= 0 ? -1 : seconds / (processes ? processes : 1);
}

/* Measured on 148,608 layouts of 530 billion parameters (48 s of processor) and 5,184 of 70 billion: most candidates
 * are looked at and no more, which takes 0.15 ms and a tenth more for each class; those that are timed add a third. */
double search_likely_cost(const struct search_space *space, const struct scenario *scenario)
{
    static const double look_seconds = 1.5e-4, growth = 0.1, timed_seconds = 5e-5;
    uint64_t counts[SEARCH_CLASSES];
    double seconds = 0;
    search_space_classes(space, scenario, counts);
    for (unsigned i = 0; i < SEARCH_CLASSES; i++)
        seconds += (double)counts[i] * (look_seconds * (1 + growth * i) + timed_seconds);
    return seconds;
}
