/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/operators/metropolis.h"

#include "base/rounded/rounded.h"

#include <math.h>
#include <string.h>

static const double SECONDS_PER_EXCESS_BYTE = 1e-9;

bool metropolis_accepts(struct draws *random, double more, double temperature)
{
    return more <= 0 || draw_unit(random) < rounded_exp(-more / temperature);
}

double metropolis_cost(const struct task_result *result)
{
    return result->seconds + SECONDS_PER_EXCESS_BYTE * result->excess;
}

/* A layer whose turn it is; layers that change together count once. */
static uint32_t draw_layer(const struct operators *o, struct draws *random)
{
    uint32_t layer;
    do
        layer = (uint32_t)draw_below(random, o->graph->count);
    while (operator_unit(o, layer) != layer);
    return layer;
}

/* Of configurations that are sorted by their parts: any number of parts, and any configuration with as many. */
static uint32_t draw_by_parts(const struct operator_space *space, struct draws *random)
{
    uint32_t numbers = 0, first = 0, end;
    for (uint32_t i = 0; i < space->count; i++)
        numbers += !i || space->configurations[i].count != space->configurations[i - 1].count;
    for (uint64_t left = draw_below(random, numbers);; left--, first = end) {
        for (end = first + 1;
             end < space->count && space->configurations[end].count == space->configurations[first].count; end++) {}
        if (!left)
            return first + (uint32_t)draw_below(random, end - first);
    }
}

static struct task_change draw_change(const struct metropolis_request *request, struct draws *random)
{
    const struct operators *o = request->operators;
    struct task_change change = {.layer = draw_layer(o, random)};
    const struct operator_space *space = &o->spaces[change.layer];
    change.together = request->classes && draw_below(random, 2);
    change.choice = request->classes ? draw_by_parts(space, random) : (uint32_t)draw_below(random, space->count);
    return change;
}

/* The seconds above which the next proposal is refused, and a little more for what sums are rounded by. */
static double limit_of(const struct metropolis_request *request, struct draws random, double cost)
{
    static const double ROUNDED = 1e-9;
    double drawn = draw_unit(&random);
    return drawn > 0 ? (cost - request->temperature * rounded_log(drawn)) * (1 + ROUNDED) : INFINITY;
}

static struct task_result propose(const struct metropolis_request *request, struct task_graph *graph,
                                  const struct task_change *change, double limit)
{
    struct task_result result = task_graph_change(graph, change, request->full ? INFINITY : limit);
    return request->full ? task_graph_evaluate(graph) : result;
}

struct metropolis_outcome metropolis_search(const struct metropolis_request *request, struct draws *random,
                                            uint32_t *choices)
{
    const struct operators *o = request->operators;
    struct task_graph *graph = task_graph_create(o, choices);
    struct metropolis_outcome outcome = {.result = task_graph_evaluate(graph)};
    double cost = metropolis_cost(&outcome.result);
    outcome.first = outcome.best = cost;
    while (outcome.proposals + 1 < request->budget && outcome.proposals - outcome.found < (request->budget + 1) / 2 &&
           !outcome.stopped && outcome.first < INFINITY) {
        struct task_change change = draw_change(request, random);
        struct task_result result = propose(request, graph, &change, limit_of(request, *random, cost));
        double next = metropolis_cost(&result);
        outcome.proposals++;
        if (!metropolis_accepts(random, next - cost, request->temperature)) {
            task_graph_undo(graph);
        } else {
            task_graph_keep(graph);
            outcome.accepted++;
            outcome.worse += next > cost;
            cost = next;
        }
        if (cost < outcome.best) {
            outcome.best = cost;
            outcome.result = result;
            outcome.found = outcome.proposals;
            memcpy(choices, task_graph_choices(graph), o->graph->count * sizeof *choices);
        }
        outcome.stopped = request->stop && request->stop(request->user);
    }
    outcome.counts = task_graph_counts(graph);
    task_graph_destroy(graph);
    return outcome;
}
