/* SPDX-License-Identifier: Apache-2.0 */
/* The sub-commands. Results go to standard output, everything else to standard error. */
#ifndef STAGESIM_COMMAND_H
#define STAGESIM_COMMAND_H

#include "base/exit_code.h"

struct command {
    const char *name;
    const char *arguments; /* for the usage line */
    const char *summary;   /* one line */
    const char *help;      /* options, one a line, and an example; printed by --help after the usage line */
    /* argv[0] is the command's name; returns an exit code. --help is handled before the call. */
    int (*run)(const struct command *command, int argc, char **argv);
};

/* All commands, in the order of --help; NULL name ends. */
extern const struct command *const command_table[];

extern const struct command command_run, command_compare, command_check, command_schedule, command_list,
    command_platform, command_collective, command_kernel, command_report, command_layouts, command_search,
    command_sweep, command_train, command_plan, command_calibrate, command_import, command_export, command_explain,
    command_schema, command_serve, command_month;

/* Prints "stagesim NAME: text", the usage line and where to find help to standard error; returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int command_usage(const struct command *command, const char *format, ...);

#endif
