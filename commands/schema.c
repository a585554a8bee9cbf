/* SPDX-License-Identifier: Apache-2.0 */
#include "job/schema/schema.h"
#include "commands/cli/command.h"
#include "commands/cli/option_next.h"
#include "commands/cli/result.h"

#include <stdio.h>
#include <string.h>

static const char scenario_word[] = "scenario";

static bool write_schema(FILE *out, void *user, struct fault *fault)
{
    (void)user, (void)fault;
    schema_write_scenario(out);
    return true;
}

static int run(const struct command *command, int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'}, {0}};
    const char *output = NULL;
    int code = EXIT_DONE;
    while (option_next(command, argc, argv, "o:", options, &code) != -1)
        output = optarg;
    if (code != EXIT_DONE)
        return code;
    if (optind + 1 != argc)
        return command_usage(command, "expected one word, %s, got %d", scenario_word, argc - optind);
    if (strcmp(argv[optind], scenario_word) != 0)
        return command_usage(command, "there is no schema of '%.60s'; expected %s", argv[optind], scenario_word);
    return result_write(command->name, output, write_schema, NULL);
}

const struct command command_schema = {
    .name = "schema",
    .arguments = "scenario [OPTION]...",
    .summary = "prints the JSON Schema of scenarios, for editors",
    .help = "Prints what a scenario may hold, as JSON Schema (draft 7), from the tables by which\n"
            "stagesim itself reads scenarios: keys with their meaning, words, units, and bounds. Editors complete and\n"
            "check scenarios with it, see doc/schema.md.\n\n"
            "  -o, --output FILE   write it there; default: standard output\n\n"
            "example:\n  stagesim schema scenario -o scenario.schema.json\n",
    .run = run,
};
