/* SPDX-License-Identifier: Apache-2.0 */
/* One node: its hosts in a row; above them the links on the way to the next node, below those inside the node. A link
 * is as wide as the hosts that use it, so what is shared can be seen. Links that join two hosts directly are arcs. */
#include "commands/platform/platform_pen.h"
#include "commands/platform/platform_text.h"

#include <math.h>
#include <string.h>

enum { HOSTS_SHOWN = 16, LEVELS_MAX = 6, LEVEL_HEIGHT = 34, HOST_HEIGHT = 34, PAIRS_SHOWN = 8 };

/* Links by host and level, level 0 beside the host; NODE_NONE in between where a route is shorter. */
struct levels {
    uint32_t hosts, count;
    uint32_t link[HOSTS_SHOWN][LEVELS_MAX];
};

#define NO_LINK UINT32_MAX

/* The first half of the route from each host to its target: the part on its own side. */
static void find_levels(const struct view *view, const struct view_node *node, const uint32_t *targets,
                        struct levels *levels)
{
    levels->hosts = node->size < HOSTS_SHOWN ? node->size : HOSTS_SHOWN;
    levels->count = 0;
    for (uint32_t i = 0; i < levels->hosts; i++) {
        struct platform_route route = {0};
        if (view->platform->reaches(view->platform, node->first + i, targets[i]))
            view->platform->route(view->platform, node->first + i, targets[i], &route);
        uint32_t own = (route.link_count + 1) / 2;
        for (uint32_t k = 0; k < LEVELS_MAX; k++)
            levels->link[i][k] = k < own ? route.links[k] : NO_LINK;
        own = own < LEVELS_MAX ? own : LEVELS_MAX;
        levels->count = own > levels->count ? own : levels->count;
    }
}

static double column(const struct pen *pen, const struct levels *levels)
{
    return (pen->width - 2 * PEN_MARGIN) / levels->hosts;
}

/* Neighbours that use the same link on a level share one box. */
static void draw_level(const struct pen *pen, const struct levels *levels, uint32_t level, double y)
{
    double width = column(pen, levels);
    for (uint32_t first = 0, past; first < levels->hosts; first = past) {
        uint32_t index = levels->link[first][level];
        for (past = first + 1; past < levels->hosts && levels->link[past][level] == index; past++)
            continue;
        if (index == NO_LINK)
            continue;
        const struct platform_link *link = &pen->view->platform->links[index];
        struct box box = {PEN_MARGIN + first * width + 2, y, (past - first) * width - 4, LEVEL_HEIGHT - 4};
        char name[96], rate[32];
        view_link_class(link->name, name, sizeof name);
        text_rate(rate, sizeof rate, platform_link_rate(link));
        pen_box(pen, box, pen_link_colour(pen, name), name, 10);
        if (pen->cr)
            canvas_text_within(pen->cr, box.x + 4, box.y + 25, box.width - 8, (struct canvas_font){10, false},
                               colour_hex(0x202020), rate);
    }
}

static void draw_hosts(struct pen *pen, const struct view_node *node, const struct levels *levels)
{
    double width = column(pen, levels);
    for (uint32_t i = 0; i < levels->hosts; i++) {
        const struct platform_host *host = &pen->view->platform->hosts[node->first + i];
        struct box box = {PEN_MARGIN + i * width + 2, pen->y, width - 4, HOST_HEIGHT - 4};
        char speed[32];
        text_speed(speed, sizeof speed, host->speed);
        pen_box(pen, box, 0x4a5a6a, "", 11);
        if (pen->cr) {
            canvas_text_within(pen->cr, box.x + 4, box.y + 13, box.width - 8, (struct canvas_font){11, true},
                               colour_hex(0xffffff), host->name);
            canvas_text_within(pen->cr, box.x + 4, box.y + 26, box.width - 8, (struct canvas_font){10, false},
                               colour_hex(0xffffff), speed);
        }
    }
    pen->y += HOST_HEIGHT;
}

/* ---- inside the node ---- */

/* The link that joins two hosts all by itself, or NO_LINK. */
static uint32_t direct_link(const struct view *view, uint32_t a, uint32_t b)
{
    struct platform_route route = {0};
    if (view->platform->reaches(view->platform, a, b))
        view->platform->route(view->platform, a, b, &route);
    return route.link_count == 1 ? route.links[0] : NO_LINK;
}

static void draw_arc(const struct pen *pen, double from, double to, double y, double depth, double thickness)
{
    cairo_move_to(pen->cr, from, y);
    cairo_curve_to(pen->cr, from, y + depth, to, y + depth, to, y);
    cairo_set_line_width(pen->cr, thickness);
    canvas_set_colour(pen->cr, colour_hex(0x3a7d44));
    cairo_stroke(pen->cr);
}

/* Arcs for pairs with a link of their own, as thick as the link is wide. True when there are any. */
static bool draw_arcs(struct pen *pen, const struct view_node *node, const struct levels *levels)
{
    double width = column(pen, levels), widest = 0, deepest = 0;
    for (int drawing = 0; drawing < 2; drawing++)
        for (uint32_t a = 0; a < levels->hosts; a++)
            for (uint32_t b = a + 1; b < levels->hosts; b++) {
                uint32_t link = direct_link(pen->view, node->first + a, node->first + b);
                if (link == NO_LINK)
                    continue;
                double bandwidth = pen->view->platform->links[link].bandwidth, depth = 14 + 13 * (b - a);
                widest = fmax(widest, bandwidth);
                deepest = fmax(deepest, depth);
                double shift = (b - a) * 2.0;
                if (drawing && pen->cr)
                    draw_arc(pen, PEN_MARGIN + (a + 0.5) * width + shift, PEN_MARGIN + (b + 0.5) * width - shift,
                             pen->y, depth, fmax(0.75, 4 * bandwidth / widest));
            }
    pen->y += deepest * 0.78 + (deepest > 0 ? 6 : 0);
    return deepest > 0;
}

static void draw_inside(struct pen *pen, const struct view_node *node, struct levels *levels)
{
    uint32_t targets[HOSTS_SHOWN], shown = levels->hosts;
    if (node->size < 2 || draw_arcs(pen, node, levels))
        return;
    for (uint32_t i = 0; i < shown; i++)
        targets[i] = node->first + (i + node->size / 2) % node->size;
    find_levels(pen->view, node, targets, levels);
    for (uint32_t level = 0; level < levels->count; level++, pen->y += LEVEL_HEIGHT)
        draw_level(pen, levels, level, pen->y);
    pen_box(pen, (struct box){PEN_MARGIN + 2, pen->y, pen->width - 2 * PEN_MARGIN - 4, 16}, 0xdddddd, "inside the node",
            10);
    pen->y += 20;
}

/* ---- figures ---- */

static void draw_figures(struct pen *pen, const struct view_node *node)
{
    char text[256], rate[32], time[32];
    for (uint32_t i = 0; i < node->pair_count && i < PAIRS_SHOWN; i++) {
        text_rate(rate, sizeof rate, node->pairs[i].bandwidth);
        text_time(time, sizeof time, node->pairs[i].latency);
        snprintf(text, sizeof text, "%u pair%s of hosts%s: %s, %s", node->pairs[i].count,
                 node->pairs[i].count == 1 ? "" : "s", node->sampled ? " (from the first host)" : "", rate, time);
        pen_line(pen, PEN_MARGIN, false, text);
    }
    if (node->size > 1) {
        text_rate(rate, sizeof rate, node->ring);
        snprintf(text, sizeof text, "Ring of all hosts in order: %s", rate);
        pen_line(pen, PEN_MARGIN, false, text);
    }
    if (node->out > 0) {
        text_rate(rate, sizeof rate, node->out);
        snprintf(text, sizeof text, "To the next node, all hosts at once: %s", rate);
        pen_line(pen, PEN_MARGIN, false, text);
    }
}

/* Levels towards the next node, farthest first, so that they end beside the hosts. */
static void draw_outside(struct pen *pen, const struct view_node *node, struct levels *levels)
{
    uint32_t targets[HOSTS_SHOWN], next = node->first + node->size;
    if (node->out <= 0)
        return;
    for (uint32_t i = 0; i < levels->hosts; i++)
        targets[i] = next + i;
    find_levels(pen->view, node, targets, levels);
    pen_line(pen, PEN_MARGIN, false, "to other nodes");
    for (uint32_t level = levels->count; level-- > 0; pen->y += LEVEL_HEIGHT)
        draw_level(pen, levels, level, pen->y);
}

void pen_node(struct pen *pen, const struct view_node *node)
{
    const struct platform_host *host = &pen->view->platform->hosts[node->first];
    struct levels levels = {.hosts = node->size < HOSTS_SHOWN ? node->size : HOSTS_SHOWN};
    char text[256], memory[32] = "";
    pen->y += 8;
    if (host->memory > 0)
        text_memory(memory, sizeof memory, host->memory);
    snprintf(text, sizeof text, "%u x node of %u host%s%s%.80s%s%s%s", node->count, node->size,
             node->size == 1 ? "" : "s", host->model ? ", " : "", host->model ? host->model : "", memory[0] ? ", " : "",
             memory, node->size > HOSTS_SHOWN ? " (16 of them shown)" : "");
    pen_line(pen, PEN_MARGIN, true, text);
    draw_outside(pen, node, &levels);
    draw_hosts(pen, node, &levels);
    draw_inside(pen, node, &levels);
    draw_figures(pen, node);
}
