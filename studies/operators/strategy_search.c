/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/operators/strategy_search.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "job/job.h"
#include "studies/operators/metropolis.h"
#include "studies/operators/operator_network.h"
#include "studies/operators/starts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const strategy_names[STRATEGY_ROWS] = {"data parallel", "expert", "found"};

struct search {
    const struct strategy_request *request;
    const struct operators *o;
    uint32_t *choices[STRATEGY_ROWS];
    double best; /* cost */
    double temperature, deadline;
    struct draws random;
    struct strategy_start *starts;
    uint32_t **bests; /* [start][layer]: choices */
    uint32_t start_count;
    bool stopped;
};

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_late(void *user)
{
    const struct search *s = user;
    return interruption_noted() || (s->deadline > 0 && now(CLOCK_MONOTONIC) > s->deadline);
}

static struct strategy_row evaluate(const struct search *s, const uint32_t *choices)
{
    struct task_graph *graph = task_graph_create(s->o, choices);
    struct strategy_row row = {.result = task_graph_evaluate(graph)};
    row.sent = task_graph_sent(graph);
    task_graph_destroy(graph);
    return row;
}

static uint32_t starts_of(const struct strategy_request *request)
{
    return 2 + request->seed_count + request->restarts;
}

/* From choices[layer], which are spoilt; the best of all is kept. */
static void search_from(struct search *s, const char *name, uint32_t *choices)
{
    uint32_t starts = starts_of(s->request);
    struct metropolis_request request = {.operators = s->o,
                                         .budget = s->request->budget / starts,
                                         .temperature = s->temperature,
                                         .full = s->request->full,
                                         .classes = s->o->devices > OPERATORS_SINGLE_MAX,
                                         .stop = is_late,
                                         .user = s};
    struct strategy_start *start = &s->starts[s->start_count++];
    snprintf(start->name, sizeof start->name, "%s", name);
    start->outcome = metropolis_search(&request, &s->random, choices);
    memcpy(s->bests[s->start_count - 1], choices, s->o->graph->count * sizeof *choices);
    s->stopped |= start->outcome.stopped;
    if (start->outcome.first == INFINITY) { /* it has too many messages */
        s->start_count--;
        return;
    }
    if (s->start_count > 1 && start->outcome.best >= s->best)
        return;
    s->best = start->outcome.best;
    memcpy(s->choices[STRATEGY_BEST], choices, s->o->graph->count * sizeof *choices);
}

static void search_all(struct search *s)
{
    size_t size = s->o->graph->count * sizeof(uint32_t);
    uint32_t *choices = array_zeroed(s->o->graph->count, sizeof *choices);
    for (int i = 0; i < STRATEGY_BEST; i++) {
        memcpy(choices, s->choices[i], size);
        if (!s->stopped)
            search_from(s, strategy_names[i], choices);
    }
    for (uint32_t i = 0; i < s->request->seed_count && !s->stopped; i++) {
        start_divided(s->o, s->request->seeds[i].degrees, choices);
        search_from(s, s->request->seeds[i].name, choices);
    }
    for (uint32_t i = 0; i < s->request->restarts && !s->stopped; i++) {
        char name[24];
        snprintf(name, sizeof name, "random %u", i + 1);
        start_random(s->o, &s->random, choices);
        search_from(s, name, choices);
    }
    free(choices);
}

static void write_row(const struct search *s, const uint32_t *choices, FILE *results)
{
    struct strategy_row row = evaluate(s, choices);
    fwrite(&row, sizeof row, 1, results);
    for (uint32_t layer = 0; layer < s->o->graph->count; layer++)
        fwrite(&s->o->spaces[layer].configurations[choices[layer]], sizeof(struct configuration), 1, results);
}

static void write_results(const struct search *s, double seconds, FILE *results)
{
    struct strategy_table table = {.start_count = s->start_count,
                                   .layers = s->o->graph->count,
                                   .temperature = s->temperature,
                                   .processor_seconds = seconds,
                                   .stopped = s->stopped};
    for (uint32_t i = 0; i < table.layers; i++)
        table.configurations += operator_unit(s->o, i) == i ? s->o->spaces[i].count : 0;
    fwrite(&table, sizeof table, 1, results);
    fwrite(s->starts, sizeof *s->starts, s->start_count, results);
    for (int i = 0; i < STRATEGY_ROWS; i++)
        write_row(s, s->choices[i], results);
    for (uint32_t i = 0; i < s->start_count; i++)
        write_row(s, s->bests[i], results);
}

static void search_network(const struct strategy_request *request, const struct operator_network *network,
                           FILE *results)
{
    double began = now(CLOCK_PROCESS_CPUTIME_ID);
    struct search s = {.request = request,
                       .o = operator_network_problem(network),
                       .deadline = request->time_limit > 0 ? now(CLOCK_MONOTONIC) + request->time_limit : 0,
                       .random = {request->seed},
                       .starts = array_zeroed(starts_of(request), sizeof *s.starts),
                       .bests = array_zeroed(starts_of(request), sizeof *s.bests)};
    for (uint32_t i = 0; i < starts_of(request); i++)
        s.bests[i] = array_zeroed(s.o->graph->count, sizeof **s.bests);
    for (int i = 0; i < STRATEGY_ROWS; i++)
        s.choices[i] = array_zeroed(s.o->graph->count, sizeof *s.choices[i]);
    start_data(s.o, s.choices[STRATEGY_DATA]);
    start_expert(s.o, operator_network_node(network), s.choices[STRATEGY_EXPERT]);
    double data = evaluate(&s, s.choices[STRATEGY_DATA]).result.seconds;
    s.temperature = request->temperature > 0 ? request->temperature : data / 100;
    search_all(&s);
    write_results(&s, now(CLOCK_PROCESS_CPUTIME_ID) - began, results);
    for (int i = 0; i < STRATEGY_ROWS; i++)
        free(s.choices[i]);
    for (uint32_t i = 0; i < starts_of(request); i++)
        free(s.bests[i]);
    free(s.bests);
    free(s.starts);
}

/* The scenario's own job says what is wrong with it. */
int strategy_search_body(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct strategy_request *request = user;
    interruption_renew(); /* SimGrid has put a handler of its own there */
    struct arena *arena = arena_create();
    bool ok = job_create_steady(request->scenario, platform, arena, diag) != NULL;
    arena_destroy(arena);
    struct operator_network *network =
        ok ? operator_network_create(request->scenario, platform, !request->apart, diag) : NULL;
    if (network)
        search_network(request, network, results);
    operator_network_destroy(network);
    return network ? EXIT_DONE : EXIT_BAD_INPUT;
}
