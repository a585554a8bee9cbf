/* SPDX-License-Identifier: Apache-2.0 */
/* How large a picture is on paper: what people type for the width of a column and the size of its text. */
#ifndef STAGESIM_PAPER_SIZE_H
#define STAGESIM_PAPER_SIZE_H

#include <stdbool.h>

/* In points of 1/72 inch; both 0: for the screen. */
struct paper_size {
    double width, font_size;
};

/* Which of the two texts is wrong, and why. */
struct paper_mistake {
    bool font; /* the size of text; otherwise the width */
    char text[256];
};

/* "84mm", and "7" or "7pt"; NULL: not given. Without a size, text has 8 points; a size without a width is a mistake.
 * False with the mistake filled. */
bool paper_size_read(const char *width, const char *font_size, struct paper_size *size, struct paper_mistake *mistake);

#endif
