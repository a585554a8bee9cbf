/* SPDX-License-Identifier: Apache-2.0 */
/* The unit of time is of no account: every schedule of the table has the same order when all times are multiplied by a
 * number, rounded as such products are. */
#include "test/schedules/harness.h"
#include "test/support/samples.h"

#include <criterion/criterion.h>
#include <string.h>

static const double scales[] = {1e-6, 1e-3, 0.1, 1.0 / 3, 0.7, 3, 7, 1e3, 1e6};
static const struct {
    double forward, backward;
} times[] = {{1, 2}, {3, 5}, {1, 1}, {2, 1}, {0.7, 1.1}, {0.6, 1}, {0.1 + 0.2, 0.6}, {0.123456789, 0.987654321}};

static bool same_slot(const struct slot *a, const struct slot *b)
{
    return a->kind == b->kind && a->stage == b->stage && a->micro_batch == b->micro_batch &&
           a->pipeline == b->pipeline && a->part == b->part && a->joined == b->joined && a->split == b->split;
}

static bool same_orders(const struct plan *a, const struct plan *b)
{
    for (uint32_t worker = 0; worker < a->workers; worker++) {
        if (a->orders[worker].count != b->orders[worker].count)
            return false;
        for (size_t i = 0; i < a->orders[worker].count; i++)
            if (!same_slot(&a->orders[worker].slots[i], &b->orders[worker].slots[i]))
                return false;
    }
    return true;
}

static struct plan *scaled_plan(const struct schedule *schedule, const struct schedule_request *request, size_t at,
                                double scale)
{
    struct schedule_request scaled = *request;
    scaled.forward = times[at].forward * scale;
    scaled.backward = times[at].backward * scale;
    scaled.weight = scaled.backward / 2;
    return schedule->plan(&scaled);
}

static unsigned compare_scales(const struct schedule *schedule, const struct schedule_request *request)
{
    struct schedule_refusal refusal;
    if (!schedule_fits(schedule, request, &refusal))
        return 0;
    if (schedule->adapts && request->micro_batches > 8)
        return 0; /* each a search of its own */
    for (size_t at = 0; at < sizeof times / sizeof *times; at++) {
        struct plan *plan = scaled_plan(schedule, request, at, 1);
        for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
            struct plan *scaled = scaled_plan(schedule, request, at, scales[i]);
            cr_expect(same_orders(plan, scaled), "%s D=%u N=%u: times %g and %g have another order than %g times that",
                      schedule->name, request->workers, request->micro_batches, times[at].forward, times[at].backward,
                      scales[i]);
            plan_destroy(scaled);
        }
        plan_destroy(plan);
    }
    return 1;
}

/* The default options, and every value of each option of words, or a few of a count. */
static unsigned compare_options(const struct schedule *schedule, struct schedule_request request)
{
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++)
        if (!strcmp(schedule->options[i].key, "effort"))
            request.options[i] = 1000;
    unsigned compared = compare_scales(schedule, &request);
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++) {
        const struct schedule_option *option = &schedule->options[i];
        struct schedule_request other = request;
        int64_t most = option->most < option->least + 4 ? option->most : option->least + 4;
        for (most = option->names ? 0 : most; option->names && option->names[most + 1];)
            most++;
        for (int64_t value = option->names ? 0 : option->least; value <= most; value++) {
            other.options[i] = option->stashes && !option->names ? value * SCHEDULE_STASH : value;
            if (value != option->initial)
                compared += compare_scales(schedule, &other);
        }
    }
    return compared;
}

Test(scaling, leaves_every_order)
{
    static const uint32_t sizes[][2] = {{2, 4}, {3, 7}, {4, 8}, {5, 10}, {6, 12}, {8, 24}, {9, 27}, {12, 36}};
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++) {
        unsigned compared = 0, number = (unsigned)(schedule - schedule_table); /* other sizes for the next schedule */
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (in_sample((unsigned)i + number))
                compared += compare_options(*schedule, schedule_request_default(*schedule, sizes[i][0], sizes[i][1]));
        if (samples_percent() >= 100)
            cr_expect_geq(compared, 3, "%s: only %u requests fit", (*schedule)->name, compared);
    }
}

/* What equal sums of times make possible is not left to rounding: an exact example, and its shorter tie-break. */
Test(scaling, hanayo_in_any_unit)
{
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        struct schedule_request request = harness_request("hanayo", 8, 24, NULL);
        struct times unit = {3 * scales[i], 5 * scales[i], 0, 0, 0};
        request.forward = unit.forward;
        request.backward = unit.backward;
        cr_expect_float_eq(harness_run("hanayo", &request, unit).makespan / scales[i], 221, 1e-9 * 221);
    }
}
