/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for every schedule of the table, over a grid of workers, micro-batches and options: adding a schedule to
 * the table is all it takes to test it here. */
#include "test/schedules/harness.h"
#include "test/support/samples.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t depths[] = {1, 2, 3, 4, 6, 8, 12};
static const uint32_t counts[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 31};

struct tally {
    unsigned fitting, refused, plain;
};

static bool mentions(const struct schedule *schedule, const char *key)
{
    for (const struct schedule_option *option = schedule->options; option && option->key; option++)
        if (!strcmp(option->key, key))
            return true;
    return false;
}

static void expect_refusal(const struct schedule *schedule, const struct schedule_request *request,
                           const struct schedule_refusal *refusal)
{
    cr_expect(strlen(refusal->text) > strlen(schedule->name), "%s D=%u N=%u refuses without a reason", schedule->name,
              request->workers, request->micro_batches);
    if (refusal->about == REFUSED_OPTION)
        cr_expect(refusal->option && mentions(schedule, refusal->option), "%s blames an option that it does not have",
                  schedule->name);
}

static bool is_plain(const struct plan *plan)
{
    bool plain = !plan->asynchronous && plan->pipelines == 1 && plan->slices == 1;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 0; i < plan->orders[worker].count; i++) {
            const struct slot *slot = &plan->orders[worker].slots[i];
            plain &= slot->kind <= SLOT_WEIGHT && slot->part == PART_WHOLE && slot->joined == SLOT_ALONE;
        }
    return plain;
}

/* Each gradient is complete exactly once, every worker has the same work where stages are spread evenly, and what the
 * plan says about itself agrees with the table. */
static void expect_plan(const struct schedule *schedule, const struct schedule_request *request,
                        const struct plan *plan)
{
    cr_expect_eq(plan->workers, request->workers);
    cr_expect_eq(plan->stages, schedule->stages(request));
    cr_expect_eq(plan->micro_batches, request->micro_batches * plan->iterations * plan->slices);
    cr_expect(plan->slices == 1 || schedule->slices, "%s cuts sequences but does not say so", schedule->name);
    cr_expect_eq(plan->asynchronous, schedule->asynchronous);
    cr_expect(plan->iterations == request->iterations && (plan->iterations == 1 || schedule->crosses), "%s",
              schedule->name);
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        cr_expect_geq(plan->weight_versions[worker], 1);
        cr_expect(schedule->asynchronous || plan->staleness[worker] == 0, "%s is synchronous but stale",
                  schedule->name);
        bool weights = false;
        for (size_t i = 0; i < plan->orders[worker].count; i++)
            weights |= plan->orders[worker].slots[i].kind == SLOT_WEIGHT;
        cr_expect(!weights || schedule->split_backward, "%s has W but does not say so", schedule->name);
    }
}

/* Its bubble is one, its work is all there, and it never beats the bounds: the busiest worker, and one micro-batch's
 * way through all stages and back. */
static void expect_times(const struct schedule *schedule, const struct schedule_request *request, bool halved,
                         uint32_t slices)
{
    struct times times = {.forward = request->forward, .backward = request->backward, .weight = request->weight};
    struct outcome outcome = harness_run(schedule->name, request, times), late;
    double whole = times.forward + times.backward, work = whole * request->micro_batches * request->iterations;
    cr_expect(outcome.makespan >= work - 1e-9, "%s D=%u N=%u: %g < %g", schedule->name, request->workers,
              request->micro_batches, outcome.makespan, work);
    /* The weight gradients of a split backward are off the way, and a half is as fast as it is small. */
    double back = (times.backward - (schedule->split_backward ? times.weight : 0)) * (halved ? 0.5 : 1);
    double way = request->workers * (times.forward + back) / slices;
    cr_expect(outcome.makespan >= way - 1e-9, "%s D=%u N=%u: %g < %g", schedule->name, request->workers,
              request->micro_batches, outcome.makespan, way);
    cr_expect(outcome.ratio > -1e-9 && outcome.ratio < 1);
    cr_expect(outcome.span_max > -1e-9 && outcome.span_max <= 1 - work / outcome.makespan + 1e-9);
    double share = fmax(1, (double)request->workers / schedule->stages(request)); /* of the model on a worker */
    cr_expect(outcome.peak_least > 0 &&
              outcome.peak_most <= share * request->micro_batches * request->iterations + 1e-9);
    cr_expect(harness_equal(outcome.makespan, request->iterations == 1 ? outcome.iteration : outcome.makespan));
    times.latency = 0.25;
    late = harness_run(schedule->name, request, times);
    cr_expect(late.makespan >= outcome.makespan - 1e-9, "%s: latency makes it faster", schedule->name);
    double messages = strcmp(schedule->name, "weipipe") ? 2 : 1; /* on the way of a micro-batch, or of its weights */
    uint32_t line = schedule->fails ? schedule->stages(request) : request->workers;
    cr_expect(request->workers == 1 || late.makespan >= way + messages * (line - 1) * times.latency - 1e-9,
              "%s: latency is lost", schedule->name);
}

static void expect_same(const struct plan *left, const struct plan *right)
{
    for (uint32_t worker = 0; worker < left->workers; worker++) {
        cr_assert_eq(left->orders[worker].count, right->orders[worker].count);
        cr_expect_arr_eq(left->orders[worker].slots, right->orders[worker].slots,
                         left->orders[worker].count * sizeof *left->orders[worker].slots);
    }
}

static void try_request(const struct schedule *schedule, const struct schedule_request *request, struct tally *tally)
{
    struct schedule_refusal refusal = {.text = ""};
    if (!schedule_fits(schedule, request, &refusal)) {
        expect_refusal(schedule, request, &refusal);
        tally->refused++;
        return;
    }
    if (mentions(schedule, "effort") && request->workers * request->micro_batches > 32)
        return; /* each a search of its own */
    tally->fitting++;
    struct schedule_request other = *request; /* in which only what counts for the plan is equal */
    if (!schedule->adapts && !schedule->timed && !schedule->slices) {
        other.forward = 3;
        other.backward = 4;
        other.weight = 1;
        other.grain = 0.25;
    }
    struct plan *plan = harness_plan(schedule->name, request), *again = schedule->plan(&other);
    expect_plan(schedule, request, plan);
    expect_same(plan, again);
    tally->plain += is_plain(plan);
    bool halved = false;
    uint32_t slices = plan->slices;
    for (size_t i = 0; i < plan->orders[0].count; i++)
        halved |= plan->orders[0].slots[i].part != PART_WHOLE;
    plan_destroy(plan);
    plan_destroy(again);
    expect_times(schedule, request, halved, slices);
}

/* Values of an option worth trying: all words, or the default, the least and some above. */
static size_t values_of(const struct schedule_option *option, int64_t values[16])
{
    size_t count = 0;
    if (option->names) {
        while (option->names[count] && count < 16)
            values[count] = (int64_t)count, count++;
        return count;
    }
    values[count++] = option->initial;
    for (int64_t value = option->least; value <= option->least + 3 && value <= option->most; value++)
        if (value != option->initial)
            values[count++] = option->stashes ? value * SCHEDULE_STASH : value;
    return count;
}

/* Every combination of option values from `option` on. */
static void try_options(const struct schedule *schedule, struct schedule_request *request, unsigned option,
                        struct tally *tally)
{
    if (!schedule->options || !schedule->options[option].key) {
        try_request(schedule, request, tally);
        return;
    }
    int64_t values[16];
    size_t count = values_of(&schedule->options[option], values);
    if (!strcmp(schedule->options[option].key, "effort")) {
        values[0] = 300; /* a search of its own for each of thousands of requests */
        count = 1;
    }
    if (!strcmp(schedule->options[option].key, "transfer")) {
        values[1] = 1000; /* the least ones are all alike: nothing in the way */
        count = 2;
    }
    if (schedule->fails && count > 3)
        count = 3; /* of each of its three numbers */
    for (size_t i = 0; i < count; i++) {
        request->options[option] = values[i];
        try_options(schedule, request, option + 1, tally);
    }
}

Test(invariants, every_schedule)
{
    unsigned percent = samples_percent() < 25 ? 25 : samples_percent(); /* with fewer some schedule fits nowhere */
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        struct tally tally = {0};
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
            for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
                if (!in_share((unsigned)(d + n), percent))
                    continue;
                struct schedule_request request = schedule_request_default(*schedule, depths[d], counts[n]);
                try_options(*schedule, &request, 0, &tally);
                request = schedule_request_default(*schedule, depths[d], counts[n]);
                request.iterations = 3;
                if ((*schedule)->crosses)
                    try_request(*schedule, &request, &tally);
            }
        cr_expect_geq(tally.fitting, 3, "%s hardly fits anything", (*schedule)->name);
        cr_expect_eq((*schedule)->plain, tally.plain == tally.fitting, "%s: %u of %u plans are plain",
                     (*schedule)->name, tally.plain, tally.fitting);
    }
}

Test(invariants, table)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        cr_expect_eq(schedule_find((*schedule)->name), *schedule, "%s is there twice", (*schedule)->name);
        cr_expect(strlen((*schedule)->summary) > 10 && strlen((*schedule)->source) > 10, "%s says too little",
                  (*schedule)->name);
    }
    cr_expect_null(schedule_find("gpipee"));
    cr_expect_null(schedule_find(""));
}

/* Numbers at the ends of what a command line can hold are refused or planned, never more. */
Test(invariants, extremes)
{
    static const uint32_t ends[] = {0, 1, 65535, 65536, UINT32_MAX};
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++)
        for (unsigned d = 0; d < 5; d++)
            for (unsigned n = 0; n < 5; n++) {
                struct schedule_request request = schedule_request_default(*schedule, ends[d], ends[n]);
                struct schedule_refusal refusal;
                if (d > 0 && n > 0 && (uint64_t)ends[d] * ends[n] <= 1)
                    try_request(*schedule, &request, &(struct tally){0});
                else if ((d == 0 || n == 0 || d > 2) && schedule_fits(*schedule, &request, &refusal))
                    cr_assert_fail("%s accepts D=%u N=%u", (*schedule)->name, ends[d], ends[n]);
                for (unsigned option = 0; (*schedule)->options && (*schedule)->options[option].key; option++) {
                    request = schedule_request_default(*schedule, 4, 8);
                    request.options[option] = INT64_MAX;
                    cr_expect_not(schedule_fits(*schedule, &request, &refusal), "%s %s", (*schedule)->name,
                                  (*schedule)->options[option].key);
                    request.options[option] = -1;
                    cr_expect_not(schedule_fits(*schedule, &request, &refusal), "%s %s", (*schedule)->name,
                                  (*schedule)->options[option].key);
                }
            }
}

/* Slots of a plan, for four times the micro-batches four times as many. */
static size_t slots_of(const char *name, uint32_t micro_batches)
{
    struct schedule_request request = harness_request(name, 4, micro_batches, NULL);
    struct plan *plan = harness_plan(name, &request);
    size_t slots = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        slots += plan->orders[worker].count;
    plan_destroy(plan);
    return slots;
}

Test(invariants, slots_grow_with_micro_batches)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        /* The ends of an iteration may be free of stashes that move. */
        cr_expect_leq(slots_of((*schedule)->name, 64), 4 * slots_of((*schedule)->name, 16) + 16, "%s",
                      (*schedule)->name);
    }
}
