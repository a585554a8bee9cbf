/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of shell.h share; for them only. */
#ifndef STAGESIM_READERS_SHELL_PARTS_H
#define STAGESIM_READERS_SHELL_PARTS_H

#include "frameworks/readers/shell.h"

#include <stdint.h>

/* A character with where it was written; what is quoted is not split at blanks. */
struct cell {
    uint32_t at;
    char c;
    bool quoted;
};

struct cells {
    struct cell *items;
    size_t count, capacity;
};

/* In cells, around the name of what is not known. */
enum { OPEN_BEGIN = 1, OPEN_END = 2 };

struct variable {
    const char *name;
    struct cells *words; /* of an array; of a plain one a single word */
    size_t count;
    bool array, fixed; /* fixed: from outside */
    struct variable *next;
};

enum shell_state { SHELL_NO, SHELL_YES, SHELL_MAYBE };

struct shell {
    const char *file, *text;
    size_t size, at;
    struct arena *arena;
    struct diag *diag;
    struct variable *variables;
    struct shell_command *out;
    struct cells *best_words; /* of the command with the most options */
    size_t best_count, best;  /* its words, its options */
    size_t cells;             /* made so far */
    unsigned depth, branches; /* of expansions; of conditions */
    bool broken;
};

/* ---- shell_cells.c ---- */

struct variable *shell_variable(struct shell *shell, const char *name, size_t length);
/* Sets or, with `more`, lengthens. */
void shell_assign(struct shell *shell, const char *name, size_t length, struct cells *words, size_t count, bool array,
                  bool more);
void shell_add(struct shell *shell, struct cells *cells, char c, size_t at, bool quoted);
/* The cells as text, in which OPEN names stand as $NAME; `open`: the first name, or NULL. */
const char *shell_text(struct shell *shell, const struct cells *cells, const char **open);
/* Cuts cells at blanks that are not quoted, and appends the words to a list. */
void shell_split(struct shell *shell, const struct cells *cells, struct cells **words, size_t *count);
/* Appends words as they are. */
void shell_append(struct shell *shell, const struct cells *more, size_t more_count, struct cells **words,
                  size_t *count);

/* ---- shell_expand.c ---- */

/* Where a raw word that begins at `at` ends. */
size_t shell_word_end(const struct shell *shell, size_t at);
/* Expands text[from..to) into cells. */
void shell_expand(struct shell *shell, size_t from, size_t to, bool quoted, struct cells *out);
/* Expands a raw word that is the `"${NAME[@]}"` of an array, or any other. */
void shell_expand_word(struct shell *shell, size_t from, size_t to, struct cells **words, size_t *count);

/* ---- shell_test.c ---- */

/* [ ... ] and [[ ... ]]: words between the brackets. */
enum shell_state shell_test(struct shell *shell, const struct cells *words, size_t count);
/* Whole-number arithmetic. False where something is not known. */
bool shell_arithmetic(struct shell *shell, const char *text, int64_t *value);

/* ---- shell_skip.c ---- */

/* Blanks, continued lines and comments; with `lines` also the ends of lines and semicolons. */
void shell_skip(struct shell *s, bool lines);
/* Whether the next word is that one. */
bool shell_next_is(const struct shell *s, const char *word);
/* A redirection: the operator and its file, or the whole here-document. */
void shell_skip_redirection(struct shell *s);

/* ---- shell_slurm.c ---- */

void shell_read_sbatch(struct shell *s);
/* Gives a variable its value; `fixed`: no assignment changes it. */
void shell_define(struct shell *s, const char *name, const char *value, bool fixed);
/* What Slurm sets for the script. */
void shell_define_slurm(struct shell *s);

#endif
