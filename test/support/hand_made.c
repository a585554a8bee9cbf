/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/hand_made.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct gantt *start(const char *title, uint32_t workers, uint32_t micro_batches)
{
    char subtitle[96];
    snprintf(subtitle, sizeof subtitle, "%u workers, %u micro-batches, forward 1 s, backward 2 s", workers,
             micro_batches);
    struct gantt *gantt = gantt_create(title, subtitle, GANTT_SECONDS);
    for (uint32_t worker = 0; worker < workers; worker++) {
        char label[16];
        snprintf(label, sizeof label, "%u", worker);
        gantt_add_row(gantt, label, -1);
    }
    return gantt;
}

/* T, bubble and causes of plain timelines: before the first box fill, after the last drain, receive between. */
static void figures(struct gantt *gantt)
{
    gantt_finish(gantt);
    gantt->iteration = gantt->end;
    double busy = 0, fill = 0, drain = 0;
    for (uint32_t row = 0; row < gantt->row_count; row++) {
        double first = gantt->end, last = 0, mine = 0;
        for (size_t i = 0; i < gantt->box_count; i++) {
            const struct gantt_box *box = &gantt->boxes[i];
            if (box->row != row || box->lane != GANTT_LANE_COMPUTE)
                continue;
            mine += (box->end - box->start) * (box->half == GANTT_WHOLE ? 1 : 0.5);
            first = fmin(first, box->start);
            last = fmax(last, box->end);
        }
        gantt->rows[row].busy = mine / gantt->end;
        busy += mine;
        fill += first;
        drain += gantt->end - last;
    }
    double all = gantt->end * gantt->row_count;
    gantt->bubble = 1 - busy / all;
    gantt->causes[CAUSE_FILL] = fill / all;
    gantt->causes[CAUSE_DRAIN] = drain / all;
    gantt->causes[CAUSE_RECEIVE] = gantt->bubble - fill / all - drain / all;
}

static void add(struct gantt *gantt, uint32_t row, double begin, double length, unsigned kind, uint32_t number)
{
    struct gantt_box box = {.start = begin, .end = begin + length, .row = row, .number = number, .kind = (uint8_t)kind};
    gantt_add_box(gantt, &box);
}

/* Worker w of D runs its order of forwards (positive number: micro-batch + 1) and backwards (negative) as soon as
 * possible. */
static void run_orders(struct gantt *gantt, const int *orders, uint32_t workers, uint32_t micro_batches)
{
    size_t steps = 2 * (size_t)micro_batches, cells = (size_t)workers * micro_batches;
    double *forward = calloc(cells, sizeof *forward), *backward = calloc(cells, sizeof *backward),
           *free_at = calloc(workers, sizeof *free_at);
    size_t *next = calloc(workers, sizeof *next);
    for (size_t left = workers * steps; left > 0;) {
        for (uint32_t worker = 0; worker < workers; worker++) {
            for (; next[worker] < steps; next[worker]++, left--) {
                int item = orders[worker * steps + next[worker]];
                uint32_t batch = (uint32_t)abs(item) - 1;
                size_t cell = (size_t)worker * micro_batches + batch;
                bool last = worker + 1 == workers;
                double ready = item > 0 ? (worker ? forward[cell - micro_batches] : -1)
                               : last   ? forward[cell]
                                        : backward[cell + micro_batches];
                if (ready == 0)
                    break;
                double begin = fmax(free_at[worker], ready);
                double *mine = item > 0 ? &forward[cell] : &backward[cell];
                *mine = free_at[worker] = begin + (item > 0 ? 1 : 2);
                add(gantt, worker, begin, item > 0 ? 1 : 2, item > 0 ? GANTT_FORWARD : GANTT_BACKWARD, batch);
            }
        }
    }
    free(forward);
    free(backward);
    free(free_at);
    free(next);
}

struct gantt *hand_made_1f1b(uint32_t workers, uint32_t micro_batches)
{
    int *orders = calloc((size_t)workers * 2 * micro_batches, sizeof *orders), *at = orders;
    for (uint32_t worker = 0; worker < workers; worker++) {
        uint32_t warm_up = workers - 1 - worker < micro_batches ? workers - 1 - worker : micro_batches, f = 0, b = 0;
        while (f < warm_up)
            *at++ = (int)++f;
        while (b < micro_batches) {
            if (f < micro_batches)
                *at++ = (int)++f;
            *at++ = -(int)++b;
        }
    }
    struct gantt *gantt = start("1f1b", workers, micro_batches);
    run_orders(gantt, orders, workers, micro_batches);
    free(orders);
    figures(gantt);
    return gantt;
}

struct gantt *hand_made_gpipe(uint32_t workers, uint32_t micro_batches)
{
    int *orders = calloc((size_t)workers * 2 * micro_batches, sizeof *orders), *at = orders;
    for (uint32_t worker = 0; worker < workers; worker++) {
        for (uint32_t f = 1; f <= micro_batches; f++)
            *at++ = (int)f;
        for (uint32_t b = micro_batches; b >= 1; b--)
            *at++ = -(int)b;
    }
    struct gantt *gantt = start("gpipe", workers, micro_batches);
    run_orders(gantt, orders, workers, micro_batches);
    free(orders);
    figures(gantt);
    return gantt;
}

/* One row a worker: start, micro-batch, shade (0 down, 1 up), 'F', 'B' (2 s, split into B and W of 1 s each). */
static const struct {
    double begin;
    uint8_t row, number, shade;
    char kind;
} chimera_boxes[] = {
    {0, 0, 0, 0, 'F'},  {1, 0, 1, 0, 'F'},  {3, 0, 2, 1, 'F'},  {4, 0, 2, 1, 'B'},  {6, 0, 3, 1, 'F'},
    {7, 0, 3, 1, 'B'},  {10, 0, 0, 0, 'B'}, {12, 0, 1, 0, 'B'}, {1, 1, 0, 0, 'F'},  {2, 1, 2, 1, 'F'},
    {3, 1, 1, 0, 'F'},  {4, 1, 3, 1, 'F'},  {6, 1, 2, 1, 'B'},  {8, 1, 0, 0, 'B'},  {10, 1, 3, 1, 'B'},
    {12, 1, 1, 0, 'B'}, {1, 2, 2, 1, 'F'},  {2, 2, 0, 0, 'F'},  {3, 2, 3, 1, 'F'},  {4, 2, 1, 0, 'F'},
    {6, 2, 0, 0, 'B'},  {8, 2, 2, 1, 'B'},  {10, 2, 1, 0, 'B'}, {12, 2, 3, 1, 'B'}, {0, 3, 2, 1, 'F'},
    {1, 3, 3, 1, 'F'},  {3, 3, 0, 0, 'F'},  {4, 3, 0, 0, 'B'},  {6, 3, 1, 0, 'F'},  {7, 3, 1, 0, 'B'},
    {10, 3, 2, 1, 'B'}, {12, 3, 3, 1, 'B'},
};

struct gantt *hand_made_chimera(void)
{
    struct gantt *gantt = start("chimera", 4, 4);
    gantt->shades = 2;
    snprintf(gantt->shade_names[0], sizeof gantt->shade_names[0], "down");
    snprintf(gantt->shade_names[1], sizeof gantt->shade_names[1], "up");
    for (size_t i = 0; i < sizeof chimera_boxes / sizeof *chimera_boxes; i++) {
        bool forward = chimera_boxes[i].kind == 'F';
        struct gantt_box box = {.start = chimera_boxes[i].begin,
                                .end = chimera_boxes[i].begin + 1,
                                .row = chimera_boxes[i].row,
                                .number = chimera_boxes[i].number,
                                .kind = forward ? GANTT_FORWARD : GANTT_BACKWARD,
                                .shade = chimera_boxes[i].shade};
        gantt_add_box(gantt, &box);
        if (forward)
            continue;
        box.start = box.end;
        box.end += 1;
        box.kind = GANTT_WEIGHT;
        gantt_add_box(gantt, &box);
    }
    for (uint32_t row = 0; row < 4; row++) {
        struct gantt_box box = {.start = row == 0 || row == 3 ? 9 : 12,
                                .row = row,
                                .number = GANTT_NO_NUMBER,
                                .kind = GANTT_COLLECTIVE,
                                .lane = GANTT_LANE_COLLECTIVE};
        box.end = box.start + 1.5;
        gantt_add_box(gantt, &box);
        box.start = 14;
        box.end = 15.5;
        gantt_add_box(gantt, &box);
        box = (struct gantt_box){
            .start = 15.5, .end = 16, .row = row, .number = GANTT_NO_NUMBER, .kind = GANTT_OPTIMIZER};
        gantt_add_box(gantt, &box);
    }
    figures(gantt);
    return gantt;
}
