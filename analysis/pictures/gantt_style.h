/* SPDX-License-Identifier: Apache-2.0 */
/* How kinds of time look: colours that colour-blind readers tell apart, and a pattern each, so that a grey print tells
 * them apart as well. */
#ifndef STAGESIM_GANTT_STYLE_H
#define STAGESIM_GANTT_STYLE_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt.h"

enum hatch { HATCH_NONE, HATCH_DIAGONAL, HATCH_HORIZONTAL, HATCH_VERTICAL, HATCH_CROSS };

struct rectangle {
    double x, y, width, height;
};

/* Colour and pattern of a kind of box. Shades go from light (0) to dark (shades - 1). */
struct colour gantt_fill(enum gantt_kind kind, unsigned shade, unsigned shades);
enum hatch gantt_hatch(enum gantt_kind kind);
/* "forward", "backward", ... as the legend says it. */
const char *gantt_kind_label(enum gantt_kind kind);
/* Of a cause of idle time. */
struct colour cause_fill(enum cause cause);
enum hatch cause_hatch(enum cause cause);

/* Text on that colour: dark or white. Outlines and patterns on it: darker, or lighter where it is dark. */
struct colour style_ink(struct colour fill);
struct colour style_line(struct colour fill);
extern const struct colour style_text, style_faint, style_idle, style_grid, style_critical;

/* Fills the current path with the colour, outlines it (line 0: not) and lays the pattern over it within `area`; the
 * path is used up. */
void style_paint(cairo_t *cr, struct colour fill, enum hatch hatch, double line, struct rectangle area);
/* Adds a rectangle to the current path, its edges snapped. */
void style_add_rectangle(cairo_t *cr, struct rectangle rectangle);
/* One rectangle, painted. */
void style_swatch(cairo_t *cr, struct rectangle rectangle, struct colour fill, enum hatch hatch);

/* Title and subtitle (NULL: none) at the top of a page, over as many lines as they take on paper. Draws only where
 * `draw`. Returns the baseline of what comes next on paper. */
struct picture_head {
    double width, margin; /* of the page */
    bool paper;
    const char *title, *subtitle;
};
double picture_draw_head(cairo_t *cr, const struct picture_head *head, bool draw);

#endif
