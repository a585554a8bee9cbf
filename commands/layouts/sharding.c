/* SPDX-License-Identifier: Apache-2.0 */
/* Embedding tables of the workload dlrm on the ranks: whole tables by rules of thumb, HugeCTR's planner, local search.
 */
#include "commands/cli/result.h"
#include "commands/layouts/method.h"
#include "commands/layouts/sharding_output.h"

enum { TOP_DEFAULT = 10, SHOWN = 20 }; /* rows shown with --top 0 */

/* The fastest plan that can be written as rules, of those that fit: by SimGrid among those that it simulated. NULL:
 * there is none. */
static const struct sharding_row *choose(const struct sharding_rows *rows)
{
    const struct sharding_row *best = NULL;
    size_t looked = rows->simulated ? rows->simulated : rows->fitting;
    for (size_t i = 0; i < looked; i++) {
        const struct sharding_row *row = &rows->rows[i];
        double own = rows->simulated ? row->simgrid : row->analytic;
        if (*row->csv && (!best || own < (rows->simulated ? best->simgrid : best->analytic)))
            best = row;
    }
    return best;
}

static bool write_plan(FILE *out, void *user, struct fault *fault)
{
    (void)fault;
    fputs(((const struct sharding_row *)user)->csv, out);
    return true;
}

static int write_best(const char *path, const struct sharding_rows *rows)
{
    const struct sharding_row *best = choose(rows);
    if (!best) {
        fputs("no sharding fits in memory; nothing is written\n", stderr);
        return EXIT_FAILED;
    }
    int code = result_write("layouts", path, write_plan, (void *)(uintptr_t)best);
    if (code == EXIT_DONE)
        fprintf(stderr, "%s has the sharding %s; dlrm: {sharding: %s} reads it\n", path, best->name, path);
    return code;
}

static int find_and_print(const struct options *options, const struct scenario *scenario, const char *name,
                          enum shardings_method method, struct arena *arena)
{
    struct sharding_rows rows;
    unsigned top = options->top == OPTIONS_NOT_GIVEN ? TOP_DEFAULT : options->top;
    int code = shardings_find(scenario, method, top, &rows, arena);
    if (code == EXIT_DONE && rows.count)
        shardings_print(stdout, &rows, name, top ? top : SHOWN, options->format);
    fflush(stdout);
    if (rows.stopped)
        fprintf(stderr, "stopped early: %zu shardings were evaluated, %zu of them simulated\n", rows.count,
                rows.simulated);
    if (code == EXIT_DONE && options->output && !rows.stopped)
        code = write_best(options->output, &rows);
    return code;
}

static int run_greedy(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    return find_and_print(options, scenario, "greedy", SHARDINGS_GREEDY, arena);
}

static int run_balanced(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    return find_and_print(options, scenario, "balanced", SHARDINGS_BALANCED, arena);
}

static int run_search(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    return find_and_print(options, scenario, "search", SHARDINGS_SEARCH, arena);
}

const struct layout_method layout_method_search = {
    .name = "search", .workload = "dlrm", .takes = "fkw", .run = run_search};
const struct layout_method layout_method_greedy = {
    .name = "greedy", .workload = "dlrm", .takes = "fkw", .run = run_greedy};
const struct layout_method layout_method_balanced = {
    .name = "balanced", .workload = "dlrm", .takes = "fkw", .run = run_balanced};
