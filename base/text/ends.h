/* SPDX-License-Identifier: Apache-2.0 */
/* How a text ends. */
#ifndef STAGESIM_ENDS_H
#define STAGESIM_ENDS_H

#include <stdbool.h>
#include <string.h>

/* Whether a text ends in another one, "train.csv" in ".csv"; a text of the ending alone does, too. */
static inline bool text_ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && !strcmp(text + length - tail, ending);
}

#endif
