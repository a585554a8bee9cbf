/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in lines that a terminal and a log can show. */
#ifndef STAGESIM_WRAP_H
#define STAGESIM_WRAP_H

#include <stdio.h>

enum {
    WRAP_COLUMNS = 160, /* of a line at most, but for a word that is longer */
    WRAP_INDENT = 11    /* of the lines that follow: below the text of a source line that is shown */
};

/* Writes `head` and `text`, which have no line breaks, and a line break. A longer line goes on in the next one, behind
 * a semicolon, comma or colon if one stands late enough in it, a semicolon first, else at a blank. */
void wrap_write(FILE *out, const char *head, const char *text);

/* Makes one line of the first that wrap_write wrote in a text, in place. */
void wrap_join(char *text);

#endif
