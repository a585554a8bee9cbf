/* SPDX-License-Identifier: Apache-2.0 */
/* The Metropolis search: how often it accepts what is worse, that it draws strategies in proportion to
 * exp(-cost/temperature), and that it finds the best of all strategies of small networks. */
#include "studies/operators/metropolis.h"

#include "base/arena.h"
#include "studies/operators/starts.h"
#include "test/studies/operators/networks.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Test(metropolis, accepts_in_proportion)
{
    enum { DRAWS = 100000 };
    struct draws random = {1};
    for (double more = 0.25; more <= 1.5; more += 0.25) {
        int accepted = 0;
        for (int i = 0; i < DRAWS; i++)
            accepted += metropolis_accepts(&random, more * 3, 3);
        double expected = exp(-more);
        cr_assert(fabs((double)accepted / DRAWS - expected) < 0.02 * expected, "%g temperatures worse: %g, not %g",
                  more, (double)accepted / DRAWS, expected);
    }
    cr_assert(metropolis_accepts(&random, 0, 1) && metropolis_accepts(&random, -1, 1));
}

static struct network_case *make_small(uint32_t layers, uint32_t devices)
{
    struct network_case *c = array_zeroed(1, sizeof *c);
    for (uint32_t i = 0; i < layers; i++) {
        bool dense = i + 1 == layers;
        case_layer(c, dense ? LAYER_DENSE : LAYER_CONVOLUTION,
                   dense ? (struct layer_shape){64, 1, 1} : (struct layer_shape){16, 4, 4}, dense ? 2e6 : 4e7 * (i + 1),
                   dense ? 400000 : 3000, NULL, 0);
    }
    case_finish(c, devices, 32);
    return c;
}

static double cost_of(const struct operators *o, const uint32_t *choices)
{
    struct task_graph *graph = task_graph_create(o, choices);
    struct task_result result = task_graph_evaluate(graph);
    task_graph_destroy(graph);
    return metropolis_cost(&result);
}

/* The least cost of all strategies. */
static double least_of_all(const struct operators *o, uint32_t *choices, uint32_t layer)
{
    if (layer == o->graph->count)
        return cost_of(o, choices);
    double least = INFINITY;
    for (choices[layer] = 0; choices[layer] < o->spaces[layer].count; choices[layer]++)
        least = fmin(least, least_of_all(o, choices, layer + 1));
    return least;
}

Test(metropolis, finds_the_best_of_small_networks, .timeout = 200)
{
    static const struct {
        uint32_t layers, devices;
    } cases[] = {{1, 8}, {2, 4}, {3, 2}, {4, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct network_case *c = make_small(cases[i].layers, cases[i].devices);
        uint32_t choices[CASE_LAYERS];
        double least = least_of_all(&c->operators, choices, 0);
        for (int classes = 0; classes < 2; classes++) {
            start_data(&c->operators, choices);
            struct metropolis_request request = {.operators = &c->operators,
                                                 .budget = 20000,
                                                 .temperature = 0.1 * cost_of(&c->operators, choices),
                                                 .classes = classes};
            struct metropolis_outcome outcome = metropolis_search(&request, &(struct draws){3}, choices);
            cr_assert(outcome.best == least, "%u layers on %u devices: %.17g, not %.17g", cases[i].layers,
                      cases[i].devices, outcome.best, least);
            cr_assert(cost_of(&c->operators, choices) == least);
            cr_assert(outcome.first >= outcome.best && outcome.proposals < request.budget);
        }
        case_destroy(c);
    }
}

/* With delta simulation that ends when a proposal is refused, or with everything evaluated for each proposal, the
 * search takes the same way, of single operators and of classes. Delta simulation builds and times less than half as
 * many tasks on 16 devices. */
Test(metropolis, delta_takes_the_same_way, .timeout = 200)
{
    struct network_case *c = array_zeroed(1, sizeof *c);
    case_branches(c);
    case_finish(c, 16, 64);
    for (int classes = 0; classes < 2; classes++) {
        struct metropolis_outcome outcomes[2];
        uint32_t choices[2][CASE_LAYERS] = {{0}};
        for (int full = 0; full < 2; full++) {
            start_data(&c->operators, choices[full]);
            struct metropolis_request request = {
                .operators = &c->operators, .budget = 2000, .temperature = 1e-4, .full = full, .classes = classes};
            outcomes[full] = metropolis_search(&request, &(struct draws){5}, choices[full]);
        }
        cr_assert(outcomes[0].best == outcomes[1].best && outcomes[0].accepted == outcomes[1].accepted);
        cr_assert(!memcmp(choices[0], choices[1], sizeof choices[0]));
        double delta = (double)(outcomes[0].counts.built + outcomes[0].counts.timed),
               full = (double)(outcomes[1].counts.built + outcomes[1].counts.timed) - delta;
        cr_assert(full >= 2 * delta, "%g tasks by delta simulation, %g without", delta, full);
    }
    case_destroy(c);
}

static bool stop_at_once(void *user)
{
    ++*(int *)user;
    return true;
}

Test(metropolis, stops_when_asked)
{
    struct network_case *c = make_small(3, 4);
    uint32_t choices[CASE_LAYERS];
    int asked = 0;
    start_data(&c->operators, choices);
    struct metropolis_request request = {
        .operators = &c->operators, .budget = 1000, .temperature = 1, .stop = stop_at_once, .user = &asked};
    struct metropolis_outcome outcome = metropolis_search(&request, &(struct draws){0}, choices);
    cr_assert(outcome.stopped && outcome.proposals == 1 && asked == 1);
    case_destroy(c);
}
