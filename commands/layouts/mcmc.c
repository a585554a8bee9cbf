/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of layers: a strategy for every operator by Markov chain Monte Carlo, as FlexFlow searches. */
#include "commands/layouts/mcmc.h"

#include "base/arena.h"
#include "base/files/output.h"
#include "base/process/interruption.h"
#include "commands/layouts/method.h"
#include "studies/division/division_rows.h"
#include "studies/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BUDGET_DEFAULT = 20000, RESTARTS_DEFAULT = 1 };

/* What other methods find, where they can divide the network. */
struct others {
    struct division_study study;
    bool known;
    struct strategy_seed seeds[DIVISION_METHODS];
    uint32_t count;
};

/* A strategy that the engines may run, as the rows of `split`. */
struct candidate {
    const char *name;
    const struct strategy_row *row;
    const struct division *division; /* of another method; NULL: of the search */
};

static const uint32_t (*degrees_of(const struct division_study *study, const struct partition *partition,
                                   struct arena *arena))[2]
{
    uint32_t(*degrees)[2] = arena_array(arena, study->layer_count, sizeof *degrees);
    for (uint32_t layer = 0; layer < study->layer_count; layer++) {
        degrees[layer][0] = degrees[layer][1] = 1;
        for (uint32_t level = 0; level < study->levels; level++)
            degrees[layer][partition->level[level].types[layer] != PARTITION_SAMPLES] *= study->ways[level];
    }
    return (const uint32_t(*)[2])degrees;
}

static void find_others(const struct scenario *scenario, struct others *others, struct arena *arena)
{
    *others = (struct others){0};
    others->known = division_look(scenario, arena, &others->study);
    if (!others->known && !interruption_noted())
        fputs("note: owt, hypar and accpar cannot divide this network so, and are neither started from nor compared "
              "with\n",
              stderr);
    for (int i = PARTITION_DATA + 1; others->known && i < DIVISION_METHODS; i++)
        if (others->study.methods[i].found)
            others->seeds[others->count++] = (struct strategy_seed){
                division_names[i], degrees_of(&others->study, &others->study.methods[i].partition, arena)};
}

static const char *rows_of(const struct scenario *scenario, const struct others *others,
                           const struct strategy_table *table, const struct candidate *candidate, bool lines,
                           struct arena *arena)
{
    if (!candidate->division)
        return strategy_text(scenario, candidate->row, table->layers, lines ? "- " : "", lines ? "\n" : ", ", arena);
    const char *list = division_list(&others->study, &candidate->division->partition, arena);
    char *inner = arena_copy(arena, list + 1);
    inner[strlen(inner) - 1] = '\0';
    const char *text = lines ? "- " : "";
    for (char *row = inner, *end; row; row = end) {
        end = strstr(row, "}, {");
        if (end)
            end[1] = '\0';
        text = arena_print(arena, "%s%s%s", text, row, !end ? "" : lines ? "\n- " : ", ");
        end = end ? end + 3 : NULL;
    }
    return text;
}

/* Runs a strategy on both engines, or on the analytic one alone, which has run those of other methods already. */
static int confirm(const struct scenario *scenario, const struct division *division, const char *rows,
                   struct strategy_run *run)
{
    bool both = strategy_runs_simgrid(scenario);
    if (division && !both) {
        run->analytic = division->analytic;
        run->memory = division->memory;
        run->fits = division->fits;
        return EXIT_DONE;
    }
    struct arena *arena = arena_create();
    const struct scenario_set sets[] = {{.text = arena_print(arena, "split={layers: [%s]}", rows)},
                                        {.text = both ? "engine=both" : "engine=analytic"}};
    struct simulation_result result;
    int code = simulate_changed(scenario, sets, 2, &result);
    if (code == EXIT_DONE && result.row_count == (both ? 2 : 1)) {
        const struct comparison_row *last = &result.rows[both];
        run->analytic = result.rows[0].iteration;
        run->simgrid = both ? last->iteration : NAN;
        run->memory = last->peak_bytes;
        run->fits = !last->capacity_known || last->fits;
    }
    arena_destroy(arena);
    return code;
}

/* What was found, for the key `split`. */
static int write_found(const struct options *options, const struct scenario *scenario, const char *from,
                       const char *lines)
{
    struct fault fault = {""};
    FILE *out = NULL;
    struct output *output = output_create_file(options->output, &out, &fault);
    if (output) {
        fprintf(out,
                "# The best strategy that `stagesim layouts --method mcmc` found for %s, for its key split: from %s.\n"
                "layers:\n%s\n",
                scenario->name, from, lines);
        if (output_commit(output, &fault))
            return EXIT_DONE;
    }
    diag_print(stderr, "stagesim: %s\n", fault.text);
    return EXIT_FAILED;
}

/* Those that are shown by themselves come first. */
static int list_candidates(const struct others *others, const struct strategy_table *table,
                           struct candidate candidates[STRATEGY_RUNS_MAX], int *shown)
{
    int count = 0;
    for (int i = 0; i < STRATEGY_BEST; i++)
        candidates[count++] = (struct candidate){strategy_names[i], &table->rows[i], NULL};
    for (int i = PARTITION_DATA + 1; others->known && i < DIVISION_METHODS; i++)
        if (others->study.methods[i].found)
            candidates[count++] = (struct candidate){division_names[i], NULL, &others->study.methods[i]};
    *shown = count;
    for (uint32_t i = 0; i < table->start_count && count < STRATEGY_RUNS_MAX; i++)
        candidates[count++] = (struct candidate){table->starts[i].name, &table->bests[i], NULL};
    return count;
}

static bool is_better(const struct strategy_run *run, const struct strategy_run *than)
{
    double seconds = strategy_seconds(run), other = strategy_seconds(than);
    if (isnan(seconds) || isnan(other))
        return !isnan(seconds);
    return run->fits != than->fits ? run->fits : seconds < other;
}

static int report(const struct options *options, const struct strategy_request *request, const struct others *others,
                  const struct strategy_table *table, struct arena *arena)
{
    struct candidate candidates[STRATEGY_RUNS_MAX];
    struct strategy_report report = {.request = request, .table = table};
    int shown, count = list_candidates(others, table, candidates, &shown), code = EXIT_DONE, found = 0;
    struct strategy_run best = {.simgrid = NAN, .analytic = NAN};
    for (int i = 0; i < count; i++) {
        struct strategy_run run = {
            .name = candidates[i].name, .row = candidates[i].row, .analytic = NAN, .simgrid = NAN};
        const char *rows = rows_of(request->scenario, others, table, &candidates[i], false, arena);
        bool timed = !run.row || run.row->result.seconds < INFINITY;
        run.row = timed ? run.row : NULL;
        if (code == EXIT_DONE && !interruption_noted() && timed)
            code = confirm(request->scenario, candidates[i].division, rows, &run);
        report.tried += !isnan(strategy_seconds(&run));
        if (i < shown)
            report.runs[report.count++] = run;
        if (i == 0 || is_better(&run, &best)) {
            best = run;
            found = i;
        }
    }
    best.from = found < shown ? best.name : arena_print(arena, "the start '%s'", best.name);
    best.name = strategy_names[STRATEGY_BEST];
    report.runs[report.count++] = best;
    if (code == EXIT_DONE || interruption_noted()) {
        strategy_print(stdout, &report, options->format);
        code = options->output ? write_found(options, request->scenario, best.from,
                                             rows_of(request->scenario, others, table, &candidates[found], true, arena))
                               : EXIT_DONE;
    }
    fflush(stdout);
    if (table->stopped || interruption_noted())
        fputs("stopped early: the best strategy so far is shown\n", stderr);
    return code;
}

static int run(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    struct others others;
    find_others(scenario, &others, arena);
    struct strategy_request request = {.scenario = scenario,
                                       .seeds = others.seeds,
                                       .seed_count = others.count,
                                       .budget = options->budget ? options->budget : BUDGET_DEFAULT,
                                       .seed = options->seed,
                                       .restarts = options->restarts == OPTIONS_NOT_GIVEN ? RESTARTS_DEFAULT
                                                                                          : options->restarts,
                                       .temperature = options->temperature,
                                       .time_limit = options->time_limit,
                                       .apart = options->apart};
    struct strategy_table table;
    int code = strategy_search(&request, &table, arena);
    return code == EXIT_DONE ? report(options, &request, &others, &table, arena) : code;
}

const struct layout_method layout_method_mcmc = {.name = "mcmc", .workload = "layers", .takes = "fwdm", .run = run};
