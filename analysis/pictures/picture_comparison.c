/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/picture_comparison.h"

#include "analysis/pictures/axis.h"
#include "analysis/pictures/gantt_draw.h"
#include "analysis/pictures/picture_timeline.h"
#include "base/arena.h"
#include "base/bulk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double screen_width = 1080, screen_margin = 18, figures_width = 232, figures_gap = 24;
static const double paper_margin = 1, paper_line = 12.5, paper_bar = 7;
static const struct canvas_font bold_font = {9.5, true};
static const double panel_head = 22, panel_gap = 16, figures_height = 52, bar_height = 11;
static const double cut_note_width = 130;
static const struct canvas_font title_font = {15, true}, name_font = {12, true}, text_font = {9.5, false};

struct panel {
    struct gantt *gantt; /* one iteration */
    struct gantt_layout layout;
    double whole;     /* where it ends; after gantt->end when it was cut */
    double y, height; /* of the rows */
};

struct page {
    bool paper; /* in a column: figures stand above their run, the bar of its bubble below it */
    double width, margin;
    struct panel *panels;
    size_t count;
    double plot_x, plot_width, end, axis_y, legend_y, height;
    double largest_bubble;
    const char *subtitle; /* of all runs, when it is the same; NULL otherwise */
    struct gantt_legend legend;
};

/* Row heights of all panels for a plot of that width; returns the width that their labels need. */
static double lay_out_rows(struct page *page, cairo_t *cr)
{
    double labels = 0, most_height = fmax(110, 960 / (double)page->count);
    for (size_t i = 0; i < page->count; i++) {
        struct panel *panel = &page->panels[i];
        struct gantt_wish wish = {
            .width = page->plot_width, .end = page->end, .box_height = 16, .most_height = most_height, .plain = true};
        wish.paper = page->paper;
        wish.box_height = page->paper ? 12 : 16;
        wish.most_rows = (uint32_t)(most_height / 4.8);
        panel->layout = gantt_lay_out(panel->gantt, &wish);
        panel->height = page->paper ? panel->layout.height + 4 + paper_bar : fmax(panel->layout.height, figures_height);
        labels = fmax(labels, gantt_label_width(cr, panel->gantt, &panel->layout));
    }
    return labels;
}

static double cause_legend(cairo_t *cr, const struct page *page, double x, double y, bool draw)
{
    static const char *const words[CAUSES] = {[CAUSE_FILL] = "fill: before the first computation",
                                              [CAUSE_DRAIN] = "drain: after the last",
                                              [CAUSE_RECEIVE] = "receive: waits for a message",
                                              [CAUSE_COLLECTIVE] = "collective: waits for one",
                                              [CAUSE_DEPENDENCY] = "dependency: another stream of the worker",
                                              [CAUSE_INPUT] = "input: waits for samples"};
    double at = x;
    bool any = false;
    for (int cause = 0; cause < CAUSES; cause++) {
        bool used = false;
        for (size_t i = 0; i < page->count; i++)
            used |= page->panels[i].gantt->causes[cause] >= 0.0005;
        if (!used)
            continue;
        double width = 26 + canvas_text_width(cr, text_font, words[cause]);
        if (at > x && at + width > page->width - page->margin) {
            at = x;
            y += 19;
        }
        if (draw) {
            style_swatch(cr, (struct rectangle){at, y, 20, bar_height}, cause_fill(cause), cause_hatch(cause));
            canvas_text_within(cr, at + 26, y + 9.5, page->width - page->margin - at - 26, text_font, style_text,
                               words[cause]);
        }
        at += width + 20;
        any = true;
    }
    if (any && page->paper) {
        y += 19;
        if (draw)
            canvas_text_within(cr, x, y + 9.5, page->width - page->margin - x, text_font, style_text,
                               "bars: idle share of T; the whole width is 100 %");
    }
    return any ? y + 19 : y;
}

static const char *common_subtitle(const struct gantt *const *gantts, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(gantts[i]->subtitle, gantts[0]->subtitle) != 0)
            return NULL;
    }
    return gantts[0]->subtitle;
}

static int compare_ends(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Where the axis ends: with the longest run, except that a few which take more than twice as long as most would press
 * all others together. Those are cut at the end of the longest other one: at most a quarter of the runs. */
static double choose_end(const struct page *page)
{
    size_t capacity = 0, shown = page->count;
    double *ends = array_grow(NULL, &capacity, page->count, sizeof *ends);
    for (size_t i = 0; i < page->count; i++)
        ends[i] = page->panels[i].whole;
    qsort(ends, page->count, sizeof *ends, compare_ends);
    while (shown > 1 && ends[shown - 1] > 2 * ends[page->count / 2])
        shown--;
    double end = page->count - shown <= page->count / 4 ? ends[shown - 1] : ends[page->count - 1];
    free(ends);
    return end;
}

static void take_panels(struct page *page, const struct gantt *const *gantts, const struct picture_form *form)
{
    size_t capacity = 0;
    page->panels = array_grow(NULL, &capacity, page->count, sizeof *page->panels);
    for (size_t i = 0; i < page->count; i++) {
        struct gantt *gantt = gantt_some_iterations(gantts[i], form ? form->iterations : 1);
        page->panels[i] = (struct panel){.gantt = gantt, .whole = gantt->end};
        page->largest_bubble = fmax(page->largest_bubble, gantt->bubble);
    }
    page->end = choose_end(page);
    for (size_t i = 0; i < page->count; i++)
        gantt_cut(page->panels[i].gantt, page->end);
}

/* A subtitle that begins with the page's title need not repeat it. */
static const char *without_title(const char *subtitle, const char *title)
{
    size_t length = strlen(title);
    return strncmp(subtitle, title, length) == 0 && strncmp(subtitle + length, ": ", 2) == 0 ? subtitle + length + 2
                                                                                             : subtitle;
}

/* Title and what all runs have in common; returns where the first panel begins. */
static double draw_head(cairo_t *cr, const struct page *page, const char *title, bool draw)
{
    double room = page->width - 2 * page->margin, y = 10;
    const char *subtitle = page->subtitle ? without_title(page->subtitle, title) : "";
    if (page->paper) {
        y += paper_line * canvas_text_lines(cr, page->margin, y, room, paper_line, bold_font, style_text, title, draw);
        y += paper_line *
             canvas_text_lines(cr, page->margin, y, room, paper_line, text_font, style_faint, subtitle, draw);
        return y - 4;
    }
    if (draw) {
        canvas_text_within(cr, page->margin, 30, room, title_font, style_text, title);
        canvas_text_within(cr, page->margin, 48, room, text_font, style_faint, subtitle);
    }
    return *subtitle ? 62 : 46;
}

static struct page lay_out(const struct gantt *const *gantts, size_t count, const char *title,
                           const struct picture_form *form)
{
    struct canvas *measuring = canvas_create_measuring();
    cairo_t *cr = canvas_context(measuring);
    struct page page = {.paper = picture_on_paper(form), .count = count, .plot_width = 780};
    page.width = picture_page_width(form, screen_width);
    page.margin = page.paper ? paper_margin : screen_margin;
    take_panels(&page, gantts, form);
    page.plot_x = page.margin + fmax(20, lay_out_rows(&page, cr) + 8);
    page.plot_width = page.width - page.plot_x - page.margin - (page.paper ? 4 : figures_gap + figures_width);
    lay_out_rows(&page, cr);
    page.subtitle = common_subtitle(gantts, count);
    double y = draw_head(cr, &page, title, false);
    for (size_t i = 0; i < count; i++) {
        page.panels[i].y = y + panel_head;
        y += panel_head + page.panels[i].height + (page.paper ? 4 : panel_gap);
        gantt_legend_add(&page.legend, page.panels[i].gantt, &page.panels[i].layout);
    }
    page.axis_y = y + (page.paper ? 4 : 0);
    page.legend_y = page.axis_y + axis_height + 12;
    double legend = gantt_legend_draw(cr, &page.legend, 0, 0, page.width - 2 * page.margin, false);
    page.height = cause_legend(cr, &page, page.margin, page.legend_y + legend, false) + 8;
    canvas_destroy(measuring);
    return page;
}

/* The bubble as a bar, divided by cause; all bars of a page have one scale. */
static void draw_bar(cairo_t *cr, const struct page *page, const struct gantt *gantt, double x, double y)
{
    double height = page->paper ? paper_bar : bar_height, at = x;
    double scale = page->paper ? page->plot_width : page->largest_bubble > 0 ? figures_width / page->largest_bubble : 0;
    for (int cause = 0; cause < CAUSES; cause++) {
        double width = gantt->causes[cause] * scale;
        if (width > 0.2)
            style_swatch(cr, (struct rectangle){at, y, width, height}, cause_fill(cause), cause_hatch(cause));
        at += width;
    }
}

static void draw_figures(cairo_t *cr, const struct page *page, const struct gantt *gantt, double y)
{
    double x = page->width - page->margin - figures_width, first = page->panels[0].gantt->iteration;
    char text[64], number[32], causes[160];
    if (gantt->iteration < 0)
        return;
    snprintf(text, sizeof text, "T = %s", axis_quantity(number, sizeof number, gantt->iteration, gantt->unit));
    canvas_text(cr, x, y + 10, ALIGN_LEFT, name_font, style_text, text);
    if (gantt != page->panels[0].gantt && first > 0) {
        double after = canvas_text_width(cr, name_font, text) + 8;
        snprintf(text, sizeof text, "%.2f \xc3\x97", gantt->iteration / first);
        canvas_text(cr, x + after, y + 10, ALIGN_LEFT, text_font, style_faint, text);
    }
    snprintf(text, sizeof text, "bubble %s", axis_percent(number, sizeof number, gantt->bubble));
    canvas_text(cr, x + figures_width, y + 10, ALIGN_RIGHT, name_font, style_text, text);
    draw_bar(cr, page, gantt, x, y + 18);
    if (!(gantt->bubble > 0)) {
        canvas_text(cr, x, y + 27, ALIGN_LEFT, text_font, style_faint,
                    gantt->iteration > 0 ? "no bar: no worker is ever idle" : "no bar: nothing takes any time");
        return;
    }
    picture_causes(causes, sizeof causes, gantt->causes);
    char *comma = strlen(causes) > 42 ? strchr(strchr(strchr(causes, ',') + 1, ',') + 1, ',') : NULL;
    if (comma)
        *comma = '\0';
    canvas_text(cr, x, y + 41, ALIGN_LEFT, text_font, style_faint, causes);
    if (comma)
        canvas_text(cr, x, y + 53, ALIGN_LEFT, text_font, style_faint, comma + 2);
}

/* "0.82 x, T = 1.63 s, bubble 24.7 %" above the run, at the right; returns its width. The bar below the run. */
static double draw_paper_figures(cairo_t *cr, const struct page *page, const struct panel *panel)
{
    const struct gantt *gantt = panel->gantt;
    double first = page->panels[0].gantt->iteration;
    char text[128], time[32], share[24], relative[24] = "";
    if (gantt->iteration < 0)
        return 0;
    if (panel != page->panels && first > 0)
        snprintf(relative, sizeof relative, " (%.2f \xc3\x97)", gantt->iteration / first);
    snprintf(text, sizeof text, "T = %s%s, bubble %s", axis_quantity(time, sizeof time, gantt->iteration, gantt->unit),
             relative, axis_percent(share, sizeof share, gantt->bubble));
    canvas_text(cr, page->plot_x + page->plot_width, panel->y - 9, ALIGN_RIGHT, text_font, style_text, text);
    draw_bar(cr, page, gantt, page->plot_x, panel->y + panel->layout.height + 4);
    return canvas_text_width(cr, text_font, text) + 8;
}

/* A torn edge where the run is cut, and when it ends. */
static void draw_cut(cairo_t *cr, const struct page *page, const struct panel *panel)
{
    static const double tooth = 4;
    double x = page->plot_x + page->plot_width, top = panel->y - 4, bottom = panel->y + panel->layout.height + 4,
           side = 1;
    char text[64], number[32];
    cairo_move_to(cr, x + tooth, top);
    cairo_line_to(cr, x, top);
    for (double y = top; y < bottom; y += tooth, side = -side)
        cairo_line_to(cr, x - (side > 0 ? tooth : 0), fmin(y + tooth, bottom));
    cairo_line_to(cr, x + tooth, bottom);
    cairo_close_path(cr);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_fill_preserve(cr);
    cairo_set_line_width(cr, 0.8);
    canvas_set_colour(cr, style_faint);
    cairo_save(cr);
    cairo_rectangle(cr, x - tooth - 1, top, tooth + 1, bottom - top);
    cairo_clip(cr);
    cairo_stroke(cr);
    cairo_restore(cr);
    if (page->paper) /* T stands there */
        return;
    snprintf(text, sizeof text, "cut here; ends at %s",
             axis_quantity(number, sizeof number, panel->whole, panel->gantt->unit));
    canvas_text(cr, x, panel->y - 9, ALIGN_RIGHT, text_font, style_faint, text);
}

/* A line where the run ends. */
static void draw_end(cairo_t *cr, const struct page *page, const struct panel *panel)
{
    double x =
        page->end > 0 ? canvas_snap(page->plot_x + page->plot_width * panel->gantt->end / page->end) : page->plot_x;
    cairo_move_to(cr, x, panel->y - 4);
    cairo_line_to(cr, x, panel->y + panel->layout.height + 4);
    canvas_set_colour(cr, style_text);
    cairo_set_line_width(cr, 1.2);
    cairo_stroke(cr);
}

static void draw_panel(cairo_t *cr, const struct page *page, const struct panel *panel)
{
    const struct gantt *gantt = panel->gantt;
    struct canvas_font font = page->paper ? bold_font : name_font;
    double baseline = panel->y - 9, name_width = canvas_text_width(cr, font, gantt->title);
    double beside = page->paper ? draw_paper_figures(cr, page, panel) : panel->whole > page->end ? cut_note_width : 0;
    double room = page->plot_width - beside;
    canvas_text_within(cr, page->plot_x, baseline, room, font, style_text, gantt->title);
    if (!page->subtitle && !page->paper && name_width + 60 < room)
        canvas_text_within(cr, page->plot_x + name_width + 12, baseline, room - name_width - 12, text_font, style_faint,
                           gantt->subtitle);
    gantt_draw_rows(cr, gantt, &panel->layout, page->plot_x, panel->y);
    if (panel->whole > page->end)
        draw_cut(cr, page, panel);
    else
        draw_end(cr, page, panel);
    if (!page->paper)
        draw_figures(cr, page, gantt, panel->y);
}

static void draw_page(cairo_t *cr, const struct page *page, const char *title)
{
    enum gantt_unit unit = page->panels[0].gantt->unit;
    double margin = page->margin;
    draw_head(cr, page, title, true);
    for (size_t i = 0; i < page->count; i++)
        gantt_draw_ground(cr, page->panels[i].gantt, &page->panels[i].layout, page->plot_x, page->panels[i].y);
    axis_draw_grid(cr, page->plot_x, page->plot_width, page->panels[0].y - 6, page->axis_y, page->end, unit);
    for (size_t i = 0; i < page->count; i++)
        draw_panel(cr, page, &page->panels[i]);
    axis_draw_time(cr, page->plot_x, page->axis_y, page->plot_width, page->end, unit);
    double legend = gantt_legend_draw(cr, &page->legend, margin, page->legend_y, page->width - 2 * margin, true);
    cause_legend(cr, page, margin, page->legend_y + legend, true);
}

static char *describe(const struct page *page)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    for (size_t i = 0; i < page->count; i++) {
        char line[512];
        fprintf(out, "%s%s", i ? " " : "", picture_describe(line, sizeof line, page->panels[i].gantt));
    }
    memory_stream_close(out);
    return text;
}

bool picture_comparison(const struct gantt *const *gantts, size_t count, const char *title, enum canvas_format format,
                        const struct picture_form *form, FILE *out, struct fault *fault)
{
    struct page page = lay_out(gantts, count, title, form);
    char *description = describe(&page);
    struct canvas_caption caption = {title, description, picture_prefix(form), picture_scale(form)};
    struct canvas *canvas = canvas_create(format, page.width, page.height, &caption);
    draw_page(canvas_context(canvas), &page, title);
    bool done = canvas_finish(canvas, out, fault);
    free(description);
    for (size_t i = 0; i < count; i++)
        gantt_destroy(page.panels[i].gantt);
    free(page.panels);
    return done;
}
