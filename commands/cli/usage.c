/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diagnostics.h"
#include "base/text/wrap.h"
#include "commands/cli/command.h"

#include <stdarg.h>
#include <stdio.h>

enum { USAGE_SIZE = 4096 }; /* longer texts are cut */

int command_usage(const struct command *command, const char *format, ...)
{
    char text[USAGE_SIZE], head[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    diag_clean(text, sizeof text);
    snprintf(head, sizeof head, "stagesim %s: ", command->name);
    wrap_write(stderr, head, text);
    diag_print(stderr, "usage: stagesim %s %s\n`stagesim %s --help` explains.\n", command->name, command->arguments,
               command->name);
    va_end(arguments);
    return EXIT_USAGE;
}
