/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs described for other tools as scenarios: what each file says, put together, and written with the origin of every
 * line. */
#ifndef STAGESIM_FRAMEWORKS_IMPORT_H
#define STAGESIM_FRAMEWORKS_IMPORT_H

#include "frameworks/settings/settings.h"
#include "frameworks/shell/shell.h"

#include <stdio.h>

struct import_request {
    const char *const *files; /* file_count of them, in the order of the command line */
    size_t file_count;
    const char *const *options; /* of Megatron-LM, option_count of them: what stands behind -- */
    size_t option_count;
    const struct shell_define *defines; /* variables of scripts, define_count of them */
    size_t define_count;
    const char *const *sets; /* "model.sequence=4096", set_count of them */
    size_t set_count;
    const char *config;   /* the function of a Python file that makes the configuration; NULL: not said */
    const char *platform; /* as a scenario names it; NULL: none */
    const char *kernels;  /* compute.kernels of the platform's GPU for jobs with TransformerEngine; NULL: none */
    uint64_t gpus;        /* that the job runs on: those of the platform or fewer; 0: not known */
};

/* What was made of the files; all memory is the arena's. */
struct import {
    struct settings settings;
    const char *title;     /* which files of which tools */
    const char *framework; /* that runs the job: "Megatron-LM", ...; NULL: not known */
    double parameters;     /* of the model; 0: its shape is not known */
    const char *left_out;  /* which of its parameters are not in this number; NULL: none */
    /* Layers of unequal shape: their list; NULL: none was read. blocks_named: an option names a file of them, which
     * blocks_why says why it is not read (NULL: nothing is known). */
    const struct node *blocks;
    bool blocks_named;
    struct place blocks_at;
    const char *blocks_why;
};

/* Reads the files and puts them together. False after a mistake was reported. */
bool import_read(const struct import_request *request, struct import *import, struct arena *arena, struct diag *diag);
/* The scenario, with a comment on every line. */
void import_write(const struct import *import, FILE *out);
/* A few lines for the terminal: what was read, what is missing, what is not modelled. */
void import_tell(const struct import *import, FILE *out);
/* A value as YAML has it: in quotes where it would not be a text otherwise. Memory of the arena. */
const char *import_quoted(const char *value, struct arena *arena);
/* A table of the keys that change neither time nor memory, in Markdown. */
void import_print_ignored(FILE *out);

#endif
