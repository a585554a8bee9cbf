/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of comma-separated values: a line that names the columns, in any order, then a row a line. A field may stand
 * in quotes, and then hold commas, line breaks and doubled quotes. Blanks around fields, blank lines, a byte order mark
 * and carriage returns do not count. */
#ifndef STAGESIM_CSV_H
#define STAGESIM_CSV_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* The columns that a kind of file may have. */
struct csv_columns {
    const char *const *names; /* count of them */
    size_t count, required;   /* the first `required` must be there */
    const char *what;         /* "a schedule": for messages */
    bool comments;            /* lines that begin with '#' do not count either */
    const char *page;         /* of the manual, which has all columns; NULL: none */
    bool nameless;            /* columns without a name, however many, are passed over */
};

/* Some bytes of the text, not terminated; without the quotes around them. */
struct csv_field {
    const char *text; /* NULL: the file has no such column */
    size_t size;
    bool quoted;
};

/* A file being read, and its current row. */
struct csv;

/* Reads the line of names. `text` stays where it is until csv_close; `name` stands in messages. Mistakes go to `diag`,
 * or where it is NULL the first one goes to `fault`, as "NAME:LINE:COLUMN: what". NULL after a mistake in the names; a
 * text without any line has no rows, which is left to the caller to report. */
struct csv *csv_open(const char *name, const char *text, size_t size, const struct csv_columns *columns,
                     struct diag *diag, struct fault *fault);
void csv_close(struct csv *csv); /* NULL is fine */

/* The names of the first line that counts, as csv_cell was given them, at most `most` of them; for tables whose columns
 * are not known before. Returns how many. Memory from the arena. */
size_t csv_names(const char *text, size_t size, bool comments, const char **names, size_t most, struct arena *arena);

/* Goes to the next row. Rows with too many or too few fields or with a broken quote are reported and passed over. False
 * at the end. */
bool csv_next(struct csv *csv);
/* The file has this column. */
bool csv_has(const struct csv *csv, size_t column);
/* The current row's field of a column. */
struct csv_field csv_get(const struct csv *csv, size_t column);
/* Where the current row's field of a column is; the row's place where the file has no such column. */
struct place csv_place(const struct csv *csv, size_t column);
/* The line on which the current row begins. */
unsigned csv_line(const struct csv *csv);

/* Reports a mistake at the current row's field of a column (at the row where the file has no such column); returns
 * false. */
__attribute__((format(printf, 3, 4))) bool csv_mistake(struct csv *csv, size_t column, const char *format, ...);
/* A whole number from 0 to `most`, without leading zeros. False after a mistake was reported. */
bool csv_integer(struct csv *csv, size_t column, uint32_t most, uint32_t *number);
/* A finite decimal number, such as 1.5e-3. False after a mistake was reported. */
bool csv_number(struct csv *csv, size_t column, double *number);
/* The index of a word among NULL-terminated ones. False after a mistake was reported, with the nearest word. */
bool csv_word(struct csv *csv, size_t column, const char *const *words, unsigned *index);

/* Whether a field is this text. */
bool csv_is(struct csv_field field, const char *text);
/* The field as a string as csv_cell was given it: doubled quotes made single, the apostrophe before a sign gone. Memory
 * from the arena. */
const char *csv_text(struct csv_field field, struct arena *arena);

/* A text as a field of a table: in quotes where it holds a comma, a quote or a break; with an apostrophe before it
 * where it begins with = + - @ ' or a tab, which spreadsheets would take for a formula; with control characters and
 * what is no UTF-8 as \xNN. Not for numbers. Memory from the arena. */
const char *csv_cell(const char *text, struct arena *arena);

/* For messages: the field, cut where it is long. */
struct csv_excerpt {
    char text[41];
};
struct csv_excerpt csv_excerpt(struct csv_field field);

/* A file of at most `most` bytes; NULL with errno set, also for what is no regular file. The caller frees it. */
char *csv_load(const char *path, size_t most, size_t *size);

#endif
