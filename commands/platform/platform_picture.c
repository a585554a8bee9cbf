/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/platform/platform_picture.h"

#include "commands/platform/platform_pen.h"
#include "commands/platform/platform_text.h"

#include <math.h>
#include <string.h>

enum { KINDS_SHOWN = 3, LINKS_SHOWN = 24, CHILDREN_SHOWN = 8, DEPTH_SHOWN = 5 };

/* ---- strokes ---- */

/* ---- zones ---- */

static void zone_title(char *text, size_t size, const struct zone *zone)
{
    size_t used = 0;
    if (zone->count > 1)
        used = (size_t)snprintf(text, size, "%u x %.60s to %.60s", zone->count, zone->name, zone->last);
    else
        used = (size_t)snprintf(text, size, "%.60s", zone->name);
    if (zone->hosts && used < size)
        snprintf(text + used, size - used, ": %u host%s%s%.30s", zone->hosts, zone->hosts == 1 ? "" : "s",
                 zone->speed ? " of " : "", zone->speed ? zone->speed : "");
    else if (zone->router && !zone->child && used < size)
        snprintf(text + used, size - used, ": %.60s", zone->router);
    else if (zone->total_hosts && used < size)
        snprintf(text + used, size - used, ": %llu hosts%s", (unsigned long long)zone->total_hosts,
                 zone->count > 1 ? " each" : "");
}

/* Advances pen->y past the zone; drawn after its height is known, so the box is laid out first. */
static double zone_height(const struct zone *zone, unsigned depth)
{
    double height = 22;
    uint32_t shown = 0;
    for (const struct zone *child = zone->child; child && depth < DEPTH_SHOWN; child = child->next, shown++) {
        if (shown == CHILDREN_SHOWN)
            return height + PEN_LINE + 4;
        height += zone_height(child, depth + 1) + 6;
    }
    return height + (zone->child ? 4 : 0);
}

static void draw_zone(struct pen *pen, const struct zone *zone, double x, double width, unsigned depth)
{
    static const uint32_t fills[] = {0xf4f4f4, 0xebf0f5, 0xf7f3ea, 0xeef5ec, 0xf4f4f4, 0xebf0f5};
    double top = pen->y, height = zone_height(zone, depth);
    char title[256];
    uint32_t shown = 0;
    zone_title(title, sizeof title, zone);
    for (int behind = zone->count > 2 ? 2 : (int)zone->count - 1; behind > 0; behind--)
        pen_box(pen, (struct box){x + 3 * behind, top - 3 * behind, width, height}, 0xffffff, "", 11);
    pen_box(pen, (struct box){x, top, width, height}, fills[depth % 6], title, 12);
    pen->y += 22;
    for (const struct zone *child = zone->child; child && depth < DEPTH_SHOWN; child = child->next, shown++) {
        if (shown == CHILDREN_SHOWN) {
            pen_line(pen, x + 12, false, "and more");
            break;
        }
        draw_zone(pen, child, x + 12, width - 30, depth + 1);
        pen->y += 6;
    }
    pen->y = top + height;
}

void pen_zones(struct pen *pen, const struct zone *root)
{
    pen->y += 12;
    draw_zone(pen, root, PEN_MARGIN, pen->width - 2 * PEN_MARGIN - 10, 0);
    pen->y += 10;
}

/* ---- links ---- */

static void draw_links(struct pen *pen)
{
    pen->y += 8;
    pen_line(pen, PEN_MARGIN, true, "Links, each direction by itself");
    for (uint32_t i = 0; i < pen->view->link_count && i < LINKS_SHOWN; i++) {
        const struct view_links *links = &pen->view->links[i];
        char text[192], rate[32], time[32];
        text_rate(rate, sizeof rate, links->bandwidth);
        text_time(time, sizeof time, links->latency);
        snprintf(text, sizeof text, "%u x %s", links->count, links->name);
        pen_box(pen, (struct box){PEN_MARGIN, pen->y + 4, 12, 10}, pen_link_colour(pen, links->name), "", 8);
        pen_text(pen, PEN_MARGIN + pen->width * 0.55, pen->y + PEN_LINE - 4, (struct canvas_font){12, false}, rate);
        pen_text(pen, PEN_MARGIN + pen->width * 0.55 + 110, pen->y + PEN_LINE - 4, (struct canvas_font){12, false},
                 time);
        pen_line(pen, PEN_MARGIN + 20, false, text);
    }
    if (pen->view->link_count > LINKS_SHOWN)
        pen_line(pen, PEN_MARGIN + 20, false, "and more kinds of links");
}

/* ---- the whole ---- */

static void draw(struct pen *pen, const struct zone *root)
{
    const struct platform *platform = pen->view->platform;
    const char *slash = strrchr(platform->file, '/');
    char text[256], rate[32];
    pen->y = PEN_MARGIN;
    snprintf(text, sizeof text, "%.150s: %u GPU%s in %u node%s", slash ? slash + 1 : platform->file,
             platform->host_count, platform->host_count == 1 ? "" : "s", pen->view->node_total,
             pen->view->node_total == 1 ? "" : "s");
    pen_line(pen, PEN_MARGIN, true, text);
    if (platform->host_count > 1) {
        text_rate(rate, sizeof rate, pen->view->bisection);
        snprintf(text, sizeof text, "Bisection, first half of the hosts to the second: %s", rate);
        pen_line(pen, PEN_MARGIN, false, text);
    }
    pen_zones(pen, root);
    for (uint32_t i = 0; i < pen->view->node_count && i < KINDS_SHOWN; i++)
        pen_node(pen, &pen->view->nodes[i]);
    draw_links(pen);
    pen->y += PEN_MARGIN;
}

static double width_of(const struct view *view)
{
    double width = 640;
    for (uint32_t i = 0; i < view->node_count && i < KINDS_SHOWN; i++)
        width = fmax(width, fmin(view->nodes[i].size, 16) * 92 + 2 * PEN_MARGIN);
    return width;
}

bool platform_picture(const struct view *view, const struct zone *root, enum canvas_format format, FILE *out,
                      struct fault *fault)
{
    struct pen pen = {.view = view, .width = width_of(view)};
    char description[200];
    draw(&pen, root);
    snprintf(description, sizeof description,
             "%u GPUs in %u nodes: zones, one node of each kind with its links, and rates", view->platform->host_count,
             view->node_total);
    struct canvas_caption caption = {.title = "Platform", .description = description};
    struct canvas *canvas = canvas_create(format, pen.width, pen.y, &caption);
    pen.cr = canvas_context(canvas);
    cairo_rectangle(pen.cr, 0, 0, pen.width, pen.y);
    canvas_set_colour(pen.cr, colour_hex(0xffffff));
    cairo_fill(pen.cr);
    draw(&pen, root);
    return canvas_finish(canvas, out, fault);
}
