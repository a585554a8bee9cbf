/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/picture_timeline.h"

#include "analysis/pictures/axis.h"
#include "analysis/pictures/gantt_draw.h"
#include "base/table.h"

#include <math.h>
#include <string.h>

static const double screen_width = 1080, screen_margin = 18, busy_width = 44, rows_gap = 22;
static const double paper_margin = 1, paper_busy_width = 38, paper_line = 12.5;
static const struct canvas_font paper_title = {9.5, true};
static const struct canvas_font title_font = {15, true}, figure_font = {12, true}, text_font = {9.5, false};

/* Where everything lies on the page. */
struct page {
    bool paper;
    double width, margin, busy_width;
    double plot_x, plot_y, axis_y, legend_y, height;
    bool busy; /* the column of busy shares is there */
    struct gantt_layout layout;
    struct gantt_legend legend;
};

const char *picture_causes(char *text, size_t size, const double causes[CAUSES])
{
    size_t used = 0;
    text[0] = '\0';
    for (int cause = 0; cause < CAUSES && used < size; cause++) {
        char share[24];
        if (causes[cause] >= 0.0005)
            used += (size_t)snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", cause_names[cause],
                                     axis_percent(share, sizeof share, causes[cause]));
    }
    return text;
}

const char *picture_describe(char *text, size_t size, const struct gantt *gantt)
{
    char time[32], share[24], causes[160];
    size_t used =
        (size_t)snprintf(text, size, "Timeline of %zu worker%s", gantt->row_count, readable_plural(gantt->row_count));
    if (*gantt->title && used < size)
        used += (size_t)snprintf(text + used, size - used, ", %s", gantt->title);
    if (gantt->iteration >= 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, ": iteration time %s, bubble ratio %s",
                                 axis_quantity(time, sizeof time, gantt->iteration, gantt->unit),
                                 axis_percent(share, sizeof share, gantt->bubble));
    picture_causes(causes, sizeof causes, gantt->causes);
    if (gantt->iteration >= 0 && *causes && used < size)
        used += (size_t)snprintf(text + used, size - used, " (%s)", causes);
    if (used < size)
        snprintf(text + used, size - used, ".");
    return text;
}

static bool has_busy(const struct gantt *gantt)
{
    for (size_t i = 0; i < gantt->row_count; i++) {
        if (gantt->rows[i].busy >= 0)
            return true;
    }
    return false;
}

static struct gantt_wish wish_of(const struct gantt *gantt, bool paper)
{
    if (paper)
        return (struct gantt_wish){
            .end = gantt->end, .box_height = 17, .most_height = 420, .most_rows = 64, .paper = true};
    return (struct gantt_wish){.end = gantt->end, .box_height = 28, .most_height = 660, .most_rows = 96};
}

/* In a column there is no room beside the title: title, details and figures below each other, over as many lines as
 * they take. Returns where they end. */
static double paper_head(cairo_t *cr, const struct gantt *gantt, const struct page *page, bool draw)
{
    double room = page->width - 2 * page->margin, y = 10;
    char line[320], time[32], share[24], causes[160];
    const char *lines[] = {gantt->title, gantt->subtitle, ""};
    if (gantt->iteration >= 0) {
        picture_causes(causes, sizeof causes, gantt->causes);
        snprintf(line, sizeof line, "T = %s, bubble %s%s%s",
                 axis_quantity(time, sizeof time, gantt->iteration, gantt->unit),
                 axis_percent(share, sizeof share, gantt->bubble), *causes ? ": " : "", causes);
        lines[2] = line;
    }
    for (int i = 0; i < 3; i++)
        y += paper_line * canvas_text_lines(cr, page->margin, y, room, paper_line, i ? text_font : paper_title,
                                            i == 1 ? style_faint : style_text, lines[i], draw);
    return y - paper_line;
}

static struct page lay_out(const struct gantt *gantt, const struct picture_form *form)
{
    struct canvas *measuring = canvas_create_measuring();
    cairo_t *cr = canvas_context(measuring);
    struct page page = {.paper = picture_on_paper(form), .busy = has_busy(gantt)};
    page.width = picture_page_width(form, screen_width);
    page.margin = page.paper ? paper_margin : screen_margin;
    page.busy_width = page.paper ? paper_busy_width : busy_width;
    struct gantt_wish wish = wish_of(gantt, page.paper);
    wish.width = page.width * 0.75; /* row heights, and with them the labels, do not depend on it */
    page.layout = gantt_lay_out(gantt, &wish);
    page.plot_x = page.margin + fmax(44, gantt_label_width(cr, gantt, &page.layout) + 10);
    wish.width = page.width - page.plot_x - page.margin - (page.busy ? page.busy_width : 0);
    page.layout = gantt_lay_out(gantt, &wish);
    gantt_legend_add(&page.legend, gantt, &page.layout);
    double head = page.paper ? paper_head(cr, gantt, &page, false) + 4 : *gantt->subtitle ? 56 : 40;
    page.plot_y = head + rows_gap;
    page.axis_y = page.plot_y + page.layout.height + 6;
    page.legend_y = page.axis_y + axis_height + 12;
    page.height = page.legend_y + gantt_legend_draw(cr, &page.legend, 0, 0, page.width - 2 * page.margin, false) + 6;
    canvas_destroy(measuring);
    return page;
}

/* Title and one line of details at the left, the figures at the right. */
static void draw_head(cairo_t *cr, const struct gantt *gantt, const struct page *page)
{
    double figures_width = 0, margin = page->margin, right = page->width - margin;
    if (page->paper) {
        paper_head(cr, gantt, page, true);
        return;
    }
    if (gantt->iteration >= 0) {
        char line[128], time[32], share[24], causes[160];
        snprintf(line, sizeof line, "T = %s    bubble %s",
                 axis_quantity(time, sizeof time, gantt->iteration, gantt->unit),
                 axis_percent(share, sizeof share, gantt->bubble));
        canvas_text(cr, right, 30, ALIGN_RIGHT, figure_font, style_text, line);
        picture_causes(causes, sizeof causes, gantt->causes);
        canvas_text(cr, right, 48, ALIGN_RIGHT, text_font, style_faint, causes);
        figures_width = fmax(canvas_text_width(cr, figure_font, line), canvas_text_width(cr, text_font, causes)) + 24;
    }
    double room = right - margin - figures_width;
    canvas_text_within(cr, margin, 30, room, title_font, style_text, gantt->title);
    canvas_text_within(cr, margin, 48, room, text_font, style_faint, gantt->subtitle);
}

static double group_busy(const struct gantt *gantt, const struct gantt_layout *layout, uint32_t row)
{
    double sum = 0;
    size_t first = (size_t)row * layout->group, count = 0;
    for (size_t i = first; i < gantt->row_count && i < first + layout->group; i++, count++)
        sum += gantt->rows[i].busy;
    return sum / (double)count;
}

static void draw_busy(cairo_t *cr, const struct gantt *gantt, const struct page *page)
{
    const struct gantt_layout *layout = &page->layout;
    double x = page->width - page->margin;
    struct canvas_font font = gantt_label_font(layout);
    canvas_text(cr, x, page->plot_y - 8, ALIGN_RIGHT, text_font, style_faint, "busy");
    for (uint32_t row = 0; row < layout->rows; row++) {
        double busy = group_busy(gantt, layout, row),
               baseline = page->plot_y + row * layout->pitch + layout->box / 2 + font.size * 0.36;
        char text[24];
        if (busy < 0 || !gantt_has_label(layout, row))
            continue;
        snprintf(text, sizeof text, "%.0f %%", 100 * busy);
        canvas_text(cr, x, baseline, ALIGN_RIGHT, font, style_text, text);
    }
}

/* A dimension line over the iteration that the figures are about. */
static void draw_window(cairo_t *cr, const struct gantt *gantt, const struct page *page)
{
    if (!(gantt->window_end > gantt->window_start))
        return;
    double scale = page->layout.wish.width / gantt->end, y = page->plot_y - 10.5;
    double left = canvas_snap(page->plot_x + gantt->window_start * scale),
           right = canvas_snap(page->plot_x + gantt->window_end * scale);
    double middle = (left + right) / 2, half = canvas_text_width(cr, text_font, "T") / 2 + 4;
    for (int side = 0; side < 2; side++) {
        double x = side ? right : left;
        cairo_move_to(cr, x, y - 4);
        cairo_line_to(cr, x, page->plot_y - 3);
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, side ? fmin(right, middle + half) : fmax(left, middle - half), y);
    }
    canvas_set_colour(cr, style_text);
    cairo_set_line_width(cr, 0.9);
    cairo_stroke(cr);
    canvas_text(cr, middle, y + 3.4, ALIGN_CENTRE, text_font, style_text, "T");
}

static void draw_plot(cairo_t *cr, const struct gantt *gantt, const struct page *page)
{
    double width = page->layout.wish.width;
    gantt_draw_ground(cr, gantt, &page->layout, page->plot_x, page->plot_y);
    axis_draw_grid(cr, page->plot_x, width, page->plot_y - 4, page->axis_y, gantt->end, gantt->unit);
    gantt_draw_rows(cr, gantt, &page->layout, page->plot_x, page->plot_y);
    axis_draw_time(cr, page->plot_x, page->axis_y, width, gantt->end, gantt->unit);
    canvas_text(cr, page->plot_x - 7, page->plot_y - 8, ALIGN_RIGHT, text_font, style_faint,
                gantt->jobs ? "job" : "worker");
    draw_window(cr, gantt, page);
    if (page->busy)
        draw_busy(cr, gantt, page);
    if (!(gantt->end > 0))
        canvas_text(cr, page->plot_x, page->plot_y - 8, ALIGN_LEFT, text_font, style_faint,
                    gantt->box_count ? "nothing takes any time" : "nothing was executed");
}

static bool draw_picture(const struct gantt *gantt, enum canvas_format format, const struct picture_form *form,
                         FILE *out, struct fault *fault)
{
    struct page page = lay_out(gantt, form);
    char description[512];
    struct canvas_caption caption = {gantt->title, picture_describe(description, sizeof description, gantt),
                                     picture_prefix(form), picture_scale(form)};
    struct canvas *canvas = canvas_create(format, page.width, page.height, &caption);
    cairo_t *cr = canvas_context(canvas);
    draw_head(cr, gantt, &page);
    draw_plot(cr, gantt, &page);
    gantt_legend_draw(cr, &page.legend, page.margin, page.legend_y, page.width - 2 * page.margin, true);
    return canvas_finish(canvas, out, fault);
}

bool picture_timeline(const struct gantt *gantt, enum canvas_format format, const struct picture_form *form, FILE *out,
                      struct fault *fault)
{
    struct gantt *part = form && form->iterations ? gantt_some_iterations(gantt, form->iterations) : NULL;
    bool done = draw_picture(part ? part : gantt, format, form, out, fault);
    gantt_destroy(part);
    return done;
}
