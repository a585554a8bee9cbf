/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a command: how many ranks a scenario has. */
#include "base/arena.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "job/scenario/scenario.h"

static int print_ranks(const struct options *options, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct scenario_request request = {options->files[0], options->sets, options->set_count, NULL, options->plugins};
    const struct scenario *scenario = scenario_load(&request, arena, &diag);
    if (!scenario)
        return EXIT_BAD_INPUT; /* with place and reason on standard error */
    printf("%s: %u ranks, %u replicas of %u pipeline workers\n", scenario->name, scenario->mesh.ranks, scenario->data,
           scenario->workers);
    return EXIT_DONE;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    int code = EXIT_USAGE;
    if (options_read(command, "", argc, argv, arena, &options)) /* which options beside --set: see options.h */
        code = options.file_count == 1 ? print_ranks(&options, arena)
                                       : command_usage(command, "expected one scenario, got %d", options.file_count);
    arena_destroy(arena);
    return code;
}

extern const struct command command_ranks; /* belongs into command.h */
const struct command command_ranks = {
    .name = "ranks",
    .arguments = "SCENARIO [OPTION]...",
    .summary = "how many ranks a scenario has",
    .help =
        "Prints one line, and simulates nothing.\n\n" OPTIONS_HELP "\nexample:\n  stagesim ranks scenarios/demo.yaml\n",
    .run = run,
};
