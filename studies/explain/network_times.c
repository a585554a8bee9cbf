/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/network_times.h"

#include "analysis/output/operations_csv.h"
#include "base/arena.h"
#include "base/exit_code.h"
#include "job/job.h"
#include "simulator/collectives/assignment.h"
#include "simulator/run/folded_run.h"
#include "studies/simulation.h"

#include <math.h>
#include <string.h>

/* Sizes that differ by less are one: those of traces are rounded. */
static const double near = 1e-5;

/* ---- a run with other sizes, in a process of its own ---- */

struct asking {
    const struct scenario *scenario;
    double ratio;
};

/* The job's program with all messages and buffers `ratio` times as large. */
static const struct program *scaled(const struct asking *asking, const struct job *job, struct arena *arena)
{
    struct program *program = arena_alloc(arena, sizeof *program);
    *program = *job->program;
    program->costs = arena_array(arena, program->cost_count + 1, sizeof *program->costs);
    memcpy(program->costs, job->program->costs, program->cost_count * sizeof *program->costs);
    for (uint32_t i = 0; i < program->cost_count; i++)
        program->costs[i].bytes *= asking->ratio;
    assignment_create(program, arena);
    assignment_place(program->assignment, job->platform, job->hosts, &asking->scenario->collectives);
    return program;
}

static int run_scaled(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct asking *asking = user;
    struct arena *arena = arena_create();
    struct fault fault = {.text = ""};
    int code = EXIT_BAD_INPUT;
    struct job *job = job_create_steady(asking->scenario, platform, arena, diag);
    if (job) {
        struct engine_job engine_job = {
            .program = scaled(asking, job, arena), .platform = platform, .hosts = job->hosts};
        struct folded_run run;
        bool good = folded_run(&engine_analytic, &engine_job, asking->scenario->fold == FOLD_AUTO, arena, &run, &fault);
        if (good) {
            struct trace_source source = {run.timeline, platform, job->hosts, false, NULL};
            operations_csv_write(results, &source);
            timeline_destroy(run.timeline);
        } else {
            diag_error(diag, scenario_place(asking->scenario, ""), "%s", fault.text);
        }
        code = good ? EXIT_DONE : EXIT_BAD_INPUT;
    }
    arena_destroy(arena);
    return code;
}

/* Fills a table with what that run takes; an exit code. */
static int ask(const struct scenario *scenario, double ratio, struct expected_table *table)
{
    struct asking asking = {scenario, ratio};
    struct diag diag = {.out = stderr};
    struct fault fault = {.text = ""};
    FILE *results;
    int code = simulation_visit(&(struct simulation_visit){scenario, run_scaled, &asking}, &results);
    if (code != EXIT_DONE || !results)
        return code == EXIT_DONE ? EXIT_FAILED : code;
    struct recorded *run = recorded_read_stream("operations of the simulation", results, &diag);
    fclose(results);
    if (!run)
        return EXIT_FAILED;
    if (!expected_fill(table, run, &fault)) {
        diag_print(stderr, "stagesim: %s\n", fault.text);
        code = EXIT_FAILED;
    }
    recorded_destroy(run);
    return code;
}

/* ---- the trace's sizes ---- */

/* Index of that ratio; size_count: there is none. */
static size_t find_ratio(const struct network_times *network, double ratio)
{
    size_t i = 0;
    while (i < network->size_count && fabs(network->sizes[i].ratio - ratio) > near * ratio)
        i++;
    return i;
}

int network_times_find(struct network_times *network, const struct scenario *scenario,
                       const struct expected_table *model, const struct recorded *trace)
{
    *network = (struct network_times){.sizes = {{.ratio = 1}}, .size_count = 1};
    for (size_t i = 0; i < trace->count; i++) {
        const struct recorded_operation *operation = &trace->operations[i];
        if (!recorded_communicates(operation))
            continue;
        double ratio = expected_ratio(model, trace, operation);
        if (find_ratio(network, ratio) < network->size_count)
            continue;
        if (network->size_count == NETWORK_TIMES_MAX)
            network->left_out++;
        else
            network->sizes[network->size_count++].ratio = ratio;
    }
    int code = EXIT_DONE;
    for (size_t i = 0; i < network->size_count && code == EXIT_DONE; i++)
        code = ask(scenario, network->sizes[i].ratio, &network->sizes[i].table);
    return code;
}

void network_times_finish(struct network_times *network)
{
    for (size_t i = 0; i < network->size_count; i++)
        expected_finish(&network->sizes[i].table);
    network->size_count = 0;
}

double network_times_seconds(const struct network_times *network, const struct expected_table *model,
                             const struct recorded *trace, const struct recorded_operation *operation, bool own_size)
{
    size_t size = own_size ? find_ratio(network, expected_ratio(model, trace, operation)) : 0;
    if (!network->size_count || !recorded_communicates(operation))
        return NAN;
    return expected_seconds(&network->sizes[size < network->size_count ? size : 0].table, trace, operation);
}

int network_times_alone(const struct scenario *scenario, const struct recorded *trace, double *seconds)
{
    struct expected_table table = {NULL};
    int code = ask(scenario, 1, &table);
    for (size_t i = 0; i < trace->count; i++) {
        const struct recorded_operation *operation = &trace->operations[i];
        bool known = code == EXIT_DONE && recorded_communicates(operation) &&
                     fabs(expected_ratio(&table, trace, operation) - 1) <= near;
        seconds[i] = known ? expected_seconds(&table, trace, operation) : NAN;
    }
    expected_finish(&table);
    return code;
}
