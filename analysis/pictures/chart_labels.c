/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/chart_labels.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

static const double gap = 5;

/* What is taken already. */
struct boxes {
    struct canvas_font font;
    struct rectangle *boxes;
    size_t count, capacity;
};

static void take(struct boxes *taken, struct rectangle box)
{
    taken->boxes = array_grow(taken->boxes, &taken->capacity, taken->count + 1, sizeof *taken->boxes);
    taken->boxes[taken->count++] = box;
}

static bool overlap(struct rectangle a, struct rectangle b)
{
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

static bool is_free(const struct boxes *taken, struct rectangle box, struct rectangle plot)
{
    if (box.x < plot.x || box.y < plot.y || box.x + box.width > plot.x + plot.width ||
        box.y + box.height > plot.y + plot.height)
        return false;
    for (size_t i = 0; i < taken->count; i++)
        if (overlap(taken->boxes[i], box))
            return false;
    return true;
}

static void write_text(cairo_t *cr, struct canvas_font font, const char *text, struct rectangle box)
{
    canvas_set_font(cr, font);
    cairo_move_to(cr, box.x, box.y + 0.88 * font.size);
    cairo_text_path(cr, text);
    canvas_set_colour(cr, colour_hex(0xFFFFFF)); /* lines behind it do not cross it */
    cairo_set_line_width(cr, 2.5);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cr);
    canvas_text(cr, box.x, box.y + 0.88 * font.size, ALIGN_LEFT, font, style_text, text);
}

/* The first free place beside a point. */
static void write_label(cairo_t *cr, struct boxes *taken, const char *text, double x, double y, struct rectangle plot)
{
    double width = canvas_text_width(cr, taken->font, text), text_height = 1.06 * taken->font.size;
    const struct rectangle places[] = {
        {x - gap - width, y - text_height / 2, width, text_height},
        {x - width, y + gap, width, text_height},
        {x + gap, y - text_height / 2, width, text_height},
        {x - width / 2, y + gap, width, text_height},
        {x, y - gap - text_height, width, text_height},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (is_free(taken, places[i], plot)) {
            take(taken, places[i]);
            write_text(cr, taken->font, text, places[i]);
            return;
        }
}

static bool is_drawn(const struct chart *chart, const struct chart_series *series, size_t point)
{
    return !(chart->x.logarithmic && !(series->x[point] > 0)) && !(chart->y.logarithmic && !(series->y[point] > 0));
}

void chart_labels_draw(cairo_t *cr, const struct chart *chart, const struct chart_scale *x, const struct chart_scale *y,
                       struct rectangle plot, double size)
{
    struct boxes taken = {.font = {size, false}};
    bool any = false;
    for (size_t i = 0; i < chart->series_count; i++)
        any |= chart->series[i].labels != NULL;
    for (int writing = 0; any && writing < 2; writing++) /* first the marks take their places */
        for (size_t i = 0; i < chart->series_count; i++)
            for (size_t k = 0; k < chart->series[i].count; k++) {
                const struct chart_series *series = &chart->series[i];
                bool named = series->labels && series->labels[k];
                if (!is_drawn(chart, series, k) || (writing && !named))
                    continue;
                double left = chart_place(x, series->x[k]), top = chart_place(y, series->y[k]);
                if (writing)
                    write_label(cr, &taken, series->labels[k], left, top, plot);
                else if (series->form != CHART_STEPS)
                    take(&taken, (struct rectangle){left - 3, top - 3, 6, 6});
            }
    free(taken.boxes);
}
