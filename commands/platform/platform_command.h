/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `stagesim platform` share. */
#ifndef STAGESIM_PLATFORM_COMMAND_H
#define STAGESIM_PLATFORM_COMMAND_H

#include "commands/cli/command.h"
#include "platforms/presets/presets.h"

/* argv[0] is "generate", "import", "show", "fit"; an exit code. */
int platform_generate_run(const struct command *command, int argc, char **argv);
int platform_import_run(const struct command *command, int argc, char **argv);
int platform_fit_run(const struct command *command, int argc, char **argv);
int platform_show_run(const struct command *command, int argc, char **argv);

/* A plain count from 1 up to `most`; false when the text is no such number. */
bool platform_read_count(const char *text, uint32_t most, uint32_t *count);
/* A plain ratio. */
bool platform_read_ratio(const char *text, double *ratio);
/* The preset of that name or file. 0, or an exit code after what is wrong was said on standard error. */
int platform_read_preset(const struct command *command, const char *name, const struct preset **preset);

/* Calls write(out, user, fault) for standard output or, when `path` is not NULL, for a file that appears whole or not
 * at all. Says what went wrong on standard error; an exit code. `write` returns false, with the fault filled, for bad
 * input. */
int platform_write_result(const char *path, bool (*write)(FILE *out, void *user, struct fault *fault), void *user);

#endif
