/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/page_timeline.h"

#include "analysis/output/html.h"
#include "analysis/pictures/axis.h"
#include "analysis/pictures/gantt_style.h"
#include "base/arena.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double width = 1080, left = 46, right = 8, head_height = 18;
static const double crowded = 0.6; /* boxes per point of a row from which on shares of time are drawn */
static const double column = 3;    /* points: what such a share is of */
static const double digit = 6.2;   /* points: of a number in a box */
enum { ROWS_DRAWN = 128, STEPS = 12, CLASSES = GANTT_KINDS * GANTT_SHADES_MAX };

/* A timeline on its way to SVG. */
struct page {
    FILE *out;
    const struct gantt *gantt;
    double scale;               /* points per time */
    double row_height, box_top; /* of a row; of computations within it */
    double lane_height;         /* of collectives, 0: none */
    bool strips;                /* boxes are too many: shares of time */
    uint32_t group;             /* rows of the gantt that one drawn row stands for: more than one where they are many */
    size_t rows;                /* drawn */
};

static unsigned hex_of(struct colour colour)
{
    return (unsigned)lround(colour.red * 255) << 16 | (unsigned)lround(colour.green * 255) << 8 |
           (unsigned)lround(colour.blue * 255);
}

/* ---- styles ---- */

static void put_pattern(FILE *out, enum gantt_kind kind, unsigned shade, unsigned shades)
{
    static const char *const strokes[] = {[HATCH_NONE] = "",
                                          [HATCH_DIAGONAL] = "M-1 6L6-1M5 7L7 5M-1 1L1-1",
                                          [HATCH_HORIZONTAL] = "M0 1.5h6M0 4.5h6",
                                          [HATCH_VERTICAL] = "M1.5 0v6M4.5 0v6",
                                          [HATCH_CROSS] = "M0 1.5h6M0 4.5h6M1.5 0v6M4.5 0v6"};
    struct colour fill = gantt_fill(kind, shade, shades);
    fprintf(out,
            "<pattern id=\"p%u-%u-%u\" data-ink=\"%06x\" data-hatch=\"%s\" patternUnits=\"userSpaceOnUse\" width=\"6\" "
            "height=\"6\"><path fill=\"#%06x\" d=\"M0 0h6v6h-6z\"/>",
            kind, shade, shades, hex_of(style_ink(fill)), strokes[gantt_hatch(kind)], hex_of(fill));
    if (gantt_hatch(kind) != HATCH_NONE)
        fprintf(out, "<path stroke=\"#%06x\" stroke-width=\".7\" fill=\"none\" d=\"%s\"/>",
                hex_of(colour_mix(fill, style_line(fill), 0.62)), strokes[gantt_hatch(kind)]);
    fputs("</pattern>", out);
}

static bool has_kind(const struct gantt *const *gantts, size_t count, enum gantt_kind kind)
{
    for (size_t i = 0; i < count; i++)
        for (size_t box = 0; box < gantts[i]->box_count; box++)
            if (gantts[i]->boxes[box].kind == kind)
                return true;
    return false;
}

void page_timeline_styles(FILE *out, const struct gantt *const *gantts, size_t count)
{
    bool wanted[GANTT_SHADES_MAX + 1] = {[1] = true};
    for (size_t i = 0; i < count; i++)
        wanted[gantts[i]->shades] = true;
    fputs("<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>\n", out);
    for (unsigned kind = 0; kind < GANTT_KINDS; kind++)
        for (unsigned shades = 1; shades <= GANTT_SHADES_MAX; shades++)
            for (unsigned shade = 0; shade < shades && wanted[shades]; shade++)
                put_pattern(out, (enum gantt_kind)kind, shade, shades);
    fputs("\n</defs></svg>\n", out);
}

void page_timeline_legend(FILE *out, const struct gantt *const *gantts, size_t count)
{
    fputs("<ul class=\"key\">", out);
    for (unsigned kind = 0; kind < GANTT_KINDS; kind++) {
        if (!has_kind(gantts, count, (enum gantt_kind)kind))
            continue;
        fprintf(out,
                "<li><svg width=\"26\" height=\"12\" aria-hidden=\"true\"><path fill=\"url(#p%u-0-1)\" d=\"M0 "
                "0h26v12h-26z\"/></svg> %s</li>",
                kind, gantt_kind_label((enum gantt_kind)kind));
    }
    bool critical = false;
    for (size_t i = 0; i < count; i++)
        for (size_t box = 0; box < gantts[i]->box_count; box++)
            critical |= gantts[i]->boxes[box].critical;
    if (critical)
        fputs("<li><svg width=\"26\" height=\"12\" aria-hidden=\"true\"><path fill=\"none\" stroke=\"var(--crit)\" "
              "stroke-width=\"1.6\" d=\"M1 1h24v10h-24z\"/></svg> critical path</li>",
              out);
    fputs("</ul>\n", out);
}

/* ---- boxes ---- */

static double x_of(const struct page *page, double time)
{
    return left + time * page->scale;
}

/* The rectangles of a path: all but the first begin relative to the one before, which takes fewer digits. */
struct pen {
    FILE *out;
    bool down;
    long x, y; /* tenths: where the last one begins */
};

/* A number with one decimal, none where it is 0. */
static void put_tenths(FILE *out, long tenths)
{
    if (tenths % 10)
        fprintf(out, "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10, labs(tenths) % 10);
    else
        fprintf(out, "%ld", tenths / 10);
}

static void put_rectangle(struct pen *pen, double x, double y, double w, double h)
{
    long from = lround(x * 10), end = lround((x + w) * 10), to = end > from ? end : from + 1, top = lround(y * 10);
    putc(pen->down ? 'm' : 'M', pen->out);
    put_tenths(pen->out, pen->down ? from - pen->x : from);
    putc(' ', pen->out);
    put_tenths(pen->out, pen->down ? top - pen->y : top);
    putc('h', pen->out);
    put_tenths(pen->out, to - from);
    putc('v', pen->out);
    put_tenths(pen->out, lround(h * 10));
    putc('h', pen->out);
    put_tenths(pen->out, from - to);
    putc('z', pen->out);
    *pen = (struct pen){pen->out, true, from, top};
}

static struct rectangle place(const struct page *page, const struct gantt_box *box)
{
    double top = head_height + box->row * page->row_height + page->box_top,
           height = page->row_height - page->lane_height;
    struct rectangle place = {x_of(page, box->start), top, (box->end - box->start) * page->scale,
                              height - 2 * page->box_top};
    if (box->lane == GANTT_LANE_COLLECTIVE) {
        double tier = page->lane_height / page->gantt->tiers;
        place.y = top + height - 2 * page->box_top + box->tier * tier;
        place.height = tier;
        return place;
    }
    if (box->half != GANTT_WHOLE)
        place.height /= 2;
    if (box->half == GANTT_LOWER)
        place.y += place.height;
    return place;
}

static bool put_boxes_of(const struct page *page, unsigned kind, unsigned shade)
{
    const struct gantt *gantt = page->gantt;
    struct pen pen = {.out = page->out};
    for (size_t i = 0; i < gantt->box_count; i++) {
        const struct gantt_box *box = &gantt->boxes[i];
        if (box->kind != kind || box->shade != shade || !(box->end > box->start))
            continue;
        if (!pen.down)
            fprintf(page->out, "<path fill=\"url(#p%u-%u-%u)\" d=\"", kind, shade, gantt->shades);
        struct rectangle at = place(page, box);
        put_rectangle(&pen, at.x, at.y, at.width, at.height);
    }
    return pen.down;
}

static void put_boxes(const struct page *page)
{
    for (unsigned kind = 0; kind < GANTT_KINDS; kind++)
        for (unsigned shade = 0; shade < page->gantt->shades; shade++)
            if (put_boxes_of(page, kind, shade))
                fputs("\"/>\n", page->out);
}

static void put_critical(const struct page *page)
{
    struct pen pen = {.out = page->out};
    for (size_t i = 0; i < page->gantt->box_count; i++) {
        const struct gantt_box *box = &page->gantt->boxes[i];
        if (!box->critical || !(box->end > box->start))
            continue;
        if (!pen.down)
            fputs("<path class=\"cr\" d=\"", page->out);
        struct rectangle at = place(page, box);
        put_rectangle(&pen, at.x, at.y, at.width, at.height);
    }
    if (pen.down)
        fputs("\"/>\n", page->out);
}

/* The numbers of a row's boxes that are wide enough. */
static void put_numbers(const struct page *page)
{
    const struct gantt *gantt = page->gantt;
    uint32_t row = UINT32_MAX;
    double line = 0;
    if (page->row_height - page->lane_height < 14)
        return;
    for (size_t i = 0; i < gantt->box_count; i++) {
        const struct gantt_box *box = &gantt->boxes[i];
        char text[16];
        int length = snprintf(text, sizeof text, "%u%s", box->number, !box->part ? "" : box->part == 1 ? "a" : "b");
        struct rectangle at = place(page, box);
        if (box->number == GANTT_NO_NUMBER || box->half != GANTT_WHOLE || at.width < digit * length + 3)
            continue;
        double base = at.y + at.height / 2 + 3.5;
        if (row != box->row || line != base)
            fprintf(page->out, "%s<text y=\"%.0f\">", row == UINT32_MAX ? "" : "</text>\n", base);
        row = box->row;
        line = base;
        bool white = colour_lightness(gantt_fill(box->kind, box->shade, gantt->shades)) <= 0.55;
        fprintf(page->out, "<tspan%s x=\"%.0f\">%s</tspan>", white ? " class=\"w\"" : "", at.x + at.width / 2, text);
    }
    if (row != UINT32_MAX)
        fputs("</text>\n", page->out);
}

/* ---- shares of time, where boxes are too many ---- */

/* Adds the shares of a row's boxes to columns x kinds. */
static void spread(const struct page *page, const struct gantt_box *box, float *shares, size_t columns)
{
    size_t first = box->row / page->group * page->group, rows = page->gantt->row_count - first;
    double weight = (box->half == GANTT_WHOLE ? 1 : 0.5) / (double)(rows < page->group ? rows : page->group);
    double from = (x_of(page, box->start) - left) / column, to = (x_of(page, box->end) - left) / column;
    for (size_t i = (size_t)fmax(0, from); i < columns && (double)i < to; i++)
        shares[i * GANTT_KINDS + box->kind] += (float)((fmin(to, (double)i + 1) - fmax(from, (double)i)) * weight);
}

/* In steps of the height where kind `kind` of a column begins and ends, stacked from the bottom. */
static void levels_of(const float *shares, unsigned kind, int *low, int *high)
{
    double below = 0;
    for (unsigned k = 0; k < kind; k++)
        below += shares[k];
    *low = (int)lround(fmin(1, below) * STEPS);
    *high = (int)lround(fmin(1, below + shares[kind]) * STEPS);
}

static void put_strip(const struct page *page, struct pen *pen, const float *shares, size_t columns, uint32_t row,
                      unsigned kind)
{
    double bottom = head_height + (row + 1) * page->row_height - page->box_top,
           step = (page->row_height - 2 * page->box_top) / STEPS;
    size_t first = 0;
    int low = 0, high = 0;
    for (size_t i = 0; i <= columns; i++) {
        int next_low = 0, next_high = 0;
        if (i < columns)
            levels_of(shares + i * GANTT_KINDS, kind, &next_low, &next_high);
        if (i < columns && next_low == low && next_high == high)
            continue;
        if (high > low)
            put_rectangle(pen, left + (double)first * column, bottom - high * step, (double)(i - first) * column,
                          (high - low) * step);
        first = i;
        low = next_low;
        high = next_high;
    }
}

static void put_strips(const struct page *page)
{
    const struct gantt *gantt = page->gantt;
    size_t columns = (size_t)ceil((width - left - right) / column), none = 0;
    size_t size = columns * GANTT_KINDS * page->rows;
    float *shares = array_grow(NULL, &none, size + 1, sizeof *shares);
    memset(shares, 0, size * sizeof *shares);
    for (size_t i = 0; i < gantt->box_count; i++)
        if (gantt->boxes[i].lane == GANTT_LANE_COMPUTE)
            spread(page, &gantt->boxes[i], shares + gantt->boxes[i].row / page->group * columns * GANTT_KINDS, columns);
    for (unsigned kind = 0; kind < GANTT_COLLECTIVE; kind++) {
        struct pen pen = {.out = page->out};
        fprintf(page->out, "<path fill=\"url(#p%u-0-1)\" d=\"", kind);
        for (uint32_t row = 0; row < page->rows; row++)
            put_strip(page, &pen, shares + row * columns * GANTT_KINDS, columns, row, kind);
        fputs("\"/>\n", page->out);
    }
    free(shares);
}

/* ---- the figure ---- */

static void put_axis(const struct page *page, double end, double bottom)
{
    struct axis_unit unit = axis_unit_of(end, page->gantt->unit);
    double range = end / unit.scale, step = axis_step(range, 8);
    fputs("<path class=\"g\" d=\"", page->out);
    for (unsigned i = 0; i * step <= range * (1 + 1e-9); i++)
        fprintf(page->out, "M%.1f %.0fV%.0f", x_of(page, i * step * unit.scale), head_height - 4, bottom);
    fputs("\"/>\n<text class=\"a\" y=\"10\">", page->out);
    for (unsigned i = 0; i * step <= range * (1 + 1e-9); i++)
        fprintf(page->out, "<tspan x=\"%.0f\">%.6g%s%s</tspan>", x_of(page, i * step * unit.scale), i * step,
                i ? "" : " ", i ? "" : unit.name);
    fputs("</text>\n", page->out);
}

static void put_rows(const struct page *page)
{
    const struct gantt *gantt = page->gantt;
    struct pen pen = {.out = page->out};
    size_t every = (size_t)ceil(11 / page->row_height);
    fprintf(page->out, "<path class=\"t\" d=\"");
    for (size_t row = 0; row < page->rows; row++)
        put_rectangle(&pen, left, head_height + (double)row * page->row_height + page->box_top,
                      gantt->end * page->scale, page->row_height - 2 * page->box_top);
    fputs("\"/>\n", page->out);
    for (size_t row = 0; row < page->rows; row += every) {
        fprintf(page->out, "<text class=\"l\" x=\"%.0f\" y=\"%.1f\">", left - 6,
                head_height + ((double)row + 0.5) * page->row_height + 3.5);
        html_text(page->out, gantt->rows[row * page->group].label);
        fputs("</text>", page->out);
    }
    putc('\n', page->out);
}

static void put_window(const struct page *page, double bottom)
{
    const struct gantt *gantt = page->gantt;
    if (gantt->window_end > gantt->window_start)
        fprintf(page->out, "<path class=\"mark\" d=\"M%.1f %.0fV%.0fM%.1f %.0fV%.0f\"/>\n",
                x_of(page, gantt->window_start), head_height - 6, bottom, x_of(page, gantt->window_end),
                head_height - 6, bottom);
}

static struct page lay_out(FILE *out, const struct gantt *gantt, double end)
{
    uint32_t group = (uint32_t)((gantt->row_count + ROWS_DRAWN - 1) / ROWS_DRAWN);
    group = group ? group : 1;
    size_t rows = gantt->row_count ? (gantt->row_count + group - 1) / group : 1;
    struct page page = {
        .out = out, .gantt = gantt, .group = group, .rows = rows, .scale = end > 0 ? (width - left - right) / end : 0};
    page.row_height = rows <= 16 ? 24 : rows <= 64 ? 14 : fmax(2, round(900 / (double)rows));
    page.box_top = page.row_height >= 10 ? 1.5 : page.row_height >= 4 ? 0.5 : 0;
    page.strips = group > 1 || (double)gantt->box_count / (double)rows / (width - left - right) > crowded;
    for (size_t i = 0; i < gantt->box_count && !page.strips; i++)
        if (gantt->boxes[i].lane == GANTT_LANE_COLLECTIVE && gantt->boxes[i].end > gantt->boxes[i].start)
            page.lane_height = page.row_height / 4;
    return page;
}

static void put_svg(FILE *out, const struct gantt *gantt, double end)
{
    struct page page = lay_out(out, gantt, end);
    double bottom = head_height + (double)page.rows * page.row_height;
    char length[READABLE_MAX] = "", bubble[READABLE_MAX] = "";
    if (gantt->iteration >= 0) {
        readable_seconds(length, gantt->iteration);
        readable_percent(bubble, gantt->bubble);
    }
    fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Timeline of %zu worker%s, ", width,
            bottom + 4, gantt->row_count, readable_plural(gantt->row_count));
    html_text(out, gantt->title);
    if (*length)
        fprintf(out, ": iteration time %s, bubble ratio %s", length, bubble);
    fputs("\">\n", out);
    put_rows(&page);
    put_axis(&page, end, bottom);
    if (page.strips) {
        put_strips(&page);
    } else {
        put_boxes(&page);
        put_critical(&page);
        put_numbers(&page);
    }
    put_window(&page, bottom);
    fputs("</svg>\n", out);
}

static void put_caption(FILE *out, const struct gantt *gantt, const char *link)
{
    char text[READABLE_MAX];
    fputs("<figcaption><b>", out);
    if (link) {
        fputs("<a href=\"", out);
        html_text(out, link);
        fputs("\">", out);
    }
    html_text(out, gantt->title);
    fputs(link ? "</a></b> <span>" : "</b> <span>", out);
    if (gantt->iteration >= 0) {
        fprintf(out, "%s an iteration, ", readable_seconds(text, gantt->iteration));
        fprintf(out, "%s bubble</span> <span>", readable_percent(text, gantt->bubble));
    }
    html_text(out, gantt->subtitle);
    fputs("</span></figcaption>\n", out);
}

void page_timeline(FILE *out, const struct gantt *gantt, double end, const char *link)
{
    if (!gantt->row_count)
        return; /* nothing to draw */
    fputs("<figure class=\"tl\">\n", out);
    put_caption(out, gantt, link);
    put_svg(out, gantt, end);
    if (gantt->box_count && gantt->box_count <= PAGE_BOXES_MOST) {
        fputs("<script type=\"application/json\">", out);
        page_data(out, gantt);
        fputs("</script>\n", out);
    } else if (gantt->box_count) {
        fprintf(out,
                "<p class=\"note\">%zu boxes are too many for a page that can be zoomed: <code>--trace perfetto</code> "
                "has all of them.</p>\n",
                gantt->box_count);
    }
    fputs("</figure>\n", out);
}
