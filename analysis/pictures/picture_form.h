/* SPDX-License-Identifier: Apache-2.0 */
/* What a picture is for: a file for the screen, a part of a page, or a column of a paper. */
#ifndef STAGESIM_PICTURE_FORM_H
#define STAGESIM_PICTURE_FORM_H

#include <stdbool.h>
#include <stdint.h>

/* Where a function takes a form, NULL is a file for the screen. */
struct picture_form {
    const char *prefix; /* as in struct canvas_caption */
    /* On paper, in points of 1/72 inch; both or none (0). All text has that size, but numbers in boxes, which have at
     * least three quarters of it or are left out. */
    double width, font_size;
    uint32_t iterations; /* of timelines; 0: what is usual */
};

/* The size of text that pictures are laid out with. */
extern const double picture_text_size;

bool picture_on_paper(const struct picture_form *form);
/* Points on paper that one unit of the drawing takes; 0: on screen. */
double picture_scale(const struct picture_form *form);
/* Width of the page in units of the drawing: as asked, otherwise the usual one. */
double picture_page_width(const struct picture_form *form, double usual);
const char *picture_prefix(const struct picture_form *form);

#endif
