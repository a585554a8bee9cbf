/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the rows of a gantt: the one drawing core of all timeline pictures. Boxes where they are wide enough to be
 * seen, otherwise strips: per moment, the share of time that each kind takes, stacked. Long rows of the same stay small
 * in either case. */
#ifndef STAGESIM_GANTT_DRAW_H
#define STAGESIM_GANTT_DRAW_H

#include "analysis/pictures/gantt.h"
#include "analysis/pictures/gantt_style.h"

#include <cairo.h>

/* What the picture asks for. */
struct gantt_wish {
    double width, end;  /* points of the plot; time at its right edge, at least gantt.end */
    double box_height;  /* of a row with few rows; fewer points with many */
    double most_height; /* of all rows together, roughly */
    uint32_t most_rows; /* more are drawn in groups */
    bool plain;         /* without messages and critical path */
    bool paper;         /* text is never smaller than picture_text_size, numbers in boxes not much */
};

/* How a gantt will be drawn. Every panel row shows `group` rows, the last one perhaps fewer. */
struct gantt_layout {
    struct gantt_wish wish;
    uint32_t rows, group;
    uint32_t tiers;          /* of the collective lane */
    double box, lane, pitch; /* heights: compute boxes, the collective lane below (0: none), a row with its gap */
    double height;           /* of all rows */
    double mean_width;       /* of a computation's box, points */
    bool strips;
    double label_size; /* of the numbers in boxes; 0: none */
    double line;       /* of outlines; 0: none */
};

struct gantt_layout gantt_lay_out(const struct gantt *gantt, const struct gantt_wish *wish);
/* Width of the widest row label as drawn; 0 with no rows. */
double gantt_label_width(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout);
/* The font of row labels, and which rows have one: with many rows only every second, fifth, ... */
struct canvas_font gantt_label_font(const struct gantt_layout *layout);
bool gantt_has_label(const struct gantt_layout *layout, uint32_t row);
/* "0", or "0 - 7" for a group; returns text. */
const char *gantt_group_label(char *text, size_t size, const struct gantt *gantt, const struct gantt_layout *layout,
                              uint32_t row);

/* The grey of idle time, from 0 to gantt.end; comes first. */
void gantt_draw_ground(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y);
/* Row labels left of x, boxes or strips, numbers, arrows, critical path. x, y: the plot's top left. */
void gantt_draw_rows(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y);

/* Whether messages are few enough to be drawn. */
bool gantt_shows_arrows(const struct gantt *gantt, const struct gantt_layout *layout);

/* Whether the critical path is known and changes rows seldom enough to be drawn. */
bool gantt_shows_critical(const struct gantt *gantt, const struct gantt_layout *layout);

/* Which entries a legend needs. */
struct gantt_legend {
    bool kinds[GANTT_KINDS];
    bool numbers, critical, arrows, strips;
    bool mixed;         /* shades mean different things in different gantts: no names then */
    bool jobs;          /* rows are jobs */
    char computing[24]; /* of a gantt that says so */
    uint32_t shades;
    char shade_names[GANTT_SHADES_MAX][24];
};

/* Adds what this gantt shows. */
void gantt_legend_add(struct gantt_legend *legend, const struct gantt *gantt, const struct gantt_layout *layout);
/* Draws it into the width, wrapping lines; returns its height. With draw false only measures. */
double gantt_legend_draw(cairo_t *cr, const struct gantt_legend *legend, double x, double y, double width, bool draw);

/* ---- between the files of the drawing core ---- */

double gantt_points_per_time(const struct gantt_layout *layout);
/* Where a lane of a row lies when the plot's top left is at x, y; then a box. */
struct rectangle gantt_lane_place(const struct gantt_layout *layout, double x, double y, uint32_t row, unsigned lane);
struct rectangle gantt_box_place(const struct gantt_layout *layout, const struct gantt_box *box, double x, double y);
void gantt_draw_critical(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y);
/* Stacked shares of time instead of boxes. */
void gantt_draw_strips(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y);

#endif
