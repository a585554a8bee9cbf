/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/gantt_draw.h"

#include <string.h>

static const struct canvas_font legend_font = {9.5, false};
static const double line_height = 19, swatch_width = 20, swatch_height = 11, item_gap = 20;

/* Where the next item goes. */
struct pen {
    cairo_t *cr;
    double left, right, x, y;
    bool draw;
};

void gantt_legend_add(struct gantt_legend *legend, const struct gantt *gantt, const struct gantt_layout *layout)
{
    for (size_t i = 0; i < gantt->box_count; i++) {
        if (!(gantt->boxes[i].end > gantt->boxes[i].start))
            continue;
        legend->kinds[gantt->boxes[i].kind] = true;
    }
    legend->numbers |= layout->label_size > 0;
    legend->critical |= gantt_shows_critical(gantt, layout);
    legend->arrows |= gantt_shows_arrows(gantt, layout);
    legend->strips |= layout->strips;
    legend->jobs |= gantt->jobs > 0;
    if (*gantt->computing)
        memcpy(legend->computing, gantt->computing, sizeof legend->computing);
    if (gantt->shades < 2 || layout->strips)
        return;
    legend->mixed |= legend->shades > 1 && strcmp(legend->shade_names[0], gantt->shade_names[0]) != 0;
    if (gantt->shades > legend->shades) {
        legend->shades = gantt->shades;
        memcpy(legend->shade_names, gantt->shade_names, sizeof legend->shade_names);
    }
}

/* Makes room for an item with a swatch of that width; returns its left edge. */
static double begin_item(struct pen *pen, double swatch, const char *text)
{
    swatch += swatch > 0 ? 6 : 0;
    double width = swatch + canvas_text_width(pen->cr, legend_font, text);
    if (pen->x > pen->left && pen->x + width > pen->right) {
        pen->x = pen->left;
        pen->y += line_height;
    }
    double x = pen->x;
    pen->x += width + item_gap;
    if (pen->draw)
        canvas_text_within(pen->cr, x + swatch, pen->y + swatch_height - 1.5, pen->right - x - swatch, legend_font,
                           style_text, text);
    return x;
}

/* Rows of jobs show whether any rank computes, and whether any data move. */
static const char *legend_name(const struct gantt_legend *legend, unsigned kind)
{
    if (kind == GANTT_COMPUTE && *legend->computing)
        return legend->computing;
    if (legend->jobs && kind == GANTT_COMPUTE)
        return "computation";
    return legend->jobs && kind == GANTT_COLLECTIVE ? "transfer" : gantt_kind_label(kind);
}

/* As many swatches as shades. Optimizer, collectives and transfers have one colour for all. */
static void kind_item(struct pen *pen, const struct gantt_legend *legend, unsigned kind)
{
    bool shaded = legend->shades > 1 && kind != GANTT_OPTIMIZER && kind < GANTT_COLLECTIVE;
    unsigned shades = shaded ? legend->shades : 1;
    char text[160];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", legend_name(legend, kind));
    bool named = shaded && !legend->mixed;
    for (unsigned i = 0; i < shades && named && shades <= 3; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : ": ", legend->shade_names[i]);
    if (named && shades > 3)
        snprintf(text + used, sizeof text - used, ": %s to %s", legend->shade_names[0],
                 legend->shade_names[shades - 1]);
    double width = shades > 3 ? swatch_width / 2 : swatch_width, x = begin_item(pen, shades * width, text);
    for (unsigned i = 0; i < shades && pen->draw; i++)
        style_swatch(pen->cr, (struct rectangle){x + i * width, pen->y, width, swatch_height},
                     gantt_fill(kind, i, shades), gantt_hatch(kind));
}

static void idle_item(struct pen *pen)
{
    double x = begin_item(pen, swatch_width, "idle");
    if (pen->draw)
        style_swatch(pen->cr, (struct rectangle){x, pen->y, swatch_width, swatch_height}, style_idle, HATCH_NONE);
}

static void line_item(struct pen *pen, const char *text, struct colour colour, double thickness)
{
    double x = begin_item(pen, swatch_width, text);
    if (!pen->draw)
        return;
    cairo_move_to(pen->cr, x, pen->y + swatch_height / 2);
    cairo_line_to(pen->cr, x + swatch_width, pen->y + swatch_height / 2);
    canvas_set_colour(pen->cr, colour);
    cairo_set_line_width(pen->cr, thickness);
    cairo_stroke(pen->cr);
}

double gantt_legend_draw(cairo_t *cr, const struct gantt_legend *legend, double x, double y, double width, bool draw)
{
    struct pen pen = {cr, x, x + width, x, y, draw};
    for (unsigned kind = 0; kind < GANTT_KINDS; kind++) {
        if (legend->kinds[kind])
            kind_item(&pen, legend, kind);
    }
    idle_item(&pen);
    if (legend->critical)
        line_item(&pen, "critical path", style_critical, 1.6);
    if (legend->arrows)
        line_item(&pen, "message", style_faint, 0.8);
    if (legend->numbers)
        begin_item(&pen, 0, "numbers: micro-batch");
    if (legend->mixed)
        begin_item(&pen, 0, "shade: direction of the pipeline, or chunk");
    if (legend->strips)
        begin_item(&pen, 0, "height: share of the time");
    return pen.y + line_height - y;
}
