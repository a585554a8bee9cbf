/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of self-contained HTML pages. Nothing in them refers to another file. Every page carries page.css and page.js:
 * a table of class "sort" within a <div class="wide"> sorts by its columns (data-v of a cell: its value where the text
 * is no number) and gets a filter where it is long; a row of class "best" stands out; "verdict", "note", "warn" and
 * "tiles" are boxes of text; the details of a <table class="f"> hide behind a tap on a phone. */
#ifndef STAGESIM_HTML_H
#define STAGESIM_HTML_H

#include "analysis/figures/report.h"
#include "analysis/pictures/picture_form.h"
#include "base/diagnostics.h"
#include "base/table.h"

#include <stdio.h>

/* All up to and with <body>, style sheet included; the heading, and a line below it (NULL: none). */
void html_begin(FILE *out, const char *title, const char *subtitle);
void html_end(FILE *out);

/* Text with its special characters as entities. */
void html_text(FILE *out, const char *text);

/* Idle time by cause as a stacked bar, `whole` (a share of T) being the full width; and what its colours and patterns
 * mean. */
void html_cause_bar(FILE *out, const double causes[CAUSES], double whole);
void html_cause_legend(FILE *out);

/* The same by what can be done about it; parts below zero are left out. */
void html_idle_bar(FILE *out, const double parts[IDLE_PARTS], double whole);
void html_idle_legend(FILE *out);

/* A box of a value and what it is, within a <div class="tiles">. */
void html_tile(FILE *out, const char *value, const char *name);

/* Each line of a text between two tags. */
void html_lines(FILE *out, const char *before, const char *text, const char *behind);
/* A table as wide as it is; `sorts`: by its columns. */
void html_table(FILE *out, const struct table *table, bool sorts);

/* A bar of one share of the full width. */
void html_share_bar(FILE *out, double share);

/* What a cause is, in a sentence. */
const char *html_cause_definition(enum cause cause);

/* In the place of a picture: true, with a sentence that says why, where there is no cairo to draw it. */
bool html_no_picture(FILE *out);

/* Draws the picture into `out`; false with the fault filled. */
typedef bool html_draw(FILE *out, const struct picture_form *form, void *user, struct fault *fault);
/* A figure of a chart, drawn twice: for wide screens, and for phones, which show the one that fits. Their ids begin
 * with the two prefixes. A field of cells is not drawn as wide as the page. False with the fault filled. */
bool html_chart(FILE *out, html_draw *draw, void *user, const char *prefix, const char *slim_prefix, bool field,
                struct fault *fault);

#endif
