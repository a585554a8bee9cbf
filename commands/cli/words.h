/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that are one of some words: formats, engines, names of schedules. */
#ifndef STAGESIM_WORDS_H
#define STAGESIM_WORDS_H

#include "analysis/pictures/picture_form.h"
#include "commands/cli/command.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* The place of a word among `count` words. False, and *index untouched, where it is not there. */
bool words_find(const char *const *words, size_t count, const char *word, unsigned *index);

/* Reports that a word is none of those: "'csw' is no format; did you mean 'csv'?", or what is known (names_list).
 * Returns EXIT_USAGE. */
int words_unknown(const struct command *command, const char *what, const char *word, const char *const *words,
                  size_t count);

/* --format: the place of `text` among the formats' names. 0, or EXIT_USAGE after a word that is none was reported. */
int format_read(const struct command *command, const char *text, const char *const *names, size_t count,
                unsigned *format);

/* The format whose files end in that: "tex" is latex, "md" markdown, others are called as they end. False: none, and
 * *format is `count`. */
bool format_of_ending(const char *const *names, size_t count, const char *ending, unsigned *format);

/* Without --format: what the ending of an output file says. The first format, which ends in .txt, where there is no
 * file (NULL) or no ending. 0, or EXIT_USAGE after an ending of no format was reported. */
int format_of_file(const struct command *command, const char *file, const char *const *names, size_t count,
                   unsigned *format);

/* --picture-width and --font-size, NULL where not given: how large a picture is. 0, or EXIT_USAGE after the mistake was
 * reported. */
int form_read(const struct command *command, const char *width, const char *font_size, struct picture_form *form);

/* What the help of commands says of both. */
#define FORM_HELP(column)                                                                                              \
    "  --picture-width LEN  " column "width of the picture on paper: 84mm, 3.3in, 238pt\n"                             \
    "  --font-size POINTS   " column "size of the picture's text (8)\n"

/* What was typed, without the output's directory, --quiet and --resume; and of a command that joins parts without
 * --merge and the parts, which are `skipped_count` of the words: what gives the same in one process. */
struct words_typed {
    int count;
    char *const *words;
};
/* To be asked for before the options' reader puts them in another order. Memory from the arena. */
struct words_typed words_typed(int argc, char *const *argv, struct arena *arena);
const char *words_command(const struct command *command, const struct words_typed *typed, char *const *skipped,
                          int skipped_count, struct arena *arena);

/* A text as a YAML word in double quotes, whatever it holds; from the arena. */
const char *words_yaml(const char *text, struct arena *arena);

#endif
