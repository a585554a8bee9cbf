/* SPDX-License-Identifier: Apache-2.0 */
/* How large a drawing becomes, and where each box lies in it. */
#include "analysis/pictures/gantt_draw.h"

#include "analysis/pictures/picture_form.h"

#include <math.h>

static const double box_least = 2.4; /* points: where the mean box is narrower, strips are drawn */
static const double box_least_printed = 1.2;
static const size_t boxes_most = 24000; /* the same where a picture has more; bounds its size in bytes */
static const double label_least = 4.6, label_most = 9.5;
static const double digit_width = 0.637; /* of DejaVu Sans' digits, in font sizes */

struct widths {
    double sum[GANTT_KINDS];
    size_t count[GANTT_KINDS];
    uint32_t largest_number;
    bool parts, collectives;
};

static struct widths measure_widths(const struct gantt *gantt)
{
    struct widths widths = {0};
    for (size_t i = 0; i < gantt->box_count; i++) {
        const struct gantt_box *box = &gantt->boxes[i];
        widths.collectives |= box->lane == GANTT_LANE_COLLECTIVE;
        if (box->lane != GANTT_LANE_COMPUTE || !(box->end > box->start))
            continue;
        widths.sum[box->kind] += box->end - box->start;
        widths.count[box->kind]++;
        widths.parts |= box->part != 0;
        if (box->number != GANTT_NO_NUMBER && box->number > widths.largest_number)
            widths.largest_number = box->number;
    }
    return widths;
}

static unsigned digits_of(uint32_t number)
{
    unsigned digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

/* The size at which the largest number fits the mean box of those kinds for which that is legible. */
static double choose_label_size(const struct widths *widths, double per_second, double box, double least)
{
    double characters = digits_of(widths->largest_number) + (widths->parts ? 1 : 0), size = 0;
    for (int kind = GANTT_FORWARD; kind <= GANTT_WEIGHT; kind++) {
        if (widths->count[kind] == 0)
            continue;
        double room = widths->sum[kind] / widths->count[kind] * per_second - 1.6;
        double fits = fmin(fmin(room / (characters * digit_width), box * 0.62), label_most);
        if (fits >= least)
            size = size > 0 ? fmin(size, fits) : fits;
    }
    return size;
}

double gantt_points_per_time(const struct gantt_layout *layout)
{
    return layout->wish.end > 0 ? layout->wish.width / layout->wish.end : 0;
}

struct gantt_layout gantt_lay_out(const struct gantt *gantt, const struct gantt_wish *wish)
{
    struct gantt_layout layout = {.wish = *wish, .group = 1, .tiers = gantt->tiers};
    struct widths widths = measure_widths(gantt);
    double busy = 0, per_second = gantt_points_per_time(&layout);
    size_t boxes = 0;
    for (int kind = 0; kind < GANTT_KINDS; kind++) {
        busy += widths.sum[kind];
        boxes += widths.count[kind];
    }
    layout.mean_width = boxes ? busy / boxes * per_second : wish->width;
    double narrowest = wish->paper ? box_least_printed : box_least;
    layout.strips = layout.mean_width < narrowest || boxes > boxes_most || gantt->row_count > wish->most_rows;
    if (gantt->row_count > wish->most_rows)
        layout.group = (uint32_t)((gantt->row_count + wish->most_rows - 1) / wish->most_rows);
    layout.rows = (uint32_t)((gantt->row_count + layout.group - 1) / layout.group);
    double share = widths.collectives ? 0.2 + 0.08 * gantt->tiers : 0, gap = 0.22;
    layout.box = fmax(3.5, fmin(wish->box_height, wish->most_height / fmax(1, layout.rows) / (1 + share + gap)));
    layout.box = floor(layout.box * 2) / 2;
    layout.lane = widths.collectives ? fmax(2, layout.box * share) : 0;
    layout.pitch = layout.box + layout.lane + fmax(1, floor(layout.box * gap));
    layout.height = layout.rows ? layout.rows * layout.pitch - (layout.pitch - layout.box - layout.lane) : 0;
    double least = wish->paper ? 0.75 * picture_text_size : label_least;
    layout.label_size = layout.strips ? 0 : choose_label_size(&widths, per_second, layout.box, least);
    layout.line = layout.strips ? 0 : fmax(0.2, fmin(0.6, layout.mean_width * 0.06));
    return layout;
}

struct rectangle gantt_lane_place(const struct gantt_layout *layout, double x, double y, uint32_t row, unsigned lane)
{
    double top = y + row / layout->group * layout->pitch;
    if (lane == GANTT_LANE_COLLECTIVE)
        return (struct rectangle){x, top + layout->box, layout->wish.width, layout->lane};
    return (struct rectangle){x, top, layout->wish.width, layout->box};
}

struct rectangle gantt_box_place(const struct gantt_layout *layout, const struct gantt_box *box, double x, double y)
{
    struct rectangle place = gantt_lane_place(layout, x, y, box->row, box->lane);
    place.x = x + box->start * gantt_points_per_time(layout);
    place.width = (box->end - box->start) * gantt_points_per_time(layout);
    if (box->lane == GANTT_LANE_COLLECTIVE) {
        place.height /= layout->tiers;
        place.y += place.height * box->tier;
    }
    if (box->half != GANTT_WHOLE) {
        place.height /= 2;
        place.y += box->half == GANTT_LOWER ? place.height : 0;
    }
    return place;
}
