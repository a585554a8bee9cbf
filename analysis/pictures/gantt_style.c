/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/gantt_style.h"

#include "analysis/pictures/palette.h"

#include <math.h>

struct look {
    const char *label;
    enum stagesim_kind kind; /* whose colours it has */
    enum hatch hatch;
};

struct cause_look {
    uint32_t colour; /* 0: that of collectives */
    enum hatch hatch;
};

/* Lightness alone does not tell colours apart, the pattern does. */
static const struct look looks[GANTT_KINDS] = {
    [GANTT_FORWARD] = {"forward", STAGESIM_FORWARD, HATCH_NONE},
    [GANTT_BACKWARD] = {"backward", STAGESIM_BACKWARD, HATCH_DIAGONAL},
    [GANTT_WEIGHT] = {"weight gradient", STAGESIM_WEIGHT, HATCH_HORIZONTAL},
    [GANTT_OPTIMIZER] = {"optimizer", STAGESIM_OPTIMIZER, HATCH_NONE},
    [GANTT_COMPUTE] = {"other computation", STAGESIM_OTHER, HATCH_CROSS},
    [GANTT_COLLECTIVE] = {"collective", STAGESIM_GRADIENT_SYNC, HATCH_VERTICAL},
    [GANTT_TRANSFER] = {"transfer to or from host memory", STAGESIM_OFFLOAD, HATCH_NONE},
};

static const struct cause_look cause_looks[CAUSES] = {
    [CAUSE_FILL] = {0xD5DADF, HATCH_NONE},          [CAUSE_DRAIN] = {0x98A2AD, HATCH_DIAGONAL},
    [CAUSE_RECEIVE] = {0xE58A7B, HATCH_HORIZONTAL}, [CAUSE_COLLECTIVE] = {0, HATCH_VERTICAL},
    [CAUSE_DEPENDENCY] = {0xF3E08B, HATCH_CROSS},   [CAUSE_INPUT] = {0x6B7FD1, HATCH_DIAGONAL},
};

const struct colour style_text = {0.10, 0.11, 0.13}, style_faint = {0.38, 0.40, 0.44},
                    style_idle = {0.933, 0.935, 0.945}, style_grid = {0.80, 0.81, 0.83},
                    style_critical = {0.78, 0.02, 0.24};

struct colour gantt_fill(enum gantt_kind kind, unsigned shade, unsigned shades)
{
    double share = shades > 1 ? fmin(shade, shades - 1) / (shades - 1) : 0;
    struct palette_range range = palette_range(looks[kind].kind);
    return colour_mix(colour_hex(range.light), colour_hex(range.dark), share);
}

enum hatch gantt_hatch(enum gantt_kind kind)
{
    return looks[kind].hatch;
}

const char *gantt_kind_label(enum gantt_kind kind)
{
    return looks[kind].label;
}

struct colour cause_fill(enum cause cause)
{
    uint32_t colour = cause_looks[cause].colour;
    return colour_hex(colour ? colour : palette_single(STAGESIM_GRADIENT_SYNC));
}

enum hatch cause_hatch(enum cause cause)
{
    return cause_looks[cause].hatch;
}

struct colour style_ink(struct colour fill)
{
    return colour_lightness(fill) > 0.55 ? style_text : colour_hex(0xFFFFFF);
}

struct colour style_line(struct colour fill)
{
    bool light = colour_lightness(fill) > 0.55;
    return colour_mix(fill, colour_hex(light ? 0x000000 : 0xFFFFFF), light ? 0.34 : 0.38);
}

void style_add_rectangle(cairo_t *cr, struct rectangle rectangle)
{
    double left = canvas_snap(rectangle.x), right = canvas_snap(rectangle.x + rectangle.width);
    double top = canvas_snap(rectangle.y), bottom = canvas_snap(rectangle.y + rectangle.height);
    cairo_rectangle(cr, left, top, right - left, bottom - top);
}

static void add_diagonals(cairo_t *cr, struct rectangle area, double step)
{
    for (double x = area.x - area.height; x < area.x + area.width; x += step) {
        cairo_move_to(cr, x, area.y + area.height);
        cairo_line_to(cr, x + area.height, area.y);
    }
}

static void add_horizontals(cairo_t *cr, struct rectangle area, double step)
{
    for (double y = area.y + step / 2; y < area.y + area.height; y += step) {
        cairo_move_to(cr, area.x, y);
        cairo_line_to(cr, area.x + area.width, y);
    }
}

static void add_verticals(cairo_t *cr, struct rectangle area, double step)
{
    for (double x = area.x + step / 2; x < area.x + area.width; x += step) {
        cairo_move_to(cr, x, area.y);
        cairo_line_to(cr, x, area.y + area.height);
    }
}

static void add_hatch(cairo_t *cr, enum hatch hatch, struct rectangle area)
{
    if (hatch == HATCH_DIAGONAL)
        add_diagonals(cr, area, 5);
    if (hatch == HATCH_HORIZONTAL || hatch == HATCH_CROSS)
        add_horizontals(cr, area, 3);
    if (hatch == HATCH_VERTICAL || hatch == HATCH_CROSS)
        add_verticals(cr, area, 3);
}

void style_paint(cairo_t *cr, struct colour fill, enum hatch hatch, double line, struct rectangle area)
{
    cairo_path_t *path = hatch != HATCH_NONE ? cairo_copy_path(cr) : NULL;
    canvas_set_colour(cr, fill);
    cairo_fill_preserve(cr);
    if (path) {
        cairo_save(cr);
        cairo_clip(cr);
        add_hatch(cr, hatch, area);
        canvas_set_colour(cr, colour_mix(fill, style_line(fill), 0.62));
        cairo_set_line_width(cr, 0.7);
        cairo_stroke(cr);
        cairo_restore(cr);
        cairo_append_path(cr, path);
        cairo_path_destroy(path);
    }
    canvas_set_colour(cr, style_line(fill));
    cairo_set_line_width(cr, line);
    if (line > 0)
        cairo_stroke(cr);
    cairo_new_path(cr);
}

void style_swatch(cairo_t *cr, struct rectangle rectangle, struct colour fill, enum hatch hatch)
{
    style_add_rectangle(cr, rectangle);
    style_paint(cr, fill, hatch, 0.6, rectangle);
}

double picture_draw_head(cairo_t *cr, const struct picture_head *head, bool draw)
{
    static const struct canvas_font screen_title = {13, true}, paper_title = {9.5, true}, plain = {9.5, false};
    static const double line = 12.5;
    double room = head->width - 2 * head->margin, y = 10;
    const char *subtitle = head->subtitle ? head->subtitle : "";
    if (head->paper) {
        y += line * canvas_text_lines(cr, head->margin, y, room, line, paper_title, style_text, head->title, draw);
        y += line * canvas_text_lines(cr, head->margin, y, room, line, plain, style_faint, subtitle, draw);
    } else if (draw) {
        canvas_text_within(cr, head->margin, 28, room, screen_title, style_text, head->title);
        canvas_text_within(cr, head->margin, 45, room, plain, style_faint, subtitle);
    }
    return y;
}
