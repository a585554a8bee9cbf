/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of `stagesim serve --stdio`: one line of JSON each. */
#ifndef STAGESIM_SERVE_ANSWER_H
#define STAGESIM_SERVE_ANSWER_H

#include <stdio.h>

/* What a request's process left. */
struct answer {
    const char *id;       /* JSON */
    int code;             /* enum exit_code */
    int output, messages; /* descriptors of files with what it wrote to standard output and error; -1: nothing */
    const char *instead;  /* stands in place of the messages; NULL: they stand themselves */
    const char *empty;    /* messages call this file "scenario", which is no longer; NULL: there is none */
};

/* Writes {"id": ..., "code": ..., "result": ..., "messages": ...} and an end of line. What is JSON becomes the result
 * as it is, other output a text. */
void answer_write(FILE *out, const struct answer *answer);

#endif
