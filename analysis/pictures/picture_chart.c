/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/picture_chart.h"

#include "analysis/pictures/chart_labels.h"
#include "analysis/pictures/chart_scale.h"
#include "analysis/pictures/gantt_style.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double margin = 18, legend_line = 17, sample_width = 24;
static const struct canvas_font title_font = {13, true}, text_font = {9.5, false};

static const double paper_margin = 1;

struct page {
    const struct chart *chart;
    bool paper; /* in a column: the legend stands below the plot */
    double margin, legend_y;
    struct chart_scale x, y;
    double width, height;
    struct rectangle plot;
};

struct range {
    double least, largest;
};

static struct colour series_colour(size_t index)
{
    static const uint32_t colours[] = {0x0072B2, 0xD55E00, 0x009E73, 0xAA4499, 0xB8860B, 0x56B4E9, 0x202020, 0x8C8C8C};
    return colour_hex(colours[index % (sizeof colours / sizeof *colours)]);
}

/* Which of the coloured series it is. */
static size_t style_of(const struct chart *chart, size_t index)
{
    size_t style = index;
    for (size_t i = 0; i < index; i++)
        style -= chart->series[i].faint;
    return style;
}

static void set_line(cairo_t *cr, const struct chart *chart, size_t series)
{
    size_t index = style_of(chart, series);
    if (chart->series[series].faint) {
        cairo_set_dash(cr, NULL, 0, 0);
        cairo_set_line_width(cr, 1);
        canvas_set_colour(cr, style_faint);
        return;
    }
    static const double dashes[][4] = {{1, 0, 1, 0}, {7, 3, 7, 3}, {2, 2, 2, 2}, {9, 3, 2, 3}};
    size_t style = index % (sizeof dashes / sizeof *dashes);
    cairo_set_dash(cr, dashes[style], style ? 4 : 0, 0);
    cairo_set_line_width(cr, 1.5);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    canvas_set_colour(cr, series_colour(index));
}

static bool is_shown(const struct chart *chart, double x, double y)
{
    return !(chart->x.logarithmic && !(x > 0)) && !(chart->y.logarithmic && !(y > 0));
}

static void widen(struct range *range, double value)
{
    range->least = fmin(range->least, value);
    range->largest = fmax(range->largest, value);
}

static bool shows_anything(const struct chart *chart)
{
    for (size_t i = 0; i < chart->series_count; i++)
        for (size_t k = 0; k < chart->series[i].count; k++)
            if (is_shown(chart, chart->series[i].x[k], chart->series[i].y[k]))
                return true;
    return false;
}

/* The ranges of all that is shown; linear axes of amounts start at 0. */
static void find_ranges(const struct chart *chart, struct range *x, struct range *y)
{
    *x = *y = (struct range){INFINITY, -INFINITY};
    for (size_t i = 0; i < chart->series_count; i++) {
        const struct chart_series *series = &chart->series[i];
        for (size_t k = 0; k < series->count; k++) {
            assert(isfinite(series->x[k]) && isfinite(series->y[k]));
            if (!is_shown(chart, series->x[k], series->y[k]))
                continue;
            widen(x, series->x[k]);
            widen(y, series->y[k]);
        }
    }
    if (x->least > x->largest)
        *x = *y = (struct range){1, 1};
    if (chart->limit > 0)
        widen(y, chart->limit);
    if (!chart->y.logarithmic && !chart->y.fitted)
        widen(y, 0);
    if (chart->diagonal) {
        widen(x, y->least);
        widen(x, y->largest);
        *y = *x;
    }
}

static double widest_tick(cairo_t *cr, const struct chart_scale *scale)
{
    double widest = 0;
    char text[48];
    for (unsigned i = 0; i < scale->ticks; i++)
        widest = fmax(widest, canvas_text_width(cr, text_font, chart_tick_text(text, sizeof text, scale, i)));
    return widest;
}

static double legend_width(cairo_t *cr, const struct chart *chart)
{
    double widest = 0;
    for (size_t i = 0; i < chart->series_count; i++)
        widest = fmax(widest, canvas_text_width(cr, text_font, chart->series[i].name));
    return chart->series_count > 1 ? fmin(widest, 260) + sample_width + 24 : 8;
}

/* Title and subtitle; returns where the label of the vertical axis may begin. */
static double draw_head(cairo_t *cr, const struct page *page, bool draw)
{
    const struct chart *chart = page->chart;
    const struct picture_head head = {page->width, page->margin, page->paper, chart->title, chart->subtitle};
    double y = picture_draw_head(cr, &head, draw);
    return page->paper ? y + 4 : chart->subtitle ? 72 : 54;
}

/* Legend entries beside each other in a column's width; returns the height of all. */
static double paper_legend(cairo_t *cr, const struct page *page, bool draw);

static void lay_out_plot(struct page *page, cairo_t *cr)
{
    const struct chart *chart = page->chart;
    double top = draw_head(cr, page, false) + 12, left = page->margin + widest_tick(cr, &page->y) + 10;
    double right = page->width - page->margin - (page->paper ? widest_tick(cr, &page->x) / 2 : legend_width(cr, chart));
    double bottom = page->paper ? top + fmax(90, (right - left) * 0.62) : page->height - 56;
    page->plot = (struct rectangle){left, top, right - left, bottom - top};
    if (!page->paper)
        return;
    page->legend_y = bottom + 44;
    page->height = page->legend_y + paper_legend(cr, page, false);
}

static struct page lay_out(const struct chart *chart, const struct picture_form *form)
{
    struct canvas *measuring = canvas_create_measuring();
    cairo_t *cr = canvas_context(measuring);
    struct page page = {.chart = chart,
                        .paper = picture_on_paper(form),
                        .width = picture_page_width(form, chart->width > 0 ? chart->width : 760),
                        .height = chart->height > 0 ? chart->height : 440};
    page.margin = page.paper ? paper_margin : margin;
    struct range x, y;
    find_ranges(chart, &x, &y);
    page.y = chart_scale_of(&chart->y, y.least, y.largest, page.paper ? 5 : 8);
    page.x = chart_scale_of(&chart->x, x.least, x.largest, 8);
    lay_out_plot(&page, cr);
    for (unsigned most = 4; most >= 1 && page.plot.width / (page.x.ticks - 1) < widest_tick(cr, &page.x) + 10;
         most /= 2)
        page.x = chart_scale_of(&chart->x, x.least, x.largest, most);
    page.x.from = page.plot.x;
    page.x.to = page.plot.x + page.plot.width;
    page.y.from = page.plot.y + page.plot.height;
    page.y.to = page.plot.y;
    canvas_destroy(measuring);
    return page;
}

static void draw_axes(cairo_t *cr, const struct page *page)
{
    struct rectangle plot = page->plot;
    char text[48];
    for (unsigned i = 0; i < page->y.ticks; i++) {
        double y = canvas_snap(chart_tick_place(&page->y, i));
        cairo_move_to(cr, plot.x, y);
        cairo_line_to(cr, plot.x + plot.width, y);
        canvas_text(cr, plot.x - 7, y + 3.4, ALIGN_RIGHT, text_font, style_text,
                    chart_tick_text(text, sizeof text, &page->y, i));
        cairo_move_to(cr, plot.x, y);
        cairo_line_to(cr, plot.x + plot.width, y);
        canvas_set_colour(cr, style_grid);
        cairo_set_line_width(cr, 0.5);
        cairo_stroke(cr);
    }
    for (unsigned i = 0; i < page->x.ticks; i++) {
        double x = canvas_snap(chart_tick_place(&page->x, i));
        canvas_text(cr, x, plot.y + plot.height + 17, ALIGN_CENTRE, text_font, style_text,
                    chart_tick_text(text, sizeof text, &page->x, i));
        cairo_move_to(cr, x, plot.y);
        cairo_line_to(cr, x, plot.y + plot.height);
        canvas_set_colour(cr, style_grid);
        cairo_set_line_width(cr, 0.5);
        cairo_stroke(cr);
    }
    style_add_rectangle(cr, plot);
    canvas_set_colour(cr, style_faint);
    cairo_set_line_width(cr, 0.8);
    cairo_stroke(cr);
    double below = page->paper ? plot.y + plot.height + 32 : page->height - 16;
    canvas_text(cr, plot.x + plot.width / 2, below, ALIGN_CENTRE, text_font, style_faint, page->chart->x.label);
    canvas_text(cr, page->margin, plot.y - 12, ALIGN_LEFT, text_font, style_faint, page->chart->y.label);
}

static void draw_guides(cairo_t *cr, const struct page *page)
{
    const struct chart *chart = page->chart;
    if (chart->diagonal) {
        cairo_move_to(cr, page->plot.x, page->plot.y + page->plot.height);
        cairo_line_to(cr, page->plot.x + page->plot.width, page->plot.y);
        canvas_set_colour(cr, style_faint);
        cairo_set_line_width(cr, 0.8);
        cairo_stroke(cr);
    }
    if (!(chart->limit > 0))
        return;
    double y = canvas_snap(chart_place(&page->y, chart->limit));
    cairo_set_dash(cr, (double[]){5, 3}, 2, 0);
    cairo_move_to(cr, page->plot.x, y);
    cairo_line_to(cr, page->plot.x + page->plot.width, y);
    canvas_set_colour(cr, style_critical);
    cairo_set_line_width(cr, 1.2);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
    if (chart->limit_name)
        canvas_text(cr, page->plot.x + page->plot.width - 6, y - 5, ALIGN_RIGHT, text_font, style_critical,
                    chart->limit_name);
}

static void draw_mark(cairo_t *cr, size_t index, double x, double y)
{
    static const double corners[][8] = {
        {-1, -1, 1, -1, 1, 1, -1, 1}, {0, -1.3, 1.2, 0.9, -1.2, 0.9, 0, -1.3}, {0, -1.4, 1.4, 0, 0, 1.4, -1.4, 0}};
    const double size = 2.6;
    cairo_new_sub_path(cr);
    if (index % 4 == 0) {
        cairo_arc(cr, x, y, size, 0, 2 * M_PI);
    } else {
        const double *corner = corners[index % 4 - 1];
        for (int i = 0; i < 4; i++)
            cairo_line_to(cr, x + size * corner[2 * i], y + size * corner[2 * i + 1]);
    }
    cairo_close_path(cr);
}

/* A white line around marks tells those apart that touch; of very many it would leave nothing but white. */
static void draw_marks(cairo_t *cr, const struct page *page, size_t index)
{
    enum { MANY = 500 };
    const struct chart_series *series = &page->chart->series[index];
    size_t style = style_of(page->chart, index);
    for (size_t i = 0; i < series->count; i++) {
        if (is_shown(page->chart, series->x[i], series->y[i]))
            draw_mark(cr, style, chart_place(&page->x, series->x[i]), chart_place(&page->y, series->y[i]));
    }
    canvas_set_colour(cr, series_colour(style));
    cairo_set_dash(cr, NULL, 0, 0);
    if (series->count > MANY) {
        cairo_fill(cr);
        return;
    }
    cairo_fill_preserve(cr);
    canvas_set_colour(cr, colour_hex(0xFFFFFF));
    cairo_set_line_width(cr, 0.6);
    cairo_stroke(cr);
}

/* Many points fall into one point of the page: only how far they reach up and down is drawn. */
struct column {
    double x, first, low, high, last;
    bool used;
};

static void end_column(cairo_t *cr, const struct column *column)
{
    if (!column->used)
        return;
    cairo_line_to(cr, column->x, canvas_snap(column->first));
    if (column->high > column->low) {
        cairo_line_to(cr, column->x, canvas_snap(column->low));
        cairo_line_to(cr, column->x, canvas_snap(column->high));
        cairo_line_to(cr, column->x, canvas_snap(column->last));
    }
}

static void add_point(cairo_t *cr, struct column *column, double x, double y)
{
    double place = round(x);
    if (!column->used || place != column->x) {
        end_column(cr, column);
        *column = (struct column){place, y, y, y, y, true};
    }
    column->low = fmin(column->low, y);
    column->high = fmax(column->high, y);
    column->last = y;
}

static void draw_line(cairo_t *cr, const struct page *page, size_t index)
{
    const struct chart_series *series = &page->chart->series[index];
    struct column column = {0};
    double before = NAN;
    for (size_t i = 0; i < series->count; i++) {
        if (!is_shown(page->chart, series->x[i], series->y[i]))
            continue;
        double x = chart_place(&page->x, series->x[i]), y = chart_place(&page->y, series->y[i]);
        if (series->form == CHART_STEPS && !isnan(before))
            add_point(cr, &column, x, before);
        add_point(cr, &column, x, y);
        before = y;
    }
    end_column(cr, &column);
    set_line(cr, page->chart, index);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

static void legend_sample(cairo_t *cr, const struct chart *chart, size_t i, double x, double y)
{
    if (chart->series[i].form != CHART_POINTS) {
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x + sample_width, y);
        set_line(cr, chart, i);
        cairo_stroke(cr);
        cairo_set_dash(cr, NULL, 0, 0);
    }
    if (chart->series[i].form != CHART_STEPS) {
        draw_mark(cr, style_of(chart, i), x + sample_width / 2, y);
        canvas_set_colour(cr, series_colour(style_of(chart, i)));
        cairo_fill(cr);
    }
}

static double paper_legend(cairo_t *cr, const struct page *page, bool draw)
{
    const struct chart *chart = page->chart;
    double x = page->margin, y = page->legend_y + 4, right = page->width - page->margin;
    if (chart->series_count < 2)
        return 0;
    for (size_t i = 0; i < chart->series_count; i++) {
        double width = sample_width + 6 + canvas_text_width(cr, text_font, chart->series[i].name);
        if (x > page->margin && x + width > right) {
            x = page->margin;
            y += legend_line;
        }
        if (draw) {
            legend_sample(cr, chart, i, x, y);
            canvas_text_within(cr, x + sample_width + 6, y + 3.4, right - x - sample_width - 6, text_font, style_text,
                               chart->series[i].name);
        }
        x += width + 16;
    }
    return y + 10 - page->legend_y;
}

static void draw_legend(cairo_t *cr, const struct page *page)
{
    const struct chart *chart = page->chart;
    double x = page->plot.x + page->plot.width + 16, y = page->plot.y + 6;
    if (page->paper) {
        paper_legend(cr, page, true);
        return;
    }
    for (size_t i = 0; i < chart->series_count && chart->series_count > 1; i++, y += legend_line) {
        legend_sample(cr, chart, i, x, y);
        canvas_text_within(cr, x + sample_width + 7, y + 3.4, page->width - x - sample_width - 12, text_font,
                           style_text, chart->series[i].name);
    }
}

bool picture_chart(const struct chart *chart, enum canvas_format format, const struct picture_form *form, FILE *out,
                   struct fault *fault)
{
    struct page page = lay_out(chart, form);
    if (!page.paper)
        page.height = fmax(page.height, page.plot.y + legend_line * (double)chart->series_count + 20);
    struct canvas_caption caption = {chart->title, chart->subtitle, picture_prefix(form), picture_scale(form)};
    struct canvas *canvas = canvas_create(format, page.width, page.height, &caption);
    cairo_t *cr = canvas_context(canvas);
    draw_head(cr, &page, true);
    draw_axes(cr, &page);
    draw_guides(cr, &page);
    for (size_t i = chart->series_count; i-- > 0;) /* the first ones on top, and lines above all */
        if (chart->series[i].form == CHART_POINTS)
            draw_marks(cr, &page, i);
    for (size_t i = 0; i < chart->series_count; i++) {
        if (chart->series[i].form != CHART_POINTS)
            draw_line(cr, &page, i);
        if (chart->series[i].form == CHART_LINE)
            draw_marks(cr, &page, i);
    }
    chart_labels_draw(cr, chart, &page.x, &page.y, page.plot, page.paper ? text_font.size : 8.5);
    draw_legend(cr, &page);
    if (!shows_anything(chart))
        canvas_text(cr, page.plot.x + page.plot.width / 2, page.plot.y + page.plot.height / 2, ALIGN_CENTRE, title_font,
                    style_faint,
                    chart->x.logarithmic || chart->y.logarithmic ? "nothing to draw: no value is above 0"
                                                                 : "nothing to draw");
    return canvas_finish(canvas, out, fault);
}
