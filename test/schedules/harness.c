/* SPDX-License-Identifier: Apache-2.0 */
#include "test/schedules/harness.h"

#include "schedules/plan/plan_weights.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t option_value(const struct schedule_option *option, const char *text)
{
    int64_t parts;
    if (option->stashes && schedule_stashes_read(text, &parts))
        return parts;
    if (!option->names)
        return strtoll(text, NULL, 10);
    for (int64_t i = 0; option->names[i]; i++)
        if (!strcmp(option->names[i], text))
            return i;
    cr_assert_fail("option %s has no word %s", option->key, text);
    return 0;
}

struct schedule_request harness_request(const char *name, uint32_t workers, uint32_t micro_batches,
                                        const char *const *options)
{
    const struct schedule *schedule = schedule_find(name);
    cr_assert_not_null(schedule, "no schedule %s", name);
    struct schedule_request request = schedule_request_default(schedule, workers, micro_batches);
    for (; options && *options; options++) {
        size_t length = strcspn(*options, "="), i = 0;
        while (schedule->options[i].key && strncmp(schedule->options[i].key, *options, length))
            i++;
        cr_assert_not_null(schedule->options[i].key, "%s has no option %s", name, *options);
        request.options[i] = option_value(&schedule->options[i], *options + length + 1);
    }
    return request;
}

static bool fail(void *user, const struct plan_mistake *mistake)
{
    const struct schedule_request *request = user;
    cr_assert_fail("D=%u N=%u worker %u slot %zu: %s", request->workers, request->micro_batches, mistake->worker,
                   mistake->index, mistake->text);
    return false;
}

struct plan *harness_plan(const char *name, const struct schedule_request *request)
{
    const struct schedule *schedule = schedule_find(name);
    struct schedule_refusal refusal;
    cr_assert(schedule_fits(schedule, request, &refusal), "%s D=%u N=%u: %s", name, request->workers,
              request->micro_batches, refusal.text);
    struct plan *plan = schedule->plan(request);
    cr_assert(plan_check(plan, &(struct plan_reporter){fail, (void *)request}));
    return plan;
}

static struct outcome summarize(const struct plan *plan, const struct plan_timing *timing)
{
    struct outcome outcome = {.makespan = timing->makespan,
                              .ratio = timing->ratio,
                              .over_ideal = timing->over_ideal,
                              .span_max = timing->span_max,
                              .iteration = timing->iteration,
                              .peak_least = INFINITY};
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        if (!plan->orders[worker].count)
            continue; /* it has failed */
        size_t first = 0, last = plan->orders[worker].count - 1;
        while (first < last && slot_hands_on(&plan->orders[worker].slots[first]))
            first++;
        while (first < last && slot_hands_on(&plan->orders[worker].slots[last]))
            last--;
        double span = plan_timing_span(timing, worker, last).end - plan_timing_span(timing, worker, first).start;
        outcome.span_cost = fmax(outcome.span_cost, span);
        if (worker < 256)
            outcome.peaks[worker] = timing->peak_in_flight[worker];
        outcome.peak_least = fmin(outcome.peak_least, timing->peak_in_flight[worker]);
        outcome.peak_most = fmax(outcome.peak_most, timing->peak_in_flight[worker]);
    }
    return outcome;
}

struct outcome harness_run(const char *name, const struct schedule_request *request, struct times times)
{
    struct plan *plan = harness_plan(name, request);
    double *all = calloc(4 * (size_t)plan->stages, sizeof *all), chunks = (double)plan->stages / plan->workers;
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        all[stage] = times.forward / chunks;
        all[plan->stages + stage] = times.backward / chunks;
        all[2 * plan->stages + stage] = times.weight / chunks;
        all[3 * plan->stages + stage] = times.block / chunks;
    }
    struct plan_costs costs = {.forward = all,
                               .backward = all + plan->stages,
                               .weight = all + 2 * plan->stages,
                               .block = times.block > 0 ? all + 3 * plan->stages : NULL,
                               .latency = times.latency};
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &costs);
    struct outcome outcome = summarize(plan, &timing);
    plan_timing_finish(&timing);
    plan_destroy(plan);
    free(all);
    return outcome;
}

struct outcome harness_outcome(const char *name, uint32_t workers, uint32_t micro_batches, const char *const *options,
                               struct times times)
{
    struct schedule_request request = harness_request(name, workers, micro_batches, options);
    request.forward = times.forward;
    request.backward = times.backward;
    request.weight = times.weight;
    return harness_run(name, &request, times);
}

bool harness_equal(double left, double right)
{
    double scale = fmax(1, fmax(fabs(left), fabs(right)));
    return fabs(left - right) <= 1e-9 * scale;
}
