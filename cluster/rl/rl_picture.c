/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of GPUs over time with the phases of steps, and below the samples of the first step that are not done. */
#include "analysis/pictures/axis.h"
#include "analysis/pictures/gantt_style.h"
#include "base/arena.h"
#include "base/table.h"
#include "cluster/rl/rl_output.h"

#include <math.h>
#include <string.h>

static const double usual_width = 980, margin = 18, left = 74, row = 34, panel = 120, top = 92, gap = 52;
static const struct canvas_font title_font = {13, true}, text_font = {9.5, false};
/* Paul Tol's muted scheme (personal.sron.nl/~pault, "Colour schemes", 2021): told apart by colour-blind readers. */
static const struct look {
    uint32_t colour;
    enum hatch hatch;
} looks[RL_KINDS] = {[RL_GENERATES] = {0x88CCEE, HATCH_NONE},   [RL_SCORES] = {0xDDCC77, HATCH_NONE},
                     [RL_TRAINS] = {0x44AA99, HATCH_NONE},      [RL_TRANSFERS] = {0xCC6677, HATCH_DIAGONAL},
                     [RL_MOVES] = {0xAA4499, HATCH_HORIZONTAL}, [RL_RESTS] = {0xC8C8C8, HATCH_VERTICAL}};

struct page {
    const struct rl_view *view;
    struct rl_boxes boxes;
    double width, height, plot_width;
};

static double place_of(const struct page *page, double time, double span)
{
    return left + page->plot_width * time / span;
}

/* ---- pools ---- */

static void draw_box(cairo_t *cr, const struct page *page, const struct rl_box *box)
{
    double x = place_of(page, box->from, page->boxes.end), end = place_of(page, box->to, page->boxes.end);
    struct rectangle area = {x, top + row * box->pool + 3, end - x, row - 6};
    struct colour fill = colour_hex(looks[box->kind].colour);
    char text[16];
    style_add_rectangle(cr, area);
    style_paint(cr, fill, looks[box->kind].hatch, area.width > 2 ? 0.4 : 0, area);
    snprintf(text, sizeof text, "%u", box->step + 1);
    if ((box->kind == RL_GENERATES || box->kind == RL_TRAINS) &&
        canvas_text_width(cr, text_font, text) + 4 < area.width)
        canvas_text(cr, x + area.width / 2, area.y + area.height / 2 + 3.4, ALIGN_CENTRE, text_font, style_ink(fill),
                    text);
}

static void draw_pools(cairo_t *cr, const struct page *page)
{
    const struct rl_boxes *boxes = &page->boxes;
    double height = row * boxes->pools;
    struct rectangle ground = {left, top, page->plot_width, height};
    style_add_rectangle(cr, ground);
    style_paint(cr, style_idle, HATCH_NONE, 0, ground);
    axis_draw_grid(cr, left, page->plot_width, top, top + height, boxes->end, GANTT_SECONDS);
    for (uint32_t pool = 0; pool < boxes->pools; pool++)
        canvas_text(cr, left - 6, top + row * (pool + 0.5) + 3.4, ALIGN_RIGHT, text_font, style_text,
                    rl_pool_name(page->view, pool));
    for (uint32_t i = 0; i < boxes->count; i++)
        draw_box(cr, page, &boxes->items[i]);
    axis_draw_time(cr, left, top + height, page->plot_width, boxes->end, GANTT_SECONDS);
}

static void draw_legend(cairo_t *cr, const struct page *page)
{
    bool there[RL_KINDS] = {false};
    double x = left;
    for (uint32_t i = 0; i < page->boxes.count; i++)
        there[page->boxes.items[i].kind] = true;
    for (int kind = 0; kind < RL_KINDS; kind++) {
        if (!there[kind])
            continue;
        style_swatch(cr, (struct rectangle){x, top - 24, 12, 10}, colour_hex(looks[kind].colour), looks[kind].hatch);
        canvas_text(cr, x + 17, top - 15, ALIGN_LEFT, text_font, style_text, rl_kind_names[kind]);
        x += 17 + canvas_text_width(cr, text_font, rl_kind_names[kind]) + 18;
    }
}

/* ---- samples ---- */

/* How many of the first step's samples are not done. */
static void draw_samples(cairo_t *cr, const struct page *page, double y)
{
    const struct rl_generation *batch = &page->view->figures->batches[0];
    double span = batch->done[batch->count - 1], bottom = y + panel, height = panel - 14;
    char text[32];
    axis_draw_grid(cr, left, page->plot_width, y + 14, bottom, span, GANTT_SECONDS);
    cairo_new_path(cr);
    cairo_move_to(cr, left, bottom);
    cairo_line_to(cr, left, bottom - height);
    for (uint32_t i = 0; i < batch->count; i++) {
        double x = place_of(page, batch->done[i], span);
        if (i + 1 < batch->count && place_of(page, batch->done[i + 1], span) < x + 0.5)
            continue;
        cairo_line_to(cr, x, bottom - height * (batch->count - i - 1) / batch->count);
    }
    cairo_line_to(cr, left + page->plot_width, bottom);
    cairo_close_path(cr);
    style_paint(cr, colour_hex(looks[RL_GENERATES].colour), HATCH_NONE, 0.6,
                (struct rectangle){left, y + 14, page->plot_width, height});
    double x = place_of(page, batch->done[(uint32_t)ceil(0.95 * batch->count) - 1], span);
    canvas_set_colour(cr, style_critical);
    cairo_set_line_width(cr, 1);
    cairo_move_to(cr, x, y + 14);
    cairo_line_to(cr, x, bottom);
    cairo_stroke(cr);
    canvas_text(cr, fmin(x + 4, left + page->plot_width - 130), y + 26, ALIGN_LEFT, text_font, style_text,
                "95 % of samples are done");
    canvas_text(cr, margin, y + 6, ALIGN_LEFT, text_font, style_faint, "samples of step 1 that are not done");
    snprintf(text, sizeof text, "%u", batch->count);
    canvas_text(cr, left - 6, y + 17.4, ALIGN_RIGHT, text_font, style_text, text);
    canvas_text(cr, left - 6, bottom + 3.4, ALIGN_RIGHT, text_font, style_text, "0");
    axis_draw_time(cr, left, bottom, page->plot_width, span, GANTT_SECONDS);
}

/* ---- all together ---- */

static const char *describe(char *text, size_t size, const struct rl_view *view)
{
    const struct rl_figures *f = view->figures;
    char step[READABLE_MAX], tail[READABLE_MAX], one[READABLE_MAX], two[READABLE_MAX];
    snprintf(text, size,
             "%s, %u GPU%s: a step takes %s; the last 5 %% of samples hold the engines for %s of generation",
             rl_arrangement_names[view->rl->values.arrangement], f->gpus, readable_plural(f->gpus),
             readable_seconds(step, f->step), readable_percent(tail, f->tail));
    if (view->rl->values.arrangement != RL_COLOCATED)
        snprintf(text + strlen(text), size - strlen(text), "; engines are busy %s, the trainer %s",
                 readable_percent(one, f->generation.busy), readable_percent(two, f->training.busy));
    return text;
}

bool rl_picture(FILE *out, const struct rl_view *view, enum canvas_format format, const struct picture_form *form,
                struct fault *fault)
{
    char text[320];
    struct arena *arena = arena_create();
    struct page page = {
        .view = view, .boxes = rl_boxes_of(view, arena), .width = picture_page_width(form, usual_width)};
    double below = top + row * page.boxes.pools + gap;
    page.plot_width = page.width - left - margin;
    page.height = below + panel + axis_height + margin;
    struct canvas_caption caption = {.title = view->scenario->name,
                                     .description = describe(text, sizeof text, view),
                                     .prefix = picture_prefix(form),
                                     .scale = picture_scale(form)};
    struct canvas *canvas = canvas_create(format, page.width, page.height, &caption);
    cairo_t *cr = canvas_context(canvas);
    double room = page.width - 2 * margin;
    canvas_text_within(cr, margin, 28, room, title_font, style_text, view->scenario->name);
    canvas_text_within(cr, margin, 45, room, text_font, style_faint, text);
    draw_legend(cr, &page);
    draw_pools(cr, &page);
    draw_samples(cr, &page, below);
    arena_destroy(arena);
    return canvas_finish(canvas, out, fault);
}
