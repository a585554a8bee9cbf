/* SPDX-License-Identifier: Apache-2.0 */
/* Help for terminals of any width. */
#ifndef STAGESIM_HELP_TEXT_H
#define STAGESIM_HELP_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Prints the text with lines of at most `width` characters, 0 for any length. What does not fit goes on below where the
 * line's own text began: behind the last run of two blanks or more in its left half, else at its indent. Words that are
 * longer, and lines of examples (two blanks and "stagesim"), are left whole. */
void help_text_print(FILE *out, const char *text, size_t width);

#endif
