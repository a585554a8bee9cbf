/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/platform/platform_pen.h"

#include <string.h>

void pen_box(const struct pen *pen, struct box box, uint32_t fill, const char *title, double size)
{
    if (!pen->cr)
        return;
    cairo_rectangle(pen->cr, canvas_snap(box.x), canvas_snap(box.y), canvas_snap(box.width), canvas_snap(box.height));
    canvas_set_colour(pen->cr, colour_hex(fill));
    cairo_fill_preserve(pen->cr);
    canvas_set_colour(pen->cr, colour_hex(0x707070));
    cairo_set_line_width(pen->cr, 0.75);
    cairo_stroke(pen->cr);
    canvas_text_within(pen->cr, box.x + 4, box.y + size + 3, box.width - 8, (struct canvas_font){size, false},
                       colour_hex(0x202020), title);
}

void pen_text(const struct pen *pen, double x, double y, struct canvas_font font, const char *text)
{
    if (pen->cr)
        canvas_text(pen->cr, x, y, ALIGN_LEFT, font, colour_hex(0x202020), text);
}

void pen_line(struct pen *pen, double x, bool bold, const char *text)
{
    pen->y += PEN_LINE;
    pen_text(pen, x, pen->y - 4, (struct canvas_font){bold ? 14 : 12, bold}, text);
}

uint32_t pen_link_colour(const struct pen *pen, const char *class_name)
{
    static const uint32_t colours[] = {0xcfe8cf, 0xcfdff2, 0xf7dcc0, 0xe3d3ef, 0xf3efc0, 0xd8eeee, 0xf2d0d6, 0xe2e2e2};
    uint32_t kind = 0, seen = 0;
    for (uint32_t i = 0; i < pen->view->link_count; i++) {
        if (i && strcmp(pen->view->links[i].name, pen->view->links[i - 1].name) != 0)
            seen++;
        if (strcmp(pen->view->links[i].name, class_name) == 0)
            kind = seen;
    }
    return colours[kind % (sizeof colours / sizeof *colours)];
}
