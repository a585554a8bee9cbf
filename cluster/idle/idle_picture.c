/* SPDX-License-Identifier: Apache-2.0 */
/* Two fields over the same time: nodes by job, one above the other, under the number of idle nodes; and how much of the
 * best was reached. Both are means over slices of time, so that weeks are as readable as minutes. */
#include "analysis/pictures/chart_scale.h"
#include "analysis/pictures/gantt_style.h"
#include "base/arena.h"
#include "base/table.h"
#include "cluster/idle/idle_view.h"

#include <math.h>
#include <string.h>

enum { SLICES = IDLE_SLICES, PARTS = IDLE_PARTS_SHOWN, LEGEND_JOBS = 10 };

static const double margin = 18, legend_line = 17;
static const struct canvas_font title_font = {13, true}, text_font = {9.5, false};
static const struct canvas_font paper_title = {9.5, true};

struct drawing {
    const struct idle_view *view;
    bool paper;
    double width, height, margin;
    size_t shown; /* jobs in the legend */
    struct chart_axis time_axis, node_axis, share_axis;
    struct chart_scale time, nodes, share;
};

static struct colour job_colour(size_t job)
{
    static const uint32_t colours[] = {0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0x56B4E9, 0xD55E00, 0xB8A800, 0x6A51A3};
    enum { COLOURS = sizeof colours / sizeof *colours };
    struct colour white = {1, 1, 1};
    return colour_mix(colour_hex(colours[job % COLOURS]), white, job / COLOURS % 3 * 0.35);
}

/* ---- layout ---- */

static double hours(const struct drawing *drawing)
{
    return drawing->view->duration / 3600;
}

/* Entries of the legend: the jobs, those that are not named, and nodes that nobody used. */
static size_t legend_entries(const struct drawing *drawing)
{
    return drawing->shown + (drawing->view->job_count > drawing->shown) + 1;
}

static void lay_out(struct drawing *drawing, const struct picture_form *form)
{
    drawing->paper = picture_on_paper(form);
    drawing->width = picture_page_width(form, 860);
    drawing->margin = drawing->paper ? 1 : margin;
    drawing->shown = drawing->view->job_count < LEGEND_JOBS ? drawing->view->job_count : LEGEND_JOBS;
    double left = drawing->margin + 40, right = drawing->width - drawing->margin - (drawing->paper ? 8 : 130);
    double top = drawing->paper ? 46 : 76, high = drawing->paper ? 110 : 240, low = drawing->paper ? 60 : 110;
    double most = 1;
    for (size_t i = 0; i < SLICES; i++)
        most = fmax(most, drawing->view->idle[i]);
    drawing->time_axis = (struct chart_axis){.label = "time, h"};
    drawing->node_axis = (struct chart_axis){.label = "nodes"};
    drawing->share_axis = (struct chart_axis){.label = "of the best", .quantity = CHART_PERCENT};
    drawing->time = chart_scale_of(&drawing->time_axis, 0, hours(drawing), drawing->paper ? 5 : 9);
    drawing->time.from = left; /* the axis ends with the replay, not with the next round number */
    drawing->time.to = left + (right - left) * (drawing->time.high - drawing->time.low) / hours(drawing);
    drawing->nodes = chart_scale_of(&drawing->node_axis, 0, most, 6);
    drawing->nodes.from = top + high;
    drawing->nodes.to = top;
    drawing->share = chart_scale_of(&drawing->share_axis, 0, 1, 5);
    drawing->share.from = top + high + 34 + low;
    drawing->share.to = top + high + 34;
    drawing->height = drawing->share.from + 40;
    if (drawing->paper)
        drawing->height += 13 * (double)((legend_entries(drawing) + 1) / 2) + 6;
}

static double right_of(const struct drawing *drawing)
{
    return chart_place(&drawing->time, hours(drawing));
}

/* ---- drawing ---- */

static void draw_frame(cairo_t *cr, const struct drawing *drawing, const struct chart_scale *scale)
{
    char text[48];
    double left = drawing->time.from, right = right_of(drawing);
    cairo_set_line_width(cr, 0.75);
    for (unsigned i = 0; i < scale->ticks; i++) {
        double y = canvas_snap(chart_tick_place(scale, i));
        cairo_move_to(cr, left, y);
        cairo_line_to(cr, right, y);
        canvas_set_colour(cr, style_grid);
        cairo_stroke(cr);
        canvas_text(cr, left - 6, y + 3.4, ALIGN_RIGHT, text_font, style_text,
                    chart_tick_text(text, sizeof text, scale, i));
    }
    canvas_text(cr, drawing->margin, scale->to - 8, ALIGN_LEFT, text_font, style_faint, scale->axis->label);
}

static void draw_time(cairo_t *cr, const struct drawing *drawing)
{
    char text[48];
    double y = drawing->share.from;
    for (unsigned i = 0; i < drawing->time.ticks; i++) {
        double x = chart_tick_place(&drawing->time, i);
        if (x > right_of(drawing) + 0.01)
            break;
        cairo_move_to(cr, canvas_snap(x), y);
        cairo_line_to(cr, canvas_snap(x), y + 4);
        canvas_set_colour(cr, style_text);
        cairo_stroke(cr);
        canvas_text(cr, x, y + 15, ALIGN_CENTRE, text_font, style_text,
                    chart_tick_text(text, sizeof text, &drawing->time, i));
    }
    canvas_text(cr, right_of(drawing), y + 29, ALIGN_RIGHT, text_font, style_faint, drawing->time_axis.label);
}

static double slice_x(const struct drawing *drawing, size_t slice, size_t count)
{
    return chart_place(&drawing->time, hours(drawing) * (double)slice / (double)count);
}

/* The band between two heights, slice by slice. */
static void fill_band(cairo_t *cr, const struct drawing *drawing, const double *below, const double *above,
                      struct colour colour)
{
    for (size_t i = 0; i < SLICES; i++) {
        double y = canvas_snap(chart_place(&drawing->nodes, above[i]));
        cairo_line_to(cr, canvas_snap(slice_x(drawing, i, SLICES)), y);
        cairo_line_to(cr, canvas_snap(slice_x(drawing, i + 1, SLICES)), y);
    }
    for (size_t i = SLICES; i-- > 0;) {
        double y = canvas_snap(chart_place(&drawing->nodes, below[i]));
        cairo_line_to(cr, canvas_snap(slice_x(drawing, i + 1, SLICES)), y);
        cairo_line_to(cr, canvas_snap(slice_x(drawing, i, SLICES)), y);
    }
    cairo_close_path(cr);
    canvas_set_colour(cr, colour);
    cairo_fill(cr);
}

static void draw_nodes(cairo_t *cr, const struct drawing *drawing)
{
    double below[SLICES] = {0}, above[SLICES] = {0};
    for (size_t job = 0; job < drawing->view->job_count; job++) {
        const double *nodes = drawing->view->jobs[job].nodes;
        bool any = false;
        for (size_t i = 0; i < SLICES; i++) {
            above[i] = below[i] + nodes[i];
            any = any || nodes[i] > 0;
        }
        if (any)
            fill_band(cr, drawing, below, above, job_colour(job));
        memcpy(below, above, sizeof below);
    }
    for (size_t i = 0; i < SLICES; i++)
        above[i] = fmax(above[i], drawing->view->idle[i]);
    fill_band(cr, drawing, below, above, style_idle);
}

static void draw_reached(cairo_t *cr, const struct drawing *drawing)
{
    bool open = false;
    for (size_t i = 0; i < PARTS; i++) {
        if (isnan(drawing->view->reached[i])) {
            open = false;
            continue;
        }
        double y = canvas_snap(chart_place(&drawing->share, drawing->view->reached[i]));
        (open ? cairo_line_to : cairo_move_to)(cr, canvas_snap(slice_x(drawing, i, PARTS)), y);
        cairo_line_to(cr, canvas_snap(slice_x(drawing, i + 1, PARTS)), y);
        open = true;
    }
    cairo_set_line_width(cr, 1.5);
    canvas_set_colour(cr, job_colour(0));
    cairo_stroke(cr);
}

static void draw_legend(cairo_t *cr, const struct drawing *drawing)
{
    size_t entries = legend_entries(drawing);
    for (size_t i = 0; i < entries; i++) {
        double x = drawing->paper ? drawing->margin + (double)(i % 2) * drawing->width / 2 : right_of(drawing) + 16;
        double y = drawing->paper ? drawing->share.from + 46 + 13 * (double)(i / 2)
                                  : drawing->nodes.to + 6 + legend_line * (double)i;
        bool job = i < drawing->shown, rest = i == drawing->shown && i + 1 < entries;
        struct arena *arena = arena_create();
        const char *text = job    ? drawing->view->jobs[i].name
                           : rest ? arena_print(arena, "%zu more jobs", drawing->view->job_count - drawing->shown)
                                  : "idle and not used";
        if (!rest)
            style_swatch(cr, (struct rectangle){x, y - 5, 12, 9}, job ? job_colour(i) : style_idle, HATCH_NONE);
        canvas_text_within(cr, x + 17, y + 3, (drawing->paper ? drawing->width / 2 : 118) - 20, text_font, style_text,
                           text);
        arena_destroy(arena);
    }
}

static void write_subtitle(const struct drawing *drawing, char *subtitle, size_t size)
{
    char kept[READABLE_MAX], reached[READABLE_MAX];
    const struct idle_way *way = &drawing->view->ways[0];
    snprintf(subtitle, size, "%s: efficiency %s, %s of the best", way->name,
             readable_percent(kept, idle_way_efficiency(way)), readable_percent(reached, idle_way_attainment(way)));
}

bool idle_picture(const struct idle_view *view, enum canvas_format format, const struct picture_form *form, FILE *out,
                  struct fault *fault)
{
    char subtitle[160];
    const char *name = view->name;
    struct drawing drawing = {.view = view};
    lay_out(&drawing, form);
    write_subtitle(&drawing, subtitle, sizeof subtitle);
    struct canvas_caption caption = {name, subtitle, picture_prefix(form), picture_scale(form)};
    struct canvas *canvas = canvas_create(format, drawing.width, drawing.height, &caption);
    cairo_t *cr = canvas_context(canvas);
    double room = drawing.width - 2 * drawing.margin;
    canvas_text_within(cr, drawing.margin, drawing.paper ? 10 : 28, room, drawing.paper ? paper_title : title_font,
                       style_text, name);
    canvas_text_within(cr, drawing.margin, drawing.paper ? 23 : 45, room, text_font, style_faint, subtitle);
    draw_frame(cr, &drawing, &drawing.nodes);
    draw_nodes(cr, &drawing);
    draw_frame(cr, &drawing, &drawing.share);
    draw_reached(cr, &drawing);
    draw_time(cr, &drawing);
    draw_legend(cr, &drawing);
    return canvas_finish(canvas, out, fault);
}
