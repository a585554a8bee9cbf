/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/process/interruption.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "commands/layouts/layouts_output.h"

#include <stdlib.h>

enum { TOP_DEFAULT = 10, SHOWN = 20 }; /* rows shown with --top 0 */

static int find_and_print(const struct options *options, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL, options->plugins};
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    if (!scenario)
        return EXIT_BAD_INPUT;
    struct layout_table table;
    unsigned top = options->top == OPTIONS_NOT_GIVEN ? TOP_DEFAULT : options->top;
    interruption_await();
    int code = layouts_find(scenario, options->method, top, &table);
    if (code == EXIT_DONE && table.count)
        layouts_print(stdout, &table, options->method, top ? top : SHOWN, options->format);
    fflush(stdout);
    if (table.stopped)
        fprintf(stderr, "stopped early: %zu layouts were evaluated, %zu of them simulated\n", table.count,
                table.simulated);
    free(table.rows);
    return code;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    int code = EXIT_USAGE;
    if (options_read(command, "flk", argc, argv, arena, &options))
        code = options.file_count == 1 ? find_and_print(&options, arena)
                                       : command_usage(command, "expected one scenario, got %d", options.file_count);
    arena_destroy(arena);
    interruption_end();
    interruption_forget();
    return code;
}

const struct command command_layouts = {
    .name = "layouts",
    .arguments = "SCENARIO [--method axonn|analytic] [--top K] [OPTION]...",
    .summary = "rank all ways to lay a transformer out along x, y, z and data",
    .help = "Takes the ranks that the scenario has along x, y, z, tensor and data, and tries every way to share them "
            "out to AxoNN's four\n"
            "dimensions (tensor_parallel: {algorithm: axonn-3d}), with the same samples and micro-batches. Prints for "
            "each what\n"
            "AxoNN's communication model, the analytic engine and, for the first K that fit in memory, SimGrid say.\n\n"
            "  --method axonn|analytic          what they are ordered by (axonn)\n"
            "  --top K                          how many SimGrid simulates, and a table shows; 0: none, 20 shown (10)\n"
            "  --format table|csv|json|latex|markdown   what is printed; csv and json have all layouts\n"
            "  --set KEY=VALUE                  any scenario value by its dotted path; repeatable\n"
            "\nexample:\n  stagesim layouts scenarios/axonn.yaml --top 5\n",
    .run = run,
};
