/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/gantt_draw.h"

#include "analysis/pictures/picture_form.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double box_least = 2.4; /* points: where the mean box is narrower, strips are drawn */
static const double box_least_printed = 1.2;
static const size_t boxes_most = 24000; /* the same where a picture has more; bounds its size in bytes */
static const double label_least = 4.6, label_most = 9.5;
static const double digit_width = 0.637; /* of DejaVu Sans' digits, in font sizes */

struct widths {
    double sum[GANTT_KINDS];
    size_t count[GANTT_KINDS];
    uint32_t largest_number;
    bool parts, collectives;
};

static struct widths measure_widths(const struct gantt *gantt)
{
    struct widths widths = {0};
    for (size_t i = 0; i < gantt->box_count; i++) {
        const struct gantt_box *box = &gantt->boxes[i];
        widths.collectives |= box->lane == GANTT_LANE_COLLECTIVE;
        if (box->lane != GANTT_LANE_COMPUTE || !(box->end > box->start))
            continue;
        widths.sum[box->kind] += box->end - box->start;
        widths.count[box->kind]++;
        widths.parts |= box->part != 0;
        if (box->number != GANTT_NO_NUMBER && box->number > widths.largest_number)
            widths.largest_number = box->number;
    }
    return widths;
}

static unsigned digits_of(uint32_t number)
{
    unsigned digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

/* The size at which the largest number fits the mean box of those kinds for which that is legible. */
static double choose_label_size(const struct widths *widths, double per_second, double box, double least)
{
    double characters = digits_of(widths->largest_number) + (widths->parts ? 1 : 0), size = 0;
    for (int kind = GANTT_FORWARD; kind <= GANTT_WEIGHT; kind++) {
        if (widths->count[kind] == 0)
            continue;
        double room = widths->sum[kind] / widths->count[kind] * per_second - 1.6;
        double fits = fmin(fmin(room / (characters * digit_width), box * 0.62), label_most);
        if (fits >= least)
            size = size > 0 ? fmin(size, fits) : fits;
    }
    return size;
}

static double points_per_time(const struct gantt_layout *layout)
{
    return layout->wish.end > 0 ? layout->wish.width / layout->wish.end : 0;
}

struct gantt_layout gantt_lay_out(const struct gantt *gantt, const struct gantt_wish *wish)
{
    struct gantt_layout layout = {.wish = *wish, .group = 1, .tiers = gantt->tiers};
    struct widths widths = measure_widths(gantt);
    double busy = 0, per_second = points_per_time(&layout);
    size_t boxes = 0;
    for (int kind = 0; kind < GANTT_KINDS; kind++) {
        busy += widths.sum[kind];
        boxes += widths.count[kind];
    }
    layout.mean_width = boxes ? busy / boxes * per_second : wish->width;
    double narrowest = wish->paper ? box_least_printed : box_least;
    layout.strips = layout.mean_width < narrowest || boxes > boxes_most || gantt->row_count > wish->most_rows;
    if (gantt->row_count > wish->most_rows)
        layout.group = (uint32_t)((gantt->row_count + wish->most_rows - 1) / wish->most_rows);
    layout.rows = (uint32_t)((gantt->row_count + layout.group - 1) / layout.group);
    double share = widths.collectives ? 0.2 + 0.08 * gantt->tiers : 0, gap = 0.22;
    layout.box = fmax(3.5, fmin(wish->box_height, wish->most_height / fmax(1, layout.rows) / (1 + share + gap)));
    layout.box = floor(layout.box * 2) / 2;
    layout.lane = widths.collectives ? fmax(2, layout.box * share) : 0;
    layout.pitch = layout.box + layout.lane + fmax(1, floor(layout.box * gap));
    layout.height = layout.rows ? layout.rows * layout.pitch - (layout.pitch - layout.box - layout.lane) : 0;
    double least = wish->paper ? 0.75 * picture_text_size : label_least;
    layout.label_size = layout.strips ? 0 : choose_label_size(&widths, per_second, layout.box, least);
    layout.line = layout.strips ? 0 : fmax(0.2, fmin(0.6, layout.mean_width * 0.06));
    return layout;
}

static struct rectangle lane_rectangle(const struct gantt_layout *layout, double x, double y, uint32_t row,
                                       unsigned lane)
{
    double top = y + row / layout->group * layout->pitch;
    if (lane == GANTT_LANE_COLLECTIVE)
        return (struct rectangle){x, top + layout->box, layout->wish.width, layout->lane};
    return (struct rectangle){x, top, layout->wish.width, layout->box};
}

struct rectangle gantt_box_place(const struct gantt_layout *layout, const struct gantt_box *box, double x, double y)
{
    struct rectangle place = lane_rectangle(layout, x, y, box->row, box->lane);
    place.x = x + box->start * points_per_time(layout);
    place.width = (box->end - box->start) * points_per_time(layout);
    if (box->lane == GANTT_LANE_COLLECTIVE) {
        place.height /= layout->tiers;
        place.y += place.height * box->tier;
    }
    if (box->half != GANTT_WHOLE) {
        place.height /= 2;
        place.y += box->half == GANTT_LOWER ? place.height : 0;
    }
    return place;
}

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
    bool down = arrow->to > arrow->from;
    double x1 = x + arrow->start * points_per_time(layout), x2 = x + arrow->end * points_per_time(layout);
    double y1 = row_middle(layout, y, arrow->from) + (down ? 0.5 : -0.5) * layout->box;
    double y2 = row_middle(layout, y, arrow->to) - (down ? 0.5 : -0.5) * layout->box;
    double angle = atan2(y2 - y1, x2 - x1);
    cairo_move_to(cr, canvas_snap(x1), canvas_snap(y1));
    cairo_line_to(cr, canvas_snap(x2), canvas_snap(y2));
    for (int side = -1; side <= 1; side += 2) {
        cairo_move_to(cr, canvas_snap(x2 - 3 * cos(angle + side * 0.5)), canvas_snap(y2 - 3 * sin(angle + side * 0.5)));
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
            cr, (struct rectangle){x, top, gantt->end * points_per_time(layout), layout->box + layout->lane});
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
