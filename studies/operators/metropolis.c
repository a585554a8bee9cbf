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

static struct task_result propose(const struct metropolis_request *request, struct task_graph *graph, uint32_t layer,
                                  uint32_t choice)
{
    struct task_result result = task_graph_change(graph, layer, choice);
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
           !outcome.stopped) {
        uint32_t layer = draw_layer(o, random);
        uint32_t choice = (uint32_t)draw_below(random, o->spaces[layer].count);
        struct task_result result = propose(request, graph, layer, choice);
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
