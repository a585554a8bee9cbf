/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input is reported with its place; reading goes on so that all mistakes come out in one run. Library code never
 * prints: it reports here, and the command decides where the text goes. */
#ifndef STAGESIM_DIAGNOSTICS_H
#define STAGESIM_DIAGNOSTICS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Where a value was written. line and column count from 1; 0 means unknown (only the file, or `--set KEY`, is named).
 */
struct place {
    const char *file;
    unsigned line, column;
};

struct diag {
    FILE *out;       /* where reports go; NULL: they are only counted */
    unsigned errors; /* reports of diag_error so far; the first eight are shown */
    unsigned told;   /* of them, whose number diag_rest has said */
    bool trouble;    /* one of them was diag_trouble */
};

/* Writes `file:line:column: error: text`, then the source line and a caret where the file can be read again. One call
 * is one mistake; `format` has no trailing newline. */
__attribute__((format(printf, 3, 4))) void diag_error(struct diag *diag, struct place at, const char *format, ...);
/* The same for what is no mistake of the input: a file that cannot be read, no memory. Who asks whether an input is
 * good must not take it for a bad one. */
__attribute__((format(printf, 3, 4))) void diag_trouble(struct diag *diag, struct place at, const char *format, ...);
/* To be called where reading has come to an end: says how many mistakes were not shown, if any. */
void diag_rest(struct diag *diag);
void diag_verror(struct diag *diag, struct place at, const char *format, va_list arguments);
/* The same with `note:`; does not count as a mistake. Used for the second place of a cross-field check. */
__attribute__((format(printf, 3, 4))) void diag_note(struct diag *diag, struct place at, const char *format, ...);

/* printf for texts with names of the user's: control characters other than breaks and tabs, and what is no UTF-8, are
 * shown as \xNN, so that nothing steers the terminal. */
__attribute__((format(printf, 2, 3))) void diag_print(FILE *out, const char *format, ...);
/* The same in place, cut to `size` bytes with the final zero. */
void diag_clean(char *text, size_t size);

/* The first mistake in a text of reports, without its place, cut off in place. */
const char *diag_first(char *reports);

/* The entry of `words` (count of them) nearest to `word` by edit distance, or NULL when none is near. */
const char *diag_nearest(const char *word, const char *const *words, size_t count);

/* Trouble outside the input (a file, a plug-in, SimGrid): text filled by the first one to know, passed up untouched. */
enum { FAULT_SIZE = 1024 };
struct fault {
    char text[FAULT_SIZE];
    bool refused; /* it is the input's fault after all: a program that cannot finish */
    bool trouble; /* a file could not be read, where others are about what is in files */
};

/* Fills the fault unless it is filled already; returns false, so that one can `return fault_set(...)`. */
__attribute__((format(printf, 2, 3))) bool fault_set(struct fault *fault, const char *format, ...);

/* Reports the text of a fault as a mistake: at its place where it begins with "FILE:LINE: " or "FILE:LINE:COLUMN: ",
 * after "LABEL: " otherwise; NULL: as a mistake without a place. */
void diag_fault(struct diag *diag, const char *label, const char *text);

#endif
