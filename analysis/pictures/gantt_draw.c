/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/gantt_draw.h"

#include "analysis/pictures/picture_form.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether b only continues a, both or one of them too narrow to be seen alone. */
static bool can_merge(const struct gantt_box *a, struct rectangle first, const struct gantt_box *b,
                      struct rectangle next)
{
    bool narrow = first.width < 1 || next.width < 1;
    return a->row == b->row && a->lane == b->lane && a->half == b->half && a->tier == b->tier && narrow &&
           next.x - (first.x + first.width) < 0.3;
}

/* All boxes of one look as one path. */
static bool add_boxes(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y,
                      unsigned kind, unsigned shade)
{
    struct rectangle pending = {0};
    const struct gantt_box *last = NULL;
    for (size_t i = 0; i < gantt->box_count; i++) {
        const struct gantt_box *box = &gantt->boxes[i];
        if (box->kind != kind || box->shade != shade || !(box->end > box->start))
            continue;
        struct rectangle place = gantt_box_place(layout, box, x, y);
        if (last && can_merge(last, pending, box, place)) {
            pending.width = fmax(pending.width, place.x + place.width - pending.x);
            continue;
        }
        if (last)
            style_add_rectangle(cr, pending);
        pending = place;
        pending.width = fmax(pending.width, 0.25);
        last = box;
    }
    if (last)
        style_add_rectangle(cr, pending);
    return last != NULL;
}

static void draw_boxes(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y)
{
    struct rectangle area = {x, y, layout->wish.width, layout->height};
    for (unsigned kind = 0; kind < GANTT_KINDS; kind++) {
        for (unsigned shade = 0; shade < gantt->shades; shade++) {
            if (add_boxes(cr, gantt, layout, x, y, kind, shade))
                style_paint(cr, gantt_fill(kind, shade, gantt->shades), gantt_hatch(kind), layout->line, area);
        }
    }
}

/* Glyphs of many labels of one colour, shown at once: a third of the bytes of as many texts. */
struct glyphs {
    cairo_glyph_t *items;
    size_t count, capacity;
};

static const char *number_text(char *text, size_t size, const struct gantt_box *box)
{
    snprintf(text, size, "%u%s", box->number, box->part == 0 ? "" : box->part == 1 ? "a" : "b");
    return text;
}

static void add_label(cairo_t *cr, struct glyphs *glyphs, const char *text, struct rectangle place, double size)
{
    cairo_scaled_font_t *font = cairo_get_scaled_font(cr);
    cairo_text_extents_t extents;
    cairo_scaled_font_text_extents(font, text, &extents);
    if (extents.x_advance > place.width - 1 || size > place.height)
        return;
    double left = canvas_snap(place.x + (place.width - extents.x_advance) / 2);
    double baseline = canvas_snap(place.y + place.height / 2 + size * 0.36);
    cairo_glyph_t *found = NULL;
    int count = 0;
    if (cairo_scaled_font_text_to_glyphs(font, left, baseline, text, -1, &found, &count, NULL, NULL, NULL) ==
        CAIRO_STATUS_SUCCESS) {
        glyphs->items =
            array_grow(glyphs->items, &glyphs->capacity, glyphs->count + (size_t)count, sizeof *glyphs->items);
        memcpy(glyphs->items + glyphs->count, found, (size_t)count * sizeof *found);
        glyphs->count += (size_t)count;
    }
    cairo_glyph_free(found);
}

static void draw_labels(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y)
{
    for (int light = 0; light <= 1; light++) {
        struct glyphs glyphs = {0};
        canvas_set_font(cr, (struct canvas_font){layout->label_size, false});
        for (size_t i = 0; i < gantt->box_count; i++) {
            const struct gantt_box *box = &gantt->boxes[i];
            bool is_light = style_ink(gantt_fill(box->kind, box->shade, gantt->shades)).red > 0.5;
            char text[16];
            if (box->lane == GANTT_LANE_COMPUTE && box->number != GANTT_NO_NUMBER && is_light == (light != 0))
                add_label(cr, &glyphs, number_text(text, sizeof text, box), gantt_box_place(layout, box, x, y),
                          layout->label_size);
        }
        canvas_set_colour(cr, light ? colour_hex(0xFFFFFF) : style_text);
        if (glyphs.count)
            cairo_show_glyphs(cr, glyphs.items, (int)glyphs.count);
        free(glyphs.items);
    }
}

static double row_middle(const struct gantt_layout *layout, double y, uint32_t row)
{
    return y + row / layout->group * layout->pitch + layout->box / 2;
}

static void add_arrow(cairo_t *cr, const struct gantt_layout *layout, const struct gantt_arrow *arrow, double x,
                      double y)
{
    const double cos_barb = 0.877582561890372716, sin_barb = 0.479425538604203; /* of half a radian */
    bool down = arrow->to > arrow->from;
    double x1 = x + arrow->start * gantt_points_per_time(layout), x2 = x + arrow->end * gantt_points_per_time(layout);
    double y1 = row_middle(layout, y, arrow->from) + (down ? 0.5 : -0.5) * layout->box;
    double y2 = row_middle(layout, y, arrow->to) - (down ? 0.5 : -0.5) * layout->box;
    double length = sqrt((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1));
    double along = length > 0 ? (x2 - x1) / length : 1, across = length > 0 ? (y2 - y1) / length : 0;
    cairo_move_to(cr, canvas_snap(x1), canvas_snap(y1));
    cairo_line_to(cr, canvas_snap(x2), canvas_snap(y2));
    for (int side = -1; side <= 1; side += 2) {
        double turned = side * sin_barb;
        cairo_move_to(cr, canvas_snap(x2 - 3 * (along * cos_barb - across * turned)),
                      canvas_snap(y2 - 3 * (across * cos_barb + along * turned)));
        cairo_line_to(cr, canvas_snap(x2), canvas_snap(y2));
    }
}

bool gantt_shows_arrows(const struct gantt *gantt, const struct gantt_layout *layout)
{
    return !layout->wish.plain && !layout->strips && gantt->arrow_count > 0 && gantt->arrow_count <= GANTT_ARROWS_MOST;
}

static void draw_arrows(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y)
{
    for (size_t i = 0; i < gantt->arrow_count; i++)
        add_arrow(cr, layout, &gantt->arrows[i], x, y);
    canvas_set_colour(cr, colour_mix(style_text, colour_hex(0xFFFFFF), 0.25));
    cairo_set_line_width(cr, 0.7);
    cairo_stroke(cr);
}

void gantt_draw_ground(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y)
{
    for (uint32_t row = 0; row < layout->rows; row++) {
        double top = y + row * layout->pitch;
        style_add_rectangle(
            cr, (struct rectangle){x, top, gantt->end * gantt_points_per_time(layout), layout->box + layout->lane});
    }
    canvas_set_colour(cr, style_idle);
    cairo_fill(cr);
}

struct canvas_font gantt_label_font(const struct gantt_layout *layout)
{
    double most = picture_text_size, fits = fmax(6.5, fmin(most, layout->pitch * 0.72));
    return (struct canvas_font){layout->wish.paper ? most : fits, false};
}

bool gantt_has_label(const struct gantt_layout *layout, uint32_t row)
{
    static const uint32_t steps[] = {1, 2, 4, 5, 8, 10};
    double needed = gantt_label_font(layout).size * 1.15 / layout->pitch;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] >= needed)
            return row % steps[i] == 0;
    }
    return row % 20 == 0;
}

const char *gantt_group_label(char *text, size_t size, const struct gantt *gantt, const struct gantt_layout *layout,
                              uint32_t row)
{
    size_t first = (size_t)row * layout->group, last = first + layout->group - 1;
    if (last >= gantt->row_count)
        last = gantt->row_count - 1;
    if (first == last)
        snprintf(text, size, "%s", gantt->rows[first].label);
    else
        snprintf(text, size, "%s \xe2\x80\x93 %s", gantt->rows[first].label, gantt->rows[last].label);
    return text;
}

double gantt_label_width(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout)
{
    double widest = 0;
    char text[128];
    for (uint32_t row = 0; row < layout->rows; row++)
        widest = fmax(widest, canvas_text_width(cr, gantt_label_font(layout),
                                                gantt_group_label(text, sizeof text, gantt, layout, row)));
    return widest;
}

static void draw_row_labels(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x,
                            double y)
{
    struct canvas_font font = gantt_label_font(layout);
    char text[128];
    for (uint32_t row = 0; row < layout->rows; row++) {
        double baseline = y + row * layout->pitch + layout->box / 2 + font.size * 0.36;
        if (gantt_has_label(layout, row))
            canvas_text(cr, x - 7, baseline, ALIGN_RIGHT, font, style_text,
                        gantt_group_label(text, sizeof text, gantt, layout, row));
    }
}

void gantt_draw_rows(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y)
{
    draw_row_labels(cr, gantt, layout, x, y);
    if (layout->strips)
        gantt_draw_strips(cr, gantt, layout, x, y);
    else
        draw_boxes(cr, gantt, layout, x, y);
    if (layout->label_size > 0)
        draw_labels(cr, gantt, layout, x, y);
    if (gantt_shows_arrows(gantt, layout))
        draw_arrows(cr, gantt, layout, x, y);
    if (gantt_shows_critical(gantt, layout))
        gantt_draw_critical(cr, gantt, layout, x, y);
}
