/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the picture of a platform share. Everything is laid out twice: once without a context, to learn the
 * height, and once to draw. */
#ifndef STAGESIM_PLATFORM_PEN_H
#define STAGESIM_PLATFORM_PEN_H

#include "analysis/pictures/canvas.h"
#include "platforms/view.h"
#include "platforms/zones.h"

enum { PEN_MARGIN = 20, PEN_LINE = 17 };

struct pen {
    cairo_t *cr; /* NULL: only the layout */
    const struct view *view;
    double width, y; /* of the picture; where the next part begins */
};

struct box {
    double x, y, width, height;
};

/* A box with a title that is cut to its width; `fill` as 0xrrggbb. */
void pen_box(const struct pen *pen, struct box box, uint32_t fill, const char *title, double size);
void pen_text(const struct pen *pen, double x, double y, struct canvas_font font, const char *text);
/* A line of text at the pen, which moves down. */
void pen_line(struct pen *pen, double x, bool bold, const char *text);

/* The light colour of links of a class, the same all over the picture. */
uint32_t pen_link_colour(const struct pen *pen, const char *class_name);

/* The tree of zones as boxes in boxes, and one node of a kind with its links. */
void pen_zones(struct pen *pen, const struct zone *root);
void pen_node(struct pen *pen, const struct view_node *node);

#endif
