/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path: outlines of its boxes, and a line from each to the next where they lie in different rows. */
#include "analysis/pictures/gantt_draw.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* More lines from row to row would hide the boxes. Strips bear little more than once down all rows and up again. */
static const size_t jumps_of_boxes = 240, jumps_of_strips = 16, jumps_per_row = 3;

static int compare_starts(const void *left, const void *right)
{
    const struct gantt_box *a = *(const struct gantt_box *const *)left, *b = *(const struct gantt_box *const *)right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* The critical boxes in the order of time; the caller frees them. */
static const struct gantt_box **collect(const struct gantt *gantt, size_t *count)
{
    const struct gantt_box **path = NULL;
    size_t capacity = 0;
    *count = 0;
    for (size_t i = 0; i < gantt->box_count; i++) {
        if (!gantt->boxes[i].critical)
            continue;
        path = array_grow(path, &capacity, *count + 1, sizeof *path);
        path[(*count)++] = &gantt->boxes[i];
    }
    if (*count)
        qsort(path, *count, sizeof *path, compare_starts);
    return path;
}

bool gantt_shows_critical(const struct gantt *gantt, const struct gantt_layout *layout)
{
    size_t count, jumps = 0;
    if (layout->wish.plain)
        return false;
    const struct gantt_box **path = collect(gantt, &count);
    for (size_t i = 1; i < count; i++)
        jumps += path[i]->row / layout->group != path[i - 1]->row / layout->group;
    free(path);
    return count > 0 && jumps <= (layout->strips ? jumps_of_strips : jumps_of_boxes) + jumps_per_row * layout->rows;
}

static void add_outline(cairo_t *cr, struct rectangle place)
{
    const double inset = 0.4;
    style_add_rectangle(cr, (struct rectangle){place.x + inset, place.y + inset, fmax(0.2, place.width - 2 * inset),
                                               place.height - 2 * inset});
}

static void add_line(cairo_t *cr, struct rectangle from, struct rectangle to)
{
    cairo_move_to(cr, canvas_snap(from.x + from.width), canvas_snap(from.y + from.height / 2));
    cairo_line_to(cr, canvas_snap(to.x), canvas_snap(to.y + to.height / 2));
}

void gantt_draw_critical(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y)
{
    size_t count;
    const struct gantt_box **path = collect(gantt, &count);
    struct rectangle run = {0}; /* neighbouring boxes of a row in strips: one line */
    for (size_t i = 0; i < count; i++) {
        struct rectangle place = gantt_box_place(layout, path[i], x, y);
        bool begins = i == 0 || path[i]->row != path[i - 1]->row;
        if (!layout->strips)
            add_outline(cr, place);
        if (begins)
            run = place;
        if (i + 1 < count && path[i + 1]->row == path[i]->row)
            continue;
        if (layout->strips) {
            cairo_move_to(cr, canvas_snap(run.x), canvas_snap(run.y + run.height / 2));
            cairo_line_to(cr, canvas_snap(place.x + place.width), canvas_snap(run.y + run.height / 2));
        }
        if (i + 1 < count)
            add_line(cr, place, gantt_box_place(layout, path[i + 1], x, y));
    }
    free(path);
    canvas_set_colour(cr, style_critical);
    cairo_set_line_width(cr, 1.3);
    cairo_stroke(cr);
}
