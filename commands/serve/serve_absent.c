/* SPDX-License-Identifier: Apache-2.0 */
/* Where the system has no processes: WebAssembly, whose caller keeps it warm. */
#include "base/diagnostics.h"
#include "commands/cli/command.h"
#include "commands/serve/serve.h"

void serve_offer(const struct command *const *commands)
{
    (void)commands;
}

static int run(const struct command *command, int argc, char **argv)
{
    (void)argc, (void)argv;
    diag_print(stderr, "stagesim %s: this stagesim was built for a system without processes\n", command->name);
    return EXIT_FAILED;
}

const struct command command_serve = {
    .name = "serve",
    .arguments = SERVE_ARGUMENTS,
    .summary = SERVE_SUMMARY,
    .help = SERVE_HELP,
    .run = run,
};
