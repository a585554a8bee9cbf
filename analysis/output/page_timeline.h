/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines on an HTML page: a small SVG that follows the page's colours and shows everything without JavaScript, and
 * the same boxes as data, from which page.js draws one that can be zoomed. */
#ifndef STAGESIM_PAGE_TIMELINE_H
#define STAGESIM_PAGE_TIMELINE_H

#include "analysis/pictures/gantt.h"

/* More boxes make a page too large: then only the picture is there. */
enum { PAGE_BOXES_MOST = 300000 };

/* The patterns and colours that the timelines of a page refer to; once, before them. `gantts`: all of them. */
void page_timeline_styles(FILE *out, const struct gantt *const *gantts, size_t count);

/* A figure; the axis goes to `end`, which the timelines of a page share. `link` (NULL: none) is the address of the
 * run's own page. */
void page_timeline(FILE *out, const struct gantt *gantt, double end, const char *link);

/* What the kinds of boxes in these timelines mean. */
void page_timeline_legend(FILE *out, const struct gantt *const *gantts, size_t count);

/* ---- page_data.c ---- */

/* The boxes and messages as JSON whose numbers are base64: times are ticks of end / 2^24; variable-length integers of
 * 7 bits, low ones first. A box: style, ticks since the end of the one before it in its lane, length, zigzag of its
 * micro-batch less that of the one before. A message: from, to, zigzag of ticks since the start of the one before,
 * length. */
void page_data(FILE *out, const struct gantt *gantt);

#endif
