/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rounded/rounded.h"
#include "commands/schedule/schedule_output.h"

#include "analysis/pictures/palette.h"
#include "base/arena.h"
#include "base/number_text.h"
#include "base/table.h"
#include "schedules/plan/plan_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS_MAX = 400,     /* of a whole drawing, or where that is more */
    COLUMNS_PER_SLOT = 16, /* of the longest order; beyond it, names that do not fit their slot are cut */
    PANEL_MIN = 20,
    TICK_MIN = 8 /* columns between two times on the axis */
};

/* Rows of a worker: what it computes, and where stashes move to host memory, those on their way there and back. */
enum lane { LANE_COMPUTE, LANE_OUT, LANE_BACK, LANES };

struct drawing {
    FILE *out;
    const struct schedule_view *view;
    struct schedule_text_style style;
    double begin, scale;    /* first instant; columns per unit of time */
    unsigned margin, panel; /* columns of the workers' names, and of the time beside them */
    size_t columns;         /* of the whole drawing */
    size_t *next;           /* [lane * workers + worker]: first slot that reaches into the panel */
    char *line, *kinds;     /* a row of the panel: characters, and kinds for their colours */
};

/* Writes "F12:1a" and returns its length. There are millions, and printf is slow. */
static size_t label(const struct plan *plan, const struct slot *slot, char text[32])
{
    size_t length = 0;
    text[length++] = slot_letter(slot->kind);
    length += number_write_integer(text + length, slot->micro_batch / plan->slices);
    if (plan->slices > 1) {
        text[length++] = '.';
        length += number_write_integer(text + length, slot->micro_batch % plan->slices);
    }
    if (plan->stages > plan->workers) {
        text[length++] = ':';
        length += number_write_integer(text + length, slot->stage / plan->workers);
    }
    if (slot->part != PART_WHOLE)
        text[length++] = slot->part == PART_A ? 'a' : 'b';
    return length;
}

/* The name of a block: those of its slots, one after the other. */
static size_t block_label(const struct plan *plan, const struct plan_order *order, size_t index, char text[64])
{
    size_t length = label(plan, &order->slots[index], text);
    if (schedule_block_place(order, index) == 1)
        length += label(plan, &order->slots[index + 1], text + length);
    return length;
}

/* Columns per time such that every name fits its slot with a column to spare, within the most columns in all. */
static double scale_of(const struct schedule_view *view)
{
    double scale = 0, columns = COLUMNS_MAX;
    for (uint32_t worker = 0; worker < view->plan->workers; worker++) {
        const struct plan_order *order = &view->plan->orders[worker];
        columns = fmax(columns, COLUMNS_PER_SLOT * (double)order->count);
        for (size_t i = 0; i < order->count; i++) {
            struct plan_span span = plan_timing_span(view->timing, worker, i);
            char text[64];
            if (span.end > span.start && !order->slots[i].joined && !slot_moves(&order->slots[i]))
                scale = fmax(scale, (double)(block_label(view->plan, order, i, text) + 1) / (span.end - span.start));
        }
    }
    return scale > 0 ? fmin(scale, columns / view->timing->makespan) : 0;
}

static size_t column_of(const struct drawing *drawing, double time)
{
    return (size_t)llround((time - drawing->begin) * drawing->scale);
}

static char filler(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD     ? '.'
           : slot->kind == SLOT_RECOMPUTE ? ':'
           : slot->kind == SLOT_BACKWARD  ? '='
           : slot->kind == SLOT_EVICT     ? '>'
           : slot->kind == SLOT_FETCH     ? '<'
           : slot_is_output(slot)         ? '~'
                                          : '-';
}

/* Draws the part of a slot that lies in columns first .. first + panel - 1. */
static void draw_slot(struct drawing *drawing, const struct plan_order *order, size_t index, struct plan_span span,
                      size_t first)
{
    const struct slot *slot = &order->slots[index];
    size_t from = column_of(drawing, span.start), to = column_of(drawing, span.end);
    char text[64];
    size_t length = block_label(drawing->view->plan, order, index, text);
    for (size_t column = from > first ? from : first; column < to && column < first + drawing->panel; column++) {
        size_t along = column - from;
        bool second = schedule_block_place(order, index) == 1 && 2 * along >= to - from;
        drawing->line[column - first] = along < length ? text[along] : filler(slot + second);
        drawing->kinds[column - first] = (char)('0' + slot[second].kind);
    }
}

/* The escape sequence of a slot's kind. */
static const char *escape_of(char kind, char text[PALETTE_ESCAPE_MAX])
{
    static const enum stagesim_kind kinds[] = {
        [SLOT_FORWARD] = STAGESIM_FORWARD, [SLOT_BACKWARD] = STAGESIM_BACKWARD,    [SLOT_WEIGHT] = STAGESIM_WEIGHT,
        [SLOT_EVICT] = STAGESIM_EXCHANGE,  [SLOT_FETCH] = STAGESIM_EXCHANGE,       [SLOT_RECOMPUTE] = STAGESIM_OTHER,
        [SLOT_OUTPUT] = STAGESIM_OTHER,    [SLOT_OUTPUT_GRADIENT] = STAGESIM_OTHER};
    return palette_terminal(kinds[kind - '0'], text);
}

/* Writes a row of the panel, in colours where wanted. */
static void write_row(const struct drawing *drawing, size_t width)
{
    char kind = ' ', escape[PALETTE_ESCAPE_MAX];
    if (!drawing->style.colour)
        fwrite(drawing->line, 1, width, drawing->out);
    for (size_t i = 0; i < width && drawing->style.colour; i++) {
        if (drawing->kinds[i] != kind) {
            fputs(kind == ' ' ? "" : "\033[0m", drawing->out);
            kind = drawing->kinds[i];
            fputs(kind == ' ' ? "" : escape_of(kind, escape), drawing->out);
        }
        fputc(drawing->line[i], drawing->out);
    }
    fputs(kind == ' ' ? "|\n" : "\033[0m|\n", drawing->out);
}

static enum lane lane_of(const struct slot *slot)
{
    return slot->kind == SLOT_EVICT ? LANE_OUT : slot->kind == SLOT_FETCH ? LANE_BACK : LANE_COMPUTE;
}

static void draw_lane(struct drawing *drawing, uint32_t worker, enum lane lane, size_t first, size_t width)
{
    const struct plan_order *order = &drawing->view->plan->orders[worker];
    size_t *next = &drawing->next[lane * drawing->view->plan->workers + worker];
    memset(drawing->line, ' ', width);
    memset(drawing->kinds, ' ', width);
    for (size_t i = *next; i < order->count; i++) {
        struct plan_span span = plan_timing_span(drawing->view->timing, worker, i);
        bool here = lane_of(&order->slots[i]) == lane;
        if (here && column_of(drawing, span.start) >= first + width)
            break;
        if ((!here || column_of(drawing, span.end) <= first + width) && i == *next)
            ++*next;
        if (here && span.end > span.start && !order->slots[i].joined)
            draw_slot(drawing, order, i, span, first);
    }
    if (lane == LANE_COMPUTE)
        fprintf(drawing->out, "%*u |", (int)drawing->margin - 2, worker);
    else
        fprintf(drawing->out, "%*s |", (int)drawing->margin - 2, "");
    write_row(drawing, width);
}

static void draw_worker(struct drawing *drawing, uint32_t worker, size_t first, size_t width)
{
    draw_lane(drawing, worker, LANE_COMPUTE, first, width);
    for (enum lane lane = LANE_OUT; plan_offloads(drawing->view->plan, worker) && lane < LANES; lane++)
        draw_lane(drawing, worker, lane, first, width);
}

/* A step between the axis' times that is 1, 2 or 5 times a power of ten. */
static double tick_step(double scale)
{
    double least = TICK_MIN / scale, step = rounded_pow(10, floor(rounded_log10(least)));
    for (unsigned i = 0; step < least; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

static void draw_axis(struct drawing *drawing, size_t first, size_t width)
{
    double step = tick_step(drawing->scale);
    size_t written = 0;
    fprintf(drawing->out, "%*s", (int)drawing->margin, "");
    for (double tick = ceil((double)first / drawing->scale / step - 1e-9); written < width; tick++) {
        size_t column = (size_t)llround(tick * step * drawing->scale);
        char text[32];
        int length = snprintf(text, sizeof text, "%.10g", drawing->begin + tick * step);
        if (column < first + written)
            continue;
        if (column + (size_t)length > first + width)
            break;
        written += (size_t)fprintf(drawing->out, "%*s%s", (int)(column - first - written), "", text);
    }
    fputc('\n', drawing->out);
}

static void draw(struct drawing *drawing)
{
    uint32_t workers = drawing->view->plan->workers;
    for (size_t first = 0; first < drawing->columns; first += drawing->panel) {
        size_t width = drawing->columns - first < drawing->panel ? drawing->columns - first : drawing->panel;
        fputs(first ? "\n" : "", drawing->out);
        draw_axis(drawing, first, width);
        for (uint32_t worker = 0; worker < workers; worker++)
            draw_worker(drawing, worker, first, width);
    }
}

static void write_number(FILE *out, const char *before, double value)
{
    char text[NUMBER_TEXT_MAX];
    fputs(before, out);
    fwrite(text, 1, number_write(text, value), out);
}

/* A number per worker, equal neighbours together: "4 3 2 1", "2 on all". */
static void write_per_worker(FILE *out, const char *what, const double *values, uint32_t workers)
{
    enum { SHOWN = 16 };
    bool equal = true;
    for (uint32_t worker = 1; worker < workers; worker++)
        equal = equal && values[worker] == values[0];
    fprintf(out, "%s", what);
    for (uint32_t worker = 0; worker < (equal ? 1 : workers) && worker < SHOWN; worker++)
        write_number(out, " ", values[worker]);
    fputs(equal && workers > 1 ? " on every worker\n" : workers > SHOWN && !equal ? " ...\n" : "\n", out);
}

/* The workers that keep a stage's weights while those of others come by. */
static void write_owners(FILE *out, const struct plan *plan)
{
    enum { SHOWN = 16 };
    fputs("weights travel; owners of the stages:", out);
    for (uint32_t stage = 0; stage < plan->stages && stage < SHOWN; stage++)
        fprintf(out, " %u", plan->owners[stage]);
    fputs(plan->stages > SHOWN ? " ...\n" : "\n", out);
}

/* What further micro-batches take. */
static void write_rate(FILE *out, const struct plan *plan)
{
    if (!(plan->rate > 0))
        return;
    write_number(out, "each further micro-batch by an order that repeats ", plan->rate);
    if (plan->rate_bound <= 0)
        fputs("\n", out);
    else if (plan->rate > plan->rate_bound * (1 + 1e-9))
        fprintf(out, ", at most %.3g %% from the best rate\n", 100 * (plan->rate / plan->rate_bound - 1));
    else
        fputs(", optimal: no order has a better rate\n", out);
}

void schedule_figures_write(FILE *out, const struct schedule_view *view)
{
    const struct plan *plan = view->plan;
    const struct plan_timing *timing = view->timing;
    bool overlap = timing->iteration != timing->makespan;
    write_number(out, overlap ? "time per iteration " : "time ", timing->iteration);
    if (overlap)
        write_number(out, plan->iterations > 1 ? ", of all " : " when iterations follow each other, alone ",
                     timing->makespan);
    double above = plan_timing_above_bound(timing, plan);
    if (plan->bound > 0 && above == 0)
        fputs(", optimal: no order takes less", out);
    else if (plan->bound > 0)
        fprintf(out, ", at most %.3g %% from the optimum", 100 * above);
    fprintf(out, "; bubble %.4f of the time, %.4f over ideal, largest span %.4f\n", timing->ratio, timing->over_ideal,
            timing->span_max);
    write_rate(out, plan);
    write_per_worker(out, "micro-batches in flight at most:", timing->peak_in_flight, plan->workers);
    bool several = false;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        several = several || plan->weight_versions[worker] != 1;
    if (several)
        write_per_worker(out, "weight versions:", plan->weight_versions, plan->workers);
    if (plan_travels(plan))
        write_owners(out, plan);
    else if (plan->pipelines > 1 && plan->pipelines * plan->stages % plan->workers == 0)
        fprintf(out, "stages of each worker: %u, one of each pipeline\n",
                plan->pipelines * plan->stages / plan->workers);
    if (plan->asynchronous)
        fputs("asynchronous: gradients are taken on older weights; not equivalent to synchronous training\n", out);
}

void schedule_text_write(FILE *out, const struct schedule_view *view, struct schedule_text_style style)
{
    const struct plan *plan = view->plan;
    struct drawing drawing = {.out = out, .view = view, .style = style, .scale = scale_of(view)};
    drawing.margin = (unsigned)snprintf(NULL, 0, "%u", plan->workers - 1) + 2;
    drawing.panel = style.width > drawing.margin + 1 + PANEL_MIN ? style.width - drawing.margin - 1 : PANEL_MIN;
    drawing.next = array_grow(NULL, &(size_t){0}, (size_t)LANES * plan->workers, sizeof *drawing.next);
    drawing.line = array_grow(NULL, &(size_t){0}, drawing.panel, 1);
    drawing.kinds = array_grow(NULL, &(size_t){0}, drawing.panel, 1);
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        double start = plan_timing_span(view->timing, worker, 0).start;
        drawing.begin = worker == 0 || start < drawing.begin ? start : drawing.begin;
    }
    for (size_t i = 0; i < (size_t)LANES * plan->workers; i++)
        drawing.next[i] = 0;
    uint32_t micro_batches = plan->micro_batches / plan->iterations / plan->slices;
    fprintf(out, "%s: %u worker%s, %u micro-batch%s", view->name, plan->workers, readable_plural(plan->workers),
            micro_batches, micro_batches == 1 ? "" : "es");
    if (plan->slices > 1)
        fprintf(out, " in %u slices", plan->slices);
    if (plan->iterations > 1)
        fprintf(out, ", %u iterations", plan->iterations);
    fputc('\n', out);
    if (drawing.scale > 0) {
        drawing.columns = column_of(&drawing, drawing.begin + view->timing->makespan);
        draw(&drawing);
    }
    schedule_figures_write(out, view);
    free(drawing.kinds);
    free(drawing.line);
    free(drawing.next);
}
