/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of layers: a strategy for every operator by Markov chain Monte Carlo, as FlexFlow searches. */
#include "commands/layouts/mcmc.h"

#include "base/arena.h"
#include "base/files/output.h"
#include "base/process/interruption.h"
#include "commands/layouts/method.h"
#include "studies/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BUDGET_DEFAULT = 20000, RESTARTS_DEFAULT = 1 };

/* Runs a strategy on both engines. */
static int confirm(const struct scenario *scenario, const struct strategy_table *table, int row,
                   struct strategy_run *run)
{
    struct arena *arena = arena_create();
    const char *rows = strategy_text(scenario, &table->rows[row], table->layers, "", ", ", arena);
    const struct scenario_set sets[] = {{.text = arena_print(arena, "split={layers: [%s]}", rows)},
                                        {.text = "engine=both"}};
    struct simulation_result result;
    int code = simulate_changed(scenario, sets, 2, &result);
    if (code == EXIT_DONE && result.row_count == 2) {
        const struct comparison_row *last = &result.rows[1];
        *run = (struct strategy_run){result.rows[0].iteration, last->iteration, last->peak_bytes,
                                     !last->capacity_known || last->fits};
    }
    arena_destroy(arena);
    return code;
}

/* What was found, for the key `split`. */
static int write_found(const struct options *options, const struct scenario *scenario,
                       const struct strategy_table *table, struct arena *arena)
{
    struct fault fault = {""};
    FILE *out = NULL;
    struct output *output = output_create_file(options->output, &out, &fault);
    if (output) {
        fprintf(out,
                "# The best strategy that `stagesim layouts --method mcmc` found for %s, for its key split.\nlayers:\n",
                scenario->name);
        fprintf(out, "%s\n", strategy_text(scenario, &table->rows[STRATEGY_BEST], table->layers, "- ", "\n", arena));
        if (output_commit(output, &fault))
            return EXIT_DONE;
    }
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return EXIT_FAILED;
}

static int report(const struct options *options, const struct strategy_request *request,
                  const struct strategy_table *table, struct arena *arena)
{
    struct strategy_report report = {.request = request, .table = table};
    int code = EXIT_DONE;
    for (int i = 0; i < STRATEGY_ROWS; i++) {
        report.runs[i] = (struct strategy_run){.analytic = NAN, .simgrid = NAN};
        if (code == EXIT_DONE && !interruption_noted())
            code = confirm(request->scenario, table, i, &report.runs[i]);
    }
    if (code == EXIT_DONE || interruption_noted()) {
        strategy_print(stdout, &report, options->format);
        code = options->output ? write_found(options, request->scenario, table, arena) : EXIT_DONE;
    }
    fflush(stdout);
    if (table->stopped || interruption_noted())
        fputs("stopped early: the best strategy so far is shown\n", stderr);
    return code;
}

static int run(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    struct strategy_request request = {.scenario = scenario,
                                       .budget = options->budget ? options->budget : BUDGET_DEFAULT,
                                       .seed = options->seed,
                                       .restarts = options->restarts == OPTIONS_NOT_GIVEN ? RESTARTS_DEFAULT
                                                                                          : options->restarts,
                                       .temperature = options->temperature,
                                       .time_limit = options->time_limit,
                                       .apart = options->apart};
    struct strategy_table table;
    int code = strategy_search(&request, &table, arena);
    return code == EXIT_DONE ? report(options, &request, &table, arena) : code;
}

const struct layout_method layout_method_mcmc = {.name = "mcmc", .workload = "layers", .takes = "fwdm", .run = run};
