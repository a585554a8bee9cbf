/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/estimate.h"

#include "base/arena.h"
#include "base/files/scratch.h"
#include "base/rounded/rounded.h"

#include <math.h>
#include <stdlib.h>
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

/* The nearest class that is known says it for one that is not. Measured: a class has twice the work of the one below
 * and takes a tenth longer, for most of the work repeats. */
static double guess(const struct search_estimate *estimate, struct search_spent *spent, unsigned class)
{
    static const double growth = 1.1;
    for (unsigned distance = 0; distance < SEARCH_CLASSES; distance++) {
        double below = class >= distance ? seconds_of(estimate, spent, class - distance) : 0;
        double above = class + distance < SEARCH_CLASSES ? seconds_of(estimate, spent, class + distance) : 0;
        if (below > 0)
            return below * rounded_pow(growth, distance);
        if (above > 0)
            return above * rounded_pow(growth, -(double)distance);
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

/* ---- the whole search ---- */

/* Seconds of all candidates of the estimate that are left, by what looks took; 0: nothing is known. Measured: 7 times a
 * look at one of the class, on searches of 22 and 70 billion parameters. */
static double guess_timings(const struct search_forecast *forecast, struct search_spent *spent)
{
    static const double looks = 7;
    double seconds = 0;
    for (unsigned i = 0; i < SEARCH_CLASSES; i++)
        if (forecast->timings.total[i] > atomic_load(&spent[1].count[i]))
            seconds += (double)(forecast->timings.total[i] - atomic_load(&spent[1].count[i])) * looks *
                       guess(&forecast->looks, &spent[0], i);
    return seconds;
}

/* Mean seconds of a candidate; 0: none was done. */
static double mean_seconds(struct search_spent *spent)
{
    double count = 0, seconds = 0;
    for (unsigned i = 0; i < SEARCH_CLASSES; i++) {
        count += (double)atomic_load(&spent->count[i]);
        seconds += 1e-9 * (double)atomic_load(&spent->nanoseconds[i]);
    }
    return count > 0 ? seconds / count : 0;
}

struct search_rest search_forecast_rest(struct search_forecast *forecast, struct search_spent *spent,
                                        unsigned processes, double now)
{
    double looks = search_estimate_left(&forecast->looks, &spent[0], processes, now),
           timings = search_estimate_left(&forecast->timings, &spent[1], processes, now), one = mean_seconds(&spent[1]);
    if (looks < 0)
        return (struct search_rest){-1, true};
    if (timings < 0)
        timings = guess_timings(forecast, spent) / (processes ? processes : 1);
    return (struct search_rest){looks + timings + forecast->exposed * one, one <= 0 || forecast->simulated > 0};
}

enum { SAMPLE = 200000 };

/* Bounds as they will be if times are as close to the first bound as they mostly are. The caller frees them. */
static struct search_bounds *foresee(const struct search_waiting *waiting, uint64_t stride)
{
    static const double closeness = 0.95;
    struct search_bounds *bounds = array_zeroed(1, sizeof *bounds);
    bounds->kept = (uint32_t)(waiting->kept > stride ? waiting->kept / stride : 1);
    for (uint64_t i = 0; i < waiting->table->count; i += stride) {
        const struct search_result *result = &waiting->table->results[i];
        if (result->status == SEARCH_FITS)
            search_bounds_note(bounds, result->iteration, result->peak_bytes);
        else if (result->status == SEARCH_WAITS && result->work > 0)
            search_bounds_note(bounds, result->work / closeness, result->peak_bytes);
    }
    return bounds;
}

/* Whether bounds will discard a candidate, or do so already. */
static bool is_doomed(const struct search_waiting *waiting, struct search_bounds *foreseen,
                      const struct search_result *result)
{
    return !waiting->exhaustive && (search_bounds_exclude(waiting->bounds, result->work, result->peak_bytes) ||
                                    search_bounds_exclude(foreseen, result->work, result->peak_bytes));
}

void search_forecast_timings(struct search_forecast *forecast, struct search_spent *timings,
                             const struct search_waiting *waiting)
{
    uint64_t stride = waiting->table->count / SAMPLE + 1;
    struct search_bounds *foreseen = foresee(waiting, stride);
    double expected[SEARCH_CLASSES] = {0},
           weight = (double)stride / (waiting->exhaustive ? fmax(waiting->looked, 1e-9) : 1);
    for (uint64_t i = 0; i < waiting->table->count; i += stride) {
        const struct search_result *result = &waiting->table->results[i];
        if (result->status == SEARCH_WAITS && !is_doomed(waiting, foreseen, result))
            expected[search_space_class(waiting->space, waiting->scenario, i)] += weight;
    }
    for (unsigned i = 0; i < SEARCH_CLASSES; i++)
        forecast->timings.total[i] = atomic_load(&timings->count[i]) + (uint64_t)expected[i];
    if (stride > 1) /* so that memory does not grow with the table */
        scratch_release(waiting->table->results, waiting->table->count * sizeof *waiting->table->results);
    free(foreseen);
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
