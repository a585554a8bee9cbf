/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diagnostics.h"
#include "commands/cli/command.h"

#include <stdarg.h>
#include <stdio.h>

enum { USAGE_SIZE = 4096 }; /* longer texts are cut */

int command_usage(const struct command *command, const char *format, ...)
{
    char text[USAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    diag_print(stderr, "stagesim %s: %s", command->name, text);
    diag_print(stderr, "\nusage: stagesim %s %s\n`stagesim %s --help` explains.\n", command->name, command->arguments,
               command->name);
    va_end(arguments);
    return EXIT_USAGE;
}
