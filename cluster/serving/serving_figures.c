/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/serving/serving.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Sorts the values. A quantile is the smallest value that so many do not exceed. */
static struct serving_quantiles quantiles(double *values, uint32_t count)
{
    struct serving_quantiles out = {0};
    if (!count)
        return out;
    qsort(values, count, sizeof *values, by_value);
    for (uint32_t i = 0; i < count; i++)
        out.mean += values[i] / count;
    out.p50 = values[(uint32_t)ceil(0.5 * count) - 1];
    out.p90 = values[(uint32_t)ceil(0.9 * count) - 1];
    out.p99 = values[(uint32_t)ceil(0.99 * count) - 1];
    out.most = values[count - 1];
    return out;
}

double *serving_arrivals(const struct serving *serving, const struct batching_run *run, struct arena *arena)
{
    uint32_t count = serving->count;
    double *arrivals = arena_array(arena, count, sizeof *arrivals), *ends = arena_array(arena, count, sizeof *ends);
    for (uint32_t i = 0; i < count; i++) {
        arrivals[i] = serving->requests[i].arrival;
        ends[i] = run->outcomes[i].last;
    }
    qsort(ends, count, sizeof *ends, by_value);
    for (uint64_t i = serving->concurrency; serving->concurrency && i < count; i++)
        arrivals[i] = ends[i - serving->concurrency];
    return arrivals;
}

static void set_latencies(const struct serving_view *view, struct serving_figures *figures)
{
    const struct serving *serving = view->serving;
    uint32_t count = serving->count, several = 0;
    const double *arrivals = view->arrivals;
    double *values = array_zeroed(count, sizeof *values);
    const struct batching_outcome *outcomes = view->run->outcomes;
    for (uint32_t i = 0; i < count; i++)
        values[i] = outcomes[i].first - arrivals[i];
    figures->first = quantiles(values, count);
    for (uint32_t i = 0; i < count; i++)
        if (serving->requests[i].output > 1)
            values[several++] = (outcomes[i].last - outcomes[i].first) / (serving->requests[i].output - 1);
    figures->next = quantiles(values, several);
    for (uint32_t i = 0; i < count; i++)
        values[i] = outcomes[i].last - arrivals[i];
    figures->whole = quantiles(values, count);
    free(values);
}

/* Of a step as it is on average, without prompts. */
static void set_parts(const struct serving_view *view, struct serving_figures *figures)
{
    double held = 0, weight = 0;
    for (uint32_t i = 0; i < view->serving->count; i++) {
        const struct batching_request *request = &view->serving->requests[i];
        held += request->output * (request->prompt + request->output / 2);
        weight += request->output;
    }
    struct generation_step step = {
        .decoding = figures->batch, .context = figures->batch * held / weight, .sampled = figures->batch};
    double seconds = generation_seconds(view->engine->generation, &step, &figures->parts);
    figures->parts.weights /= seconds;
    figures->parts.cache /= seconds;
    figures->parts.exchange /= seconds;
    figures->parts.host /= seconds;
    figures->least = generation_least(view->engine->generation, &step) / seconds;
}

void serving_figures(const struct serving_view *view, struct serving_figures *figures)
{
    const struct batching_run *run = view->run;
    *figures = (struct serving_figures){.makespan = run->end - view->serving->requests[0].arrival,
                                        .batch = run->sequences,
                                        .steps = run->steps,
                                        .preempted = run->preempted,
                                        .filled = run->most_tokens / view->engine->limits.tokens};
    for (uint32_t i = 0; i < view->serving->count; i++) {
        figures->prompts += view->serving->requests[i].prompt;
        figures->outputs += view->serving->requests[i].output;
    }
    figures->busy = figures->makespan > 0 ? run->busy / figures->makespan : 1;
    set_latencies(view, figures);
    set_parts(view, figures);
}
