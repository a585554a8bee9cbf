/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes over time with the jobs that have them, and below the nodes in use and the jobs that wait. */
#include "analysis/pictures/axis.h"
#include "analysis/pictures/gantt_style.h"
#include "base/arena.h"
#include "base/table.h"
#include "cluster/answers/queue_output.h"

#include <math.h>
#include <string.h>

static const double usual_width = 980, margin = 18, left = 74, plot_most = 520, row_most = 20, panel = 84, gap = 30;
static const struct canvas_font title_font = {13, true}, text_font = {9.5, false};

/* More boxes are not drawn: the panels below say what can still be seen. And levels are joined from here on. */
enum { BOXES_MAX = 20000, LEVELS_MAX = 4000, COLOURS = 10 };
/* Paul Tol's muted scheme (personal.sron.nl/~pault, "Colour schemes", 2021) and a light grey of its own: told apart by
 * colour-blind readers. */
static const uint32_t colours[COLOURS] = {0x88CCEE, 0xDDCC77, 0xCC6677, 0x44AA99, 0xAA4499,
                                          0x999933, 0x332288, 0x117733, 0x882255, 0xC8C8C8};

struct page {
    const struct queue_view *view;
    double begin, span;                                      /* seconds */
    double width, height, plot_width, top, row, plot_height; /* plot_height 0: nodes are not drawn */
};

static double place_of(const struct page *page, double time)
{
    return left + page->plot_width * (time - page->begin) / page->span;
}

static size_t boxes_of(const struct queue_run *run)
{
    size_t boxes = 0;
    for (size_t i = 0; i < run->span_count; i++)
        for (uint32_t k = 0; k < run->spans[i].count; k++)
            boxes += k == 0 || run->spans[i].nodes[k] != run->spans[i].nodes[k - 1] + 1;
    return boxes;
}

static struct page lay_out(const struct queue_view *view, const struct picture_form *form)
{
    struct page page = {.view = view,
                        .begin = view->run->request->jobs[0].submit,
                        .span = view->figures->makespan,
                        .width = picture_page_width(form, usual_width),
                        .top = 74};
    page.plot_width = page.width - left - margin;
    page.row = fmin(row_most, plot_most / view->run->request->nodes);
    page.plot_height = boxes_of(view->run) > BOXES_MAX ? 0 : page.row * view->run->request->nodes;
    page.height = page.top + page.plot_height + 2 * (panel + gap) + axis_height + margin;
    return page;
}

/* ---- nodes ---- */

static void draw_box(cairo_t *cr, const struct page *page, const struct queue_span *span, uint32_t first,
                     uint32_t count)
{
    const char *name = page->view->run->request->jobs[span->job].name;
    struct colour fill = colour_hex(colours[span->job % COLOURS]);
    double x = place_of(page, span->from), end = place_of(page, span->to);
    double works = place_of(page, span->from + span->stalled);
    struct rectangle box = {x, page->top + page->row * first, end - x, page->row * count};
    style_add_rectangle(cr, box);
    style_paint(cr, fill, HATCH_NONE, box.width > 3 && page->row > 3 ? 0.4 : 0, box);
    if (span->stalled > 0 && works - x > 0.5) {
        struct rectangle stalled = {x, box.y, works - x, box.height};
        style_add_rectangle(cr, stalled);
        style_paint(cr, colour_mix(fill, style_idle, 0.6), HATCH_DIAGONAL, 0, stalled);
    }
    double width = canvas_text_width(cr, text_font, name);
    if (width + 4 < end - works && box.height > 11)
        canvas_text(cr, (works + end) / 2, box.y + box.height / 2 + 3.4, ALIGN_CENTRE, text_font, style_ink(fill),
                    name);
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
    const struct queue_run *run = page->view->run;
    uint32_t step = (uint32_t)ceil(12 / page->row);
    char text[16];
    struct rectangle ground = {left, page->top, page->plot_width, page->plot_height};
    style_add_rectangle(cr, ground);
    style_paint(cr, style_idle, HATCH_NONE, 0, ground);
    axis_draw_grid(cr, left, page->plot_width, page->top, page->top + page->plot_height, page->span, GANTT_SECONDS);
    for (uint32_t node = 0; node < run->request->nodes; node += step) {
        snprintf(text, sizeof text, "%u", node);
        canvas_text(cr, left - 6, page->top + page->row * (node + 0.5) + 3.4, ALIGN_RIGHT, text_font, style_text, text);
    }
    canvas_text(cr, margin, page->top - 6, ALIGN_LEFT, text_font, style_faint, "node");
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        for (uint32_t k = 0, past; k < span->count; k = past) {
            for (past = k + 1; past < span->count && span->nodes[past] == span->nodes[past - 1] + 1; past++) {}
            draw_box(cr, page, span, span->nodes[k], past - k);
        }
    }
    for (size_t i = 0; i < run->away_count; i++)
        draw_away(cr, page, &run->away[i]);
}

/* ---- levels ---- */

static double level_of(const struct queue_level *level, bool waiting)
{
    return waiting ? level->waiting : level->nodes;
}

/* Filled steps. Of many levels the highest in each half unit is shown. */
static void draw_steps(cairo_t *cr, const struct page *page, double bottom, double most, bool waiting)
{
    const struct queue_figures *figures = page->view->figures;
    double x = left, y = 0;
    cairo_new_path(cr);
    cairo_move_to(cr, left, bottom);
    for (size_t i = 0, next; i < figures->level_count; i = next) {
        double value = level_of(&figures->levels[i], waiting), from = place_of(page, figures->levels[i].time);
        for (next = i + 1; figures->level_count > LEVELS_MAX && next < figures->level_count &&
                           place_of(page, figures->levels[next].time) < from + 0.5;
             next++)
            value = fmax(value, level_of(&figures->levels[next], waiting));
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
    axis_draw_grid(cr, left, page->plot_width, top + 12, bottom, page->span, GANTT_SECONDS);
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

static const char *describe(char *text, size_t size, const struct queue_view *view)
{
    char busy[READABLE_MAX], given[READABLE_MAX], wait[READABLE_MAX];
    snprintf(text, size, "%u jobs on %u nodes, %s: %s of the nodes' time given to jobs, %s busy, mean waiting %s",
             view->run->request->job_count, view->run->request->nodes, queue_policy_title(view->queue->options.policy),
             readable_percent(given, view->figures->allocated), readable_percent(busy, view->figures->busy),
             readable_seconds(wait, view->figures->means[QUEUE_WAIT].mean));
    return text;
}

static void draw(cairo_t *cr, const struct page *page, const char *description)
{
    const struct queue_view *view = page->view;
    double room = page->width - 2 * margin, y = page->top + page->plot_height;
    canvas_text_within(cr, margin, 28, room, title_font, style_text, view->scenario->name);
    canvas_text_within(cr, margin, 45, room, text_font, style_faint, description);
    if (page->plot_height > 0)
        draw_nodes(cr, page);
    draw_panel(cr, page, y + gap - 12, "nodes in use", view->run->request->nodes, false);
    draw_panel(cr, page, y + panel + 2 * gap - 12, "jobs waiting", view->figures->longest, true);
    axis_draw_time(cr, left, y + 2 * (panel + gap) - 12, page->plot_width, page->span, GANTT_SECONDS);
}

bool queue_picture(FILE *out, const struct queue_view *view, enum canvas_format format, const struct picture_form *form,
                   struct fault *fault)
{
    char text[256];
    struct page page = lay_out(view, form);
    struct canvas_caption caption = {.title = view->scenario->name,
                                     .description = describe(text, sizeof text, view),
                                     .prefix = picture_prefix(form),
                                     .scale = picture_scale(form)};
    struct canvas *canvas = canvas_create(format, page.width, page.height, &caption);
    draw(canvas_context(canvas), &page, text);
    return canvas_finish(canvas, out, fault);
}
