/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes over time with the jobs that have them, and below the nodes in use and the jobs that wait. */
#include "analysis/pictures/axis.h"
#include "analysis/pictures/gantt_style.h"
#include "base/arena.h"
#include "base/table.h"
#include "cluster/answers/queue_page.h"

#include <math.h>
#include <string.h>

static const double usual_width = 980, margin = 18, left = 74, plot_most = 520, row_most = 20, panel = 84, gap = 30;
static const struct canvas_font title_font = {13, true}, text_font = {9.5, false};

/* Where nodes are not drawn the panels below say what can still be seen. Levels are joined from here on. */
enum { LEVELS_MAX = 4000, COLOURS = 10 };
/* Paul Tol's muted scheme (personal.sron.nl/~pault, "Colour schemes", 2021) and a light grey of its own: told apart by
 * colour-blind readers. */
static const uint32_t colours[COLOURS] = {0x88CCEE, 0xDDCC77, 0xCC6677, 0x44AA99, 0xAA4499,
                                          0x999933, 0x332288, 0x117733, 0x882255, 0xC8C8C8};

struct page {
    const struct queue_drawing *drawing;
    double width, height, plot_width, top, row, plot_height; /* plot_height 0: nodes are not drawn */
};

static double place_of(const struct page *page, double time)
{
    return left + page->plot_width * (time - page->drawing->begin) / page->drawing->span;
}

static struct page lay_out(const struct queue_drawing *drawing, const struct picture_form *form)
{
    struct page page = {.drawing = drawing, .width = picture_page_width(form, usual_width), .top = 74};
    page.plot_width = page.width - left - margin;
    page.row = fmin(row_most, plot_most / drawing->nodes);
    page.plot_height = drawing->draws ? page.row * drawing->nodes : 0;
    page.height = page.top + page.plot_height + 2 * (panel + gap) + axis_height + margin;
    return page;
}

/* ---- nodes ---- */

static struct rectangle box_of(const struct page *page, const struct queue_box *shown)
{
    double x = place_of(page, shown->from);
    return (struct rectangle){x, page->top + page->row * shown->first, place_of(page, shown->to) - x,
                              page->row * shown->count};
}

static void draw_box(cairo_t *cr, const struct page *page, const struct queue_box *shown)
{
    struct colour fill = colour_hex(colours[shown->job % COLOURS]);
    struct rectangle box = box_of(page, shown);
    double x = box.x, end = place_of(page, shown->to), works = place_of(page, shown->from + shown->stalled);
    style_add_rectangle(cr, box);
    style_paint(cr, fill, HATCH_NONE, box.width > 3 && page->row > 3 ? 0.4 : 0, box);
    if (shown->stalled > 0 && works - x > 0.5) {
        struct rectangle stalled = {x, box.y, works - x, box.height};
        style_add_rectangle(cr, stalled);
        style_paint(cr, colour_mix(fill, style_idle, 0.6), HATCH_DIAGONAL, 0, stalled);
    }
    double width = canvas_text_width(cr, text_font, shown->name);
    if (width + 4 < end - works && box.height > 11)
        canvas_text(cr, (works + end) / 2, box.y + box.height / 2 + 3.4, ALIGN_CENTRE, text_font, style_ink(fill),
                    shown->name);
}

static void draw_away(cairo_t *cr, const struct page *page, const struct queue_away *away)
{
    double x = place_of(page, away->from), end = place_of(page, away->to);
    struct rectangle box = {x, page->top + page->row * away->node, end - x, page->row};
    style_add_rectangle(cr, box);
    style_paint(cr, colour_hex(0x303030), HATCH_NONE, 0, box);
}

static void draw_nodes(cairo_t *cr, const struct page *page)
{
    const struct queue_drawing *drawing = page->drawing;
    uint32_t step = (uint32_t)ceil(12 / page->row);
    char text[16];
    struct rectangle ground = {left, page->top, page->plot_width, page->plot_height};
    style_add_rectangle(cr, ground);
    style_paint(cr, style_idle, HATCH_NONE, 0, ground);
    axis_draw_grid(cr, left, page->plot_width, page->top, page->top + page->plot_height, drawing->span, GANTT_SECONDS);
    for (uint32_t node = 0; node < drawing->nodes; node += step) {
        snprintf(text, sizeof text, "%u", node);
        canvas_text(cr, left - 6, page->top + page->row * (node + 0.5) + 3.4, ALIGN_RIGHT, text_font, style_text, text);
    }
    canvas_text(cr, margin, page->top - 6, ALIGN_LEFT, text_font, style_faint, "node");
    for (size_t i = 0; i < drawing->box_count; i++)
        draw_box(cr, page, &drawing->boxes[i]);
    for (size_t i = 0; i < drawing->away_count; i++)
        draw_away(cr, page, &drawing->away[i]);
}

/* ---- levels ---- */

static double level_of(const struct queue_level *level, bool waiting)
{
    return waiting ? level->waiting : level->nodes;
}

/* Filled steps. Of many levels the highest in each half unit is shown. */
static void draw_steps(cairo_t *cr, const struct page *page, double bottom, double most, bool waiting)
{
    const struct queue_drawing *drawing = page->drawing;
    double x = left, y = 0;
    cairo_new_path(cr);
    cairo_move_to(cr, left, bottom);
    for (size_t i = 0, next; i < drawing->level_count; i = next) {
        double value = level_of(&drawing->levels[i], waiting), from = place_of(page, drawing->levels[i].time);
        for (next = i + 1; drawing->level_count > LEVELS_MAX && next < drawing->level_count &&
                           place_of(page, drawing->levels[next].time) < from + 0.5;
             next++)
            value = fmax(value, level_of(&drawing->levels[next], waiting));
        cairo_line_to(cr, canvas_snap(from), canvas_snap(bottom - y));
        y = most > 0 ? (panel - 12) * value / most : 0;
        cairo_line_to(cr, canvas_snap(from), canvas_snap(bottom - y));
        x = from;
    }
    cairo_line_to(cr, canvas_snap(fmax(x, left + page->plot_width)), canvas_snap(bottom - y));
    cairo_line_to(cr, left + page->plot_width, bottom);
    cairo_close_path(cr);
    style_paint(cr, colour_hex(waiting ? 0xE39A5B : 0x7FAEDB), HATCH_NONE, 0.6,
                (struct rectangle){left, bottom - panel, page->plot_width, panel});
}

static void draw_panel(cairo_t *cr, const struct page *page, double top, const char *title, double most, bool waiting)
{
    char text[24];
    double bottom = top + panel, height = panel - 12;
    axis_draw_grid(cr, left, page->plot_width, top + 12, bottom, page->drawing->span, GANTT_SECONDS);
    draw_steps(cr, page, bottom, most, waiting);
    canvas_text(cr, margin, top + 4, ALIGN_LEFT, text_font, style_faint, title);
    snprintf(text, sizeof text, "%.0f", most);
    canvas_text(cr, left - 6, bottom - height + 3.4, ALIGN_RIGHT, text_font, style_text, text);
    canvas_text(cr, left - 6, bottom + 3.4, ALIGN_RIGHT, text_font, style_text, "0");
    canvas_set_colour(cr, style_grid);
    cairo_set_line_width(cr, 0.8);
    cairo_move_to(cr, left, bottom - height);
    cairo_line_to(cr, left + page->plot_width, bottom - height);
    cairo_stroke(cr);
}

static void draw(cairo_t *cr, const struct page *page)
{
    const struct queue_drawing *drawing = page->drawing;
    double room = page->width - 2 * margin, y = page->top + page->plot_height;
    canvas_text_within(cr, margin, 28, room, title_font, style_text, drawing->title);
    canvas_text_within(cr, margin, 45, room, text_font, style_faint, drawing->description);
    if (page->plot_height > 0)
        draw_nodes(cr, page);
    draw_panel(cr, page, y + gap - 12, "nodes in use", drawing->nodes, false);
    draw_panel(cr, page, y + panel + 2 * gap - 12, "jobs waiting", drawing->longest, true);
    axis_draw_time(cr, left, y + 2 * (panel + gap) - 12, page->plot_width, drawing->span, GANTT_SECONDS);
}

bool queue_picture(FILE *out, const struct queue_drawing *drawing, enum canvas_format format,
                   const struct picture_form *form, struct fault *fault)
{
    struct page page = lay_out(drawing, form);
    struct canvas_caption caption = {.title = drawing->title,
                                     .description = drawing->description,
                                     .prefix = picture_prefix(form),
                                     .scale = picture_scale(form)};
    struct canvas *canvas = canvas_create(format, page.width, page.height, &caption);
    draw(canvas_context(canvas), &page);
    return canvas_finish(canvas, out, fault);
}

void queue_picture_place(const struct queue_drawing *drawing, const struct picture_form *form,
                         const struct queue_box *shown, double place[4])
{
    struct page page = lay_out(drawing, form);
    struct rectangle box = box_of(&page, shown);
    place[0] = box.x;
    place[1] = box.y;
    place[2] = box.width;
    place[3] = box.height;
}
