/* SPDX-License-Identifier: Apache-2.0 */
/* The same table for people, papers and programs: as text, as LaTeX (tabular with the rules of booktabs), as Markdown
 * as GitHub reads it, as CSV and as JSON. */
#ifndef STAGESIM_TABLE_WRITE_H
#define STAGESIM_TABLE_WRITE_H

#include "base/table.h"

#include <stdbool.h>

/* What --format names; table_format_names has the words in this order. */
enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_JSON, TABLE_LATEX, TABLE_MARKDOWN, TABLE_FORMATS };

extern const char *const table_format_names[TABLE_FORMATS];

struct table_style {
    enum table_format format;
    size_t width; /* columns of the terminal, for TABLE_TEXT; 0: any number */
};

/* The style for what goes to a stream directly. */
struct table_style table_style_of(enum table_format format, FILE *out);

/* Whether people read it in this format: texts may stand around the table. CSV and JSON hold the table alone. */
bool table_is_read(enum table_format format);

/* A title as CSV and JSON have it: "error before" is error_before. Writes at most `size` bytes, the last one 0. */
void table_key(char *key, size_t size, const char *title);
/* Writes the table, and destroys it. CSV and JSON have numbers in full where table_value gave them, and the titles as
 * keys: small letters, with _ for what is none and no digit. JSON leaves empty cells out. */
void table_finish(struct table *table, FILE *out, struct table_style style);

/* Lines that go with a table: as they are; each behind % in LaTeX, each a paragraph in Markdown. Nothing in CSV and
 * JSON. */
void table_remarks(FILE *out, enum table_format format, const char *lines);
/* A stream in memory for such lines. Never NULL: out of memory ends the process with a message and exit code 3. */
FILE *table_remarks_begin(char **lines, size_t *size);
/* Ends it: closes it, writes it, frees its text. */
void table_remarks_end(FILE *out, enum table_format format, FILE *remarks, char **lines);

#endif
