/* SPDX-License-Identifier: Apache-2.0 */
/* Names beside one that is not known: how far they are from it, and as a list that a reader can take in. */
#ifndef STAGESIM_NAMES_H
#define STAGESIM_NAMES_H

#include <stddef.h>

enum {
    NAMES_SHOWN_MAX = 8, /* a longer list is cut to the nearest ones */
    NAMES_NEAREST = 3,
    NAME_COMPARED_MAX = 40, /* characters of a name that are compared */
    NAMES_TEXT = 1024
};

struct names_text {
    char text[NAMES_TEXT];
};

/* Letters to change, insert, drop or swap with their neighbour to make one name of the other: Levenshtein distance with
 * swaps (optimal string alignment), of the first NAME_COMPARED_MAX characters of each. */
unsigned names_distance(const char *a, const char *b);

/* "a, b or c" of up to eight names. Of more, the three that are nearest to `word` by the share of letters to change
 * (NULL: the first three) and where all of them are: "a, b, c or one of 27 more (`stagesim list schedules`)"; `where`
 * is NULL or a text like that in the brackets. "none" of no name. Returns list->text. */
const char *names_list(struct names_text *list, const char *word, const char *const *names, size_t count,
                       const char *where);

#endif
