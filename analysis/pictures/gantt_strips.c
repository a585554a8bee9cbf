/* SPDX-License-Identifier: Apache-2.0 */
/* Strips: a row falls into bursts (times without a long pause) with exact edges; a burst is cut into bins of equal
 * length, each a stack of the shares of time that the kinds take in it; neighbouring bins that hardly differ become one
 * run. */
#include "analysis/pictures/gantt_draw.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 32 }; /* heights are rounded to this part of a row */

static const double bin_least = 3, bin_most = 24; /* points */
static const double boxes_per_bin = 16; /* several periods of a schedule: fewer make the shares swing from bin to bin */

/* A stack of shares from one time to another: level[k] is where kind k ends and k + 1 begins, in steps of a row's
 * height. */
struct run {
    double start, end;
    uint32_t row;
    uint8_t lane, level[GANTT_KINDS];
};

struct strips {
    const struct gantt *gantt;
    const struct gantt_layout *layout;
    double per_time, bin, pause; /* points per time; times */
    struct run *runs;
    size_t count, capacity;
};

/* Boxes first .. last - 1 of a drawn row and lane, and the time from the first start to the last end. */
struct burst {
    size_t first, last;
    double start, end;
    uint32_t row;
    uint8_t lane;
    double weight; /* one through the number of rows that the drawn row stands for */
};

/* Spreads the time of a box over the bins that it touches. */
static void spread(float *shares, size_t bins, const struct burst *burst, const struct gantt_box *box)
{
    double scale = (double)bins / (burst->end - burst->start),
           weight = burst->weight * (box->half == GANTT_WHOLE ? 1 : 0.5);
    double from = (box->start - burst->start) * scale, to = (box->end - burst->start) * scale;
    size_t first = (size_t)fmin(fmax(from, 0), (double)(bins - 1)),
           last = (size_t)fmin(fmax(to, 0), (double)(bins - 1));
    for (size_t bin = first; bin <= last; bin++) {
        double share = fmin(to, (double)bin + 1) - fmax(from, (double)bin);
        if (share > 0)
            shares[bin * GANTT_KINDS + box->kind] += (float)(share * weight);
    }
}

static struct run stack(const float *shares, const struct burst *burst)
{
    struct run run = {.row = burst->row, .lane = burst->lane};
    double sum = 0;
    for (unsigned kind = 0; kind < GANTT_KINDS; kind++) {
        sum += shares[kind];
        run.level[kind] = (uint8_t)lround(fmin(sum, 1) * STEPS);
    }
    return run;
}

static bool is_alike(const struct run *a, const struct run *b)
{
    for (unsigned kind = 0; kind < GANTT_KINDS; kind++) {
        if (abs(a->level[kind] - b->level[kind]) > 1)
            return false;
    }
    return true;
}

static void add_run(struct strips *strips, const struct run *run, bool may_join)
{
    struct run *last = strips->count ? &strips->runs[strips->count - 1] : NULL;
    if (may_join && is_alike(last, run)) {
        last->end = run->end;
        return;
    }
    strips->runs = array_grow(strips->runs, &strips->capacity, strips->count + 1, sizeof *strips->runs);
    strips->runs[strips->count++] = *run;
}

static void add_burst(struct strips *strips, const struct burst *burst)
{
    size_t bins = (size_t)fmax(1, round((burst->end - burst->start) / strips->bin)), capacity = 0;
    float *shares = array_grow(NULL, &capacity, bins * GANTT_KINDS, sizeof *shares);
    memset(shares, 0, bins * GANTT_KINDS * sizeof *shares);
    for (size_t i = burst->first; i < burst->last; i++) {
        if (strips->gantt->boxes[i].lane == burst->lane && burst->end > burst->start)
            spread(shares, bins, burst, &strips->gantt->boxes[i]);
    }
    for (size_t bin = 0; bin < bins; bin++) {
        struct run run = stack(shares + bin * GANTT_KINDS, burst);
        run.start = burst->start + (burst->end - burst->start) * (double)bin / (double)bins;
        run.end = burst->start + (burst->end - burst->start) * (double)(bin + 1) / (double)bins;
        add_run(strips, &run, bin > 0);
    }
    free(shares);
}

/* The bursts of one lane of one row that stands for itself. */
static void add_row(struct strips *strips, size_t first, size_t last, uint8_t lane)
{
    const struct gantt_box *boxes = strips->gantt->boxes;
    struct burst burst = {.lane = lane, .weight = 1};
    bool open = false;
    for (size_t i = first; i < last; i++) {
        if (boxes[i].lane != lane)
            continue;
        if (open && boxes[i].start > burst.end + strips->pause) {
            burst.last = i;
            add_burst(strips, &burst);
            open = false;
        }
        if (!open)
            burst = (struct burst){.first = i,
                                   .start = boxes[i].start,
                                   .end = boxes[i].end,
                                   .row = boxes[i].row,
                                   .lane = lane,
                                   .weight = 1};
        burst.end = fmax(burst.end, boxes[i].end);
        open = true;
    }
    burst.last = last;
    if (open)
        add_burst(strips, &burst);
}

/* Rows first .. last - 1 of boxes belong to one drawn row, which stands for several. */
static void add_group(struct strips *strips, size_t first, size_t last, uint8_t lane)
{
    uint32_t group = strips->layout->group, row = strips->gantt->boxes[first].row / group;
    size_t members = strips->gantt->row_count - (size_t)row * group;
    struct burst burst = {.first = first, .last = last, .end = strips->gantt->end, .row = row, .lane = lane};
    burst.weight = 1.0 / (members < group ? (double)members : group);
    add_burst(strips, &burst);
}

static void collect(struct strips *strips)
{
    const struct gantt *gantt = strips->gantt;
    uint32_t group = strips->layout->group;
    for (size_t first = 0, last; first < gantt->box_count; first = last) {
        for (last = first;
             last < gantt->box_count && gantt->boxes[last].row / group == gantt->boxes[first].row / group;)
            last++;
        for (uint8_t lane = 0; lane < GANTT_LANES; lane++) {
            if (group == 1)
                add_row(strips, first, last, lane);
            else
                add_group(strips, first, last, lane);
        }
    }
}

/* Adds the rectangles of one kind to the path; false when there are none. */
static bool add_kind(cairo_t *cr, const struct strips *strips, unsigned kind, double x, double y)
{
    const struct gantt_layout *layout = strips->layout;
    bool any = false;
    for (size_t i = 0; i < strips->count; i++) {
        const struct run *run = &strips->runs[i];
        unsigned low = kind ? run->level[kind - 1] : 0, high = run->level[kind];
        if (high <= low)
            continue;
        double top = y + run->row * layout->pitch, height = layout->box;
        if (run->lane == GANTT_LANE_COLLECTIVE) {
            top += layout->box;
            height = layout->lane;
        }
        style_add_rectangle(cr,
                            (struct rectangle){x + run->start * strips->per_time, top + height * (STEPS - high) / STEPS,
                                               fmax(0.25, (run->end - run->start) * strips->per_time),
                                               height * (high - low) / STEPS});
        any = true;
    }
    return any;
}

void gantt_draw_strips(cairo_t *cr, const struct gantt *gantt, const struct gantt_layout *layout, double x, double y)
{
    if (!(layout->wish.end > 0))
        return;
    double per_time = layout->wish.width / layout->wish.end;
    double bin = fmin(bin_most, fmax(bin_least, boxes_per_bin * layout->mean_width / layout->group));
    struct strips strips = {.gantt = gantt, .layout = layout, .per_time = per_time, .bin = bin / per_time};
    strips.pause = fmax(bin_least, 4 * layout->mean_width) / per_time;
    collect(&strips);
    for (unsigned kind = 0; kind < GANTT_KINDS; kind++) {
        if (add_kind(cr, &strips, kind, x, y))
            style_paint(cr, gantt_fill(kind, 0, 1), gantt_hatch(kind), 0,
                        (struct rectangle){x, y, layout->wish.width, layout->height});
    }
    free(strips.runs);
}
