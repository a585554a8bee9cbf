/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command that a shell script runs, without running anything: assignments, arrays, defaults of variables,
 * whole-number arithmetic and conditions on what is known are followed; what only a shell could know stays open. */
#ifndef STAGESIM_READERS_SHELL_H
#define STAGESIM_READERS_SHELL_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct shell_word {
    const char *text; /* what is not known stands as $NAME */
    struct place at;
    const char *open; /* the name of the first thing in it that is not known; NULL: all of it is */
};

struct shell_note {
    struct place at;
    const char *text;
};

/* A variable's value from outside, against which the script's assignments do not count. */
struct shell_define {
    const char *name, *value;
};

struct shell_command {
    struct shell_word *words; /* of the command with the most options that begin with -- */
    size_t count;
    struct shell_note *notes; /* what was left out, because a condition is not known */
    size_t note_count;
    struct shell_word nodes, tasks; /* of #SBATCH lines: --nodes, and tasks or GPUs of a node; text NULL: none */
};

/* Reads a script of `size` bytes that ends in a zero. False after a mistake was reported; a script without any such
 * command gives 0 words. All memory is the arena's. */
bool shell_read(const char *file, const char *text, size_t size, const struct shell_define *defines,
                size_t define_count, struct arena *arena, struct diag *diag, struct shell_command *out);

#endif
