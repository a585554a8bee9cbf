/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/picture_heat.h"

#include "analysis/pictures/gantt_style.h"
#include "base/table.h"

#include <math.h>

static const double screen_margin = 18, screen_cell_height = 30, cell_least = 64, cell_most = 130;
static const double paper_margin = 1, paper_cell_height = 20;
static const struct canvas_font title_font = {13, true}, text_font = {9.5, false}, best_font = {9.5, true};

struct page {
    const struct heat *heat;
    bool paper;
    double margin, head, left, cell, cell_height, width, height;
    double least, largest;
};

const char *heat_value_text(char *text, size_t size, enum chart_quantity quantity, double value)
{
    char number[READABLE_MAX];
    if (isnan(value))
        snprintf(text, size, "%s", "");
    else if (quantity == CHART_SECONDS)
        snprintf(text, size, "%s", readable_seconds(number, value));
    else if (quantity == CHART_BYTES)
        snprintf(text, size, "%s", readable_binary_bytes(number, value));
    else if (quantity == CHART_PERCENT)
        snprintf(text, size, "%s", readable_percent(number, value));
    else
        snprintf(text, size, "%.4g", value);
    return text;
}

static double widest(cairo_t *cr, const char *const *texts, size_t count)
{
    double width = 0;
    for (size_t i = 0; i < count; i++)
        width = fmax(width, canvas_text_width(cr, text_font, texts[i]));
    return width;
}

/* Title and subtitle; returns where the cells begin. */
static double draw_head(cairo_t *cr, const struct page *page, bool draw)
{
    const struct heat *heat = page->heat;
    const struct picture_head head = {page->width, page->margin, page->paper, heat->title, heat->subtitle};
    double y = picture_draw_head(cr, &head, draw);
    return page->paper ? y + (heat->y ? 14 : 0) : 84;
}

static double screen_page_width(cairo_t *cr, const struct page *page)
{
    const struct heat *heat = page->heat;
    double width = fmax(page->left + page->cell * (double)heat->column_count + page->margin,
                        canvas_text_width(cr, title_font, heat->title) + 2 * page->margin);
    return heat->subtitle ? fmax(width, canvas_text_width(cr, text_font, heat->subtitle) + 2 * page->margin) : width;
}

/* As many cells as there are share the width of a column. */
static void lay_out_cells(struct page *page, cairo_t *cr, const struct picture_form *form)
{
    const struct heat *heat = page->heat;
    double labels = widest(cr, heat->columns, heat->column_count) + 12;
    double most = page->paper ? picture_page_width(form, 0) / 4 : 220;
    page->left = page->margin + (heat->y ? fmin(widest(cr, heat->rows, heat->row_count), most) + 10 : 0);
    page->cell = fmin(fmax(cell_least, labels), cell_most);
    page->width = page->paper ? picture_page_width(form, 0) : screen_page_width(cr, page);
    if (page->paper)
        page->cell = (page->width - page->left - page->margin) / (double)heat->column_count;
}

static struct page lay_out(const struct heat *heat, const struct picture_form *form)
{
    struct canvas *measuring = canvas_create_measuring();
    cairo_t *cr = canvas_context(measuring);
    struct page page = {.heat = heat, .paper = picture_on_paper(form), .least = INFINITY, .largest = -INFINITY};
    page.margin = page.paper ? paper_margin : screen_margin;
    page.cell_height = page.paper ? paper_cell_height : screen_cell_height;
    lay_out_cells(&page, cr, form);
    page.head = draw_head(cr, &page, false);
    page.height = page.head + page.cell_height * (double)heat->row_count + (page.paper ? 40 : 52);
    for (size_t i = 0; i < heat->row_count * heat->column_count; i++)
        if (!isnan(heat->values[i])) {
            page.least = fmin(page.least, heat->values[i]);
            page.largest = fmax(page.largest, heat->values[i]);
        }
    canvas_destroy(measuring);
    return page;
}

static struct colour shade(const struct page *page, double value)
{
    double range = page->largest - page->least;
    return colour_mix(colour_hex(0xE8F1FA), colour_hex(0x1F5F9E), range > 0 ? (value - page->least) / range : 0);
}

static void draw_cell(cairo_t *cr, const struct page *page, size_t row, size_t column)
{
    const struct heat *heat = page->heat;
    char text[48];
    size_t index = row * heat->column_count + column;
    double value = heat->values[index];
    struct rectangle place = {page->left + page->cell * (double)column, page->head + page->cell_height * (double)row,
                              page->cell, page->cell_height};
    struct colour fill = isnan(value) ? style_grid : shade(page, value);
    style_add_rectangle(cr, place);
    style_paint(cr, fill, isnan(value) ? HATCH_DIAGONAL : HATCH_NONE, 0, place);
    struct canvas_font font = index == heat->best ? best_font : text_font;
    double width = canvas_text_width(cr, font, heat_value_text(text, sizeof text, heat->quantity, value));
    canvas_text_within(cr, place.x + fmax(page->cell - width, 0) / 2, place.y + page->cell_height / 2 + 3.4, page->cell,
                       font, style_ink(fill), text);
}

static void outline_best(cairo_t *cr, const struct page *page)
{
    const struct heat *heat = page->heat;
    if (heat->best >= heat->row_count * heat->column_count)
        return;
    size_t row = heat->best / heat->column_count, column = heat->best % heat->column_count;
    style_add_rectangle(cr, (struct rectangle){page->left + page->cell * (double)column + 1,
                                               page->head + page->cell_height * (double)row + 1, page->cell - 2,
                                               page->cell_height - 2});
    canvas_set_colour(cr, style_critical);
    cairo_set_line_width(cr, 2);
    cairo_stroke(cr);
}

static void draw_labels(cairo_t *cr, const struct page *page)
{
    const struct heat *heat = page->heat;
    double bottom = page->head + page->cell_height * (double)heat->row_count;
    for (size_t i = 0; i < heat->column_count; i++) {
        double x = page->left + page->cell * ((double)i + 0.5),
               width = canvas_text_width(cr, text_font, heat->columns[i]);
        canvas_text_within(cr, x - fmin(width, page->cell - 4) / 2, bottom + 16, page->cell - 4, text_font, style_text,
                           heat->columns[i]);
    }
    for (size_t i = 0; i < heat->row_count && heat->y; i++)
        canvas_text_within(cr, page->margin, page->head + page->cell_height * ((double)i + 0.5) + 3.4,
                           page->left - page->margin - 6, text_font, style_text, heat->rows[i]);
    canvas_text(cr, page->left + page->cell * (double)heat->column_count / 2, bottom + 36, ALIGN_CENTRE, text_font,
                style_faint, heat->x);
    if (heat->y)
        canvas_text(cr, page->margin, page->head - 10, ALIGN_LEFT, text_font, style_faint, heat->y);
}

bool picture_heat(const struct heat *heat, enum canvas_format format, const struct picture_form *form, FILE *out,
                  struct fault *fault)
{
    struct page page = lay_out(heat, form);
    struct canvas_caption caption = {heat->title, heat->subtitle, picture_prefix(form), picture_scale(form)};
    struct canvas *canvas = canvas_create(format, page.width, page.height, &caption);
    cairo_t *cr = canvas_context(canvas);
    draw_head(cr, &page, true);
    for (size_t row = 0; row < heat->row_count; row++)
        for (size_t column = 0; column < heat->column_count; column++)
            draw_cell(cr, &page, row, column);
    outline_best(cr, &page);
    draw_labels(cr, &page);
    return canvas_finish(canvas, out, fault);
}
