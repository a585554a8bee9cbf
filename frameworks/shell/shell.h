/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command that a shell script launches, without running anything. The script is followed as bash would run
 * it: variables, arrays, functions, conditions, loops, arithmetic, files that it reads in. What only a shell could
 * know, and all that it could touch, is unknown from there on, and each such word of the launch says so. */
#ifndef STAGESIM_SHELL_H
#define STAGESIM_SHELL_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct shell_word {
    const char *text; /* what is not known stands as $NAME */
    struct place at;
    const char *open; /* the name of the first thing in it that is not known; NULL: all of it is */
    const char *why;  /* why that is not known, with its place; NULL: nobody sets it */
    bool many;        /* the unknown stands alone and unquoted: any number of words, or options */
};

struct shell_note {
    struct place at;
    const char *name, *text;
};

/* A variable's value from outside, against which the script's assignments do not count. */
struct shell_define {
    const char *name, *value;
};

enum { SHELL_FILES = 2 };

struct shell_request {
    const char *file, *text;
    size_t size; /* of the text, which ends in a zero */
    const struct shell_define *defines;
    size_t define_count;
    /* Whether a word is an option of the tool whose launch is looked for. */
    bool (*is_option)(const char *word);
    const char *tool; /* "Megatron-LM" */
    /* Options whose values are files that the caller reads, too: "--deepspeed_config"; NULL: no more. */
    const char *file_options[SHELL_FILES];
    const char *variable; /* a variable of the launch's environment that the caller reads, too; NULL */
};

struct shell_command {
    struct shell_word *words; /* of the launch with the most options */
    size_t count;
    struct shell_note *notes; /* what was taken to hold, and what else could be a launch */
    size_t note_count;
    /* What is in the files of `file_options`, where they lie beside the script or the script writes them; otherwise
     * its text is NULL, and `why` says why. The launch's place; without the option none. */
    struct shell_word files[SHELL_FILES];
    const char *file_names[SHELL_FILES];
    const char *variable;           /* the value of the variable of that name; NULL: not set, or not known */
    struct shell_word nodes, tasks; /* of #SBATCH lines: --nodes, and tasks or GPUs of a node; text NULL: none */
};

/* Follows a script. False after a mistake was reported: also where it is not known which of several launches runs, or
 * what a launch is made of. A script without any launch gives 0 words. All memory is the arena's. */
bool shell_read(const struct shell_request *request, struct arena *arena, struct diag *diag, struct shell_command *out);

#endif
