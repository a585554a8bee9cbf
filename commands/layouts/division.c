/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of layers divided by AccPar's types: its own choice, HyPar's, OWT's and data parallelism. */
#include "commands/cli/result.h"
#include "commands/layouts/division_output.h"
#include "commands/layouts/method.h"

#include <string.h>

struct writing {
    const struct division_study *study;
    unsigned method;
};

static bool write_strategy(FILE *out, void *user, struct fault *fault)
{
    const struct writing *writing = user;
    (void)fault;
    division_write(out, writing->study, writing->method);
    return true;
}

static int find_and_print(const struct options *options, const struct scenario *scenario, struct arena *arena,
                          enum partition_method method)
{
    struct division_study study;
    int code = division_find(scenario, method, arena, &study);
    if (code != EXIT_DONE)
        return code;
    division_print(stdout, &study, method, options->format);
    fflush(stdout);
    if (!table_is_read(options->format))
        division_print_slower(stderr, "note: ", &study, method);
    if (study.stopped)
        fputs("stopped early: SimGrid has not simulated all divisions\n", stderr);
    struct writing writing = {&study, method};
    return options->output ? result_write("layouts", options->output, write_strategy, &writing) : EXIT_DONE;
}

static int run_data(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    return find_and_print(options, scenario, arena, PARTITION_DATA);
}

static int run_owt(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    return find_and_print(options, scenario, arena, PARTITION_OWT);
}

static int run_hypar(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    return find_and_print(options, scenario, arena, PARTITION_HYPAR);
}

static int run_accpar(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    return find_and_print(options, scenario, arena, PARTITION_ACCPAR);
}

const struct layout_method layout_method_data = {.name = "data", .workload = "layers", .takes = "fw", .run = run_data};
const struct layout_method layout_method_owt = {.name = "owt", .workload = "layers", .takes = "fw", .run = run_owt};
const struct layout_method layout_method_hypar = {
    .name = "hypar", .workload = "layers", .takes = "fw", .run = run_hypar};
const struct layout_method layout_method_accpar = {
    .name = "accpar", .workload = "layers", .takes = "fw", .run = run_accpar};
