/* SPDX-License-Identifier: Apache-2.0 */
/* How many sequences go on, and how many requests are in the engine or wait for it, over time. */
#include "analysis/pictures/axis.h"
#include "analysis/pictures/gantt_style.h"
#include "base/arena.h"
#include "base/table.h"
#include "cluster/serving/serving_output.h"

#include <math.h>
#include <stdlib.h>

static const double usual_width = 980, margin = 18, left = 74, panel = 110, top = 78, gap = 44;
static const struct canvas_font title_font = {13, true}, text_font = {9.5, false};
enum { COLUMNS = 1600 }; /* of a panel; the most in each is shown */

struct page {
    const struct serving_view *view;
    double begin, span, width, plot_width;
    double going[COLUMNS], there[COLUMNS];
};

static double column_of(const struct page *page, double time)
{
    double column = floor((time - page->begin) / page->span * COLUMNS);
    return fmin(fmax(column, 0), COLUMNS - 1);
}

static void add(const struct page *page, double *columns, double from, double to, double value)
{
    for (double i = column_of(page, from); i <= column_of(page, to); i++)
        columns[(int)i] = fmax(columns[(int)i], value);
}

struct event {
    double time;
    int change;
};

static int by_time(const void *left_event, const void *right_event)
{
    const struct event *a = left_event, *b = right_event;
    int order = (a->time > b->time) - (a->time < b->time);
    return order ? order : a->change - b->change;
}

/* Requests that have come and have not ended. */
static void count_there(struct page *page)
{
    const struct serving *serving = page->view->serving;
    struct event *events = array_zeroed(2 * (size_t)serving->count + 1, sizeof *events);
    double there = 0;
    for (uint32_t i = 0; i < serving->count; i++) {
        events[2 * i] = (struct event){page->view->arrivals[i], 1};
        events[2 * i + 1] = (struct event){page->view->run->outcomes[i].last, -1};
    }
    qsort(events, 2 * (size_t)serving->count, sizeof *events, by_time);
    for (uint32_t i = 0; i + 1 < 2 * serving->count; i++) {
        there += events[i].change;
        add(page, page->there, events[i].time, events[i + 1].time, there);
    }
    free(events);
}

static void draw_panel(cairo_t *cr, const struct page *page, double y, const char *title, const double *columns,
                       uint32_t colour)
{
    double bottom = y + panel, height = panel - 14, most = 1;
    char text[24];
    for (int i = 0; i < COLUMNS; i++)
        most = fmax(most, columns[i]);
    axis_draw_grid(cr, left, page->plot_width, y + 14, bottom, page->span, GANTT_SECONDS);
    cairo_new_path(cr);
    cairo_move_to(cr, left, bottom);
    for (int i = 0; i < COLUMNS; i++) {
        cairo_line_to(cr, left + page->plot_width * i / COLUMNS, bottom - height * columns[i] / most);
        cairo_line_to(cr, left + page->plot_width * (i + 1) / COLUMNS, bottom - height * columns[i] / most);
    }
    cairo_line_to(cr, left + page->plot_width, bottom);
    cairo_close_path(cr);
    style_paint(cr, colour_hex(colour), HATCH_NONE, 0.6, (struct rectangle){left, y + 14, page->plot_width, height});
    canvas_text(cr, margin, y + 6, ALIGN_LEFT, text_font, style_faint, title);
    snprintf(text, sizeof text, "%.0f", most);
    canvas_text(cr, left - 6, y + 17.4, ALIGN_RIGHT, text_font, style_text, text);
    canvas_text(cr, left - 6, bottom + 3.4, ALIGN_RIGHT, text_font, style_text, "0");
}

static const char *describe(char *text, size_t size, const struct serving_view *view)
{
    char first[READABLE_MAX], next[READABLE_MAX];
    snprintf(text, size, "%u requests, %.6g tokens/s: first token after %s, each further one after %s on average",
             view->serving->count, view->figures->outputs / view->figures->makespan,
             readable_seconds(first, view->figures->first.mean), readable_seconds(next, view->figures->next.mean));
    return text;
}

bool serving_picture(FILE *out, const struct serving_view *view, enum canvas_format format,
                     const struct picture_form *form, struct fault *fault)
{
    char text[256];
    struct page *page = array_zeroed(1, sizeof *page);
    *page = (struct page){.view = view,
                          .begin = view->serving->requests[0].arrival,
                          .span = view->figures->makespan,
                          .width = picture_page_width(form, usual_width)};
    page->plot_width = page->width - left - margin;
    for (size_t i = 0; i < view->run->span_count; i++)
        add(page, page->going, view->run->spans[i].from, view->run->spans[i].to, view->run->spans[i].decoding);
    count_there(page);
    struct canvas_caption caption = {.title = view->scenario->name,
                                     .description = describe(text, sizeof text, view),
                                     .prefix = picture_prefix(form),
                                     .scale = picture_scale(form)};
    double second = top + panel + gap;
    struct canvas *canvas = canvas_create(format, page->width, second + panel + axis_height + margin, &caption);
    cairo_t *cr = canvas_context(canvas);
    canvas_text_within(cr, margin, 28, page->width - 2 * margin, title_font, style_text, view->scenario->name);
    canvas_text_within(cr, margin, 45, page->width - 2 * margin, text_font, style_faint, text);
    draw_panel(cr, page, top, "sequences that go on, at most", page->going, 0x88CCEE);
    draw_panel(cr, page, second, "requests that have come and have not ended", page->there, 0xDDCC77);
    axis_draw_time(cr, left, second + panel, page->plot_width, page->span, GANTT_SECONDS);
    free(page);
    return canvas_finish(canvas, out, fault);
}
