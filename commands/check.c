/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "commands/cli/command.h"
#include "commands/cli/options.h"
#include "studies/simulation.h"

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct options options;
    int code = EXIT_USAGE;
    if (options_read(command, "to", argc, argv, arena, &options)) {
        if (options.file_count != 1) {
            code = command_usage(command, "expected one scenario, got %d", options.file_count);
        } else {
            struct diag diag = {.out = stderr};
            struct scenario_request request = {options.files[0], options.sets, options.set_count, NULL,
                                               options.plugins,  true};
            struct scenario *scenario = scenario_load(&request, arena, &diag);
            code = scenario ? simulation_check(scenario) : EXIT_BAD_INPUT;
            if (code == EXIT_DONE && !options.quiet)
                scenario_tell(scenario, &diag);
        }
    }
    arena_destroy(arena);
    return code;
}

const struct command command_check = {
    .name = "check",
    .arguments = "SCENARIO [OPTION]...",
    .summary = "validates a scenario without simulating it, and says what would run",
    .help = "Reports every mistake of the scenario, of its platform and of its schedule with its place, and whether "
            "the program could\n"
            "finish. Prints how many ranks and operations would run, and the memory that they need.\n\n" OPTIONS_HELP
            "\nexample:\n  stagesim check scenarios/demo.yaml --set parallel.data=4\n",
    .run = run,
};
