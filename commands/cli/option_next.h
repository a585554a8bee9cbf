/* SPDX-License-Identifier: Apache-2.0 */
/* Options of commands that have their own: getopt_long with words of ours where one is not known. */
#ifndef STAGESIM_OPTION_NEXT_H
#define STAGESIM_OPTION_NEXT_H

#include "commands/cli/command.h"

#include <getopt.h>

struct arena;

/* The next option as of getopt_long (`letters` without a ':' in front); -1 at the end. After an option that is unknown
 * or lacks its value, which is reported with the nearest one that there is: -1, and *code is EXIT_USAGE. */
int option_next(const struct command *command, int argc, char *const *argv, const char *letters,
                const struct option *options, int *code);

/* "; did you mean '--shard'?" with the name nearest to an option that is none of these (as getopt_long has them), or
 * "". Memory from the arena. */
const char *option_near(const char *typed, const struct option *options, struct arena *arena);

#endif
