/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/gantt.h"

#include "analysis/pictures/canvas.h"
#include "base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char save_magic[8] = "gantt-1";

struct gantt *gantt_create(const char *title, const char *subtitle, enum gantt_unit unit)
{
    size_t capacity = 0;
    struct gantt *gantt = array_grow(NULL, &capacity, 1, sizeof *gantt);
    memset(gantt, 0, sizeof *gantt);
    gantt->unit = unit;
    gantt->iteration = -1;
    gantt->shades = 1;
    gantt->tiers = 1;
    text_clean(gantt->title, sizeof gantt->title, title);
    text_clean(gantt->subtitle, sizeof gantt->subtitle, subtitle);
    return gantt;
}

void gantt_destroy(struct gantt *gantt)
{
    if (!gantt)
        return;
    free(gantt->rows);
    free(gantt->boxes);
    free(gantt->arrows);
    free(gantt->levels);
    free(gantt);
}

uint32_t gantt_add_row(struct gantt *gantt, const char *label, double busy)
{
    gantt->rows = array_grow(gantt->rows, &gantt->row_capacity, gantt->row_count + 1, sizeof *gantt->rows);
    struct gantt_row *row = &gantt->rows[gantt->row_count];
    memset(row, 0, sizeof *row);
    text_clean(row->label, sizeof row->label, label);
    row->busy = busy;
    return (uint32_t)gantt->row_count++;
}

void gantt_add_box(struct gantt *gantt, const struct gantt_box *box)
{
    assert(isfinite(box->start) && isfinite(box->end) && box->start <= box->end);
    assert(box->row < gantt->row_count && box->kind < GANTT_KINDS && box->lane < GANTT_LANES);
    gantt->boxes = array_grow(gantt->boxes, &gantt->box_capacity, gantt->box_count + 1, sizeof *gantt->boxes);
    gantt->boxes[gantt->box_count++] = *box;
    gantt->end = fmax(gantt->end, box->end);
}

void gantt_add_arrow(struct gantt *gantt, const struct gantt_arrow *arrow)
{
    assert(isfinite(arrow->start) && isfinite(arrow->end) && arrow->start <= arrow->end);
    assert(arrow->from < gantt->row_count && arrow->to < gantt->row_count);
    gantt->arrows = array_grow(gantt->arrows, &gantt->arrow_capacity, gantt->arrow_count + 1, sizeof *gantt->arrows);
    gantt->arrows[gantt->arrow_count++] = *arrow;
    gantt->end = fmax(gantt->end, arrow->end);
}

void gantt_add_level(struct gantt *gantt, const struct gantt_level *level)
{
    assert(isfinite(level->time) && isfinite(level->bytes) && isfinite(level->in_flight) &&
           level->row < gantt->row_count);
    gantt->levels = array_grow(gantt->levels, &gantt->level_capacity, gantt->level_count + 1, sizeof *gantt->levels);
    gantt->levels[gantt->level_count++] = *level;
}

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_boxes(const void *left, const void *right)
{
    const struct gantt_box *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane - b->lane;
    int order = compare_numbers(a->start, b->start);
    order = order ? order : compare_numbers(a->end, b->end);
    order = order ? order : a->half - b->half;
    order = order ? order : a->kind - b->kind;
    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int compare_arrows(const void *left, const void *right)
{
    const struct gantt_arrow *a = left, *b = right;
    int order = compare_numbers(a->start, b->start);
    order = order ? order : compare_numbers(a->end, b->end);
    order = order ? order : (a->from > b->from) - (a->from < b->from);
    return order ? order : (a->to > b->to) - (a->to < b->to);
}

/* Gives each collective the first tier of its lane that is free when it starts; where none is, the last. */
static void set_tiers(struct gantt *gantt)
{
    double free_at[GANTT_TIERS_MAX];
    gantt->tiers = 1;
    for (size_t i = 0; i < gantt->box_count; i++) {
        struct gantt_box *box = &gantt->boxes[i];
        if (box->lane != GANTT_LANE_COLLECTIVE || !(box->end > box->start))
            continue;
        bool is_first = i == 0 || gantt->boxes[i - 1].row != box->row || gantt->boxes[i - 1].lane != box->lane;
        for (int tier = 0; tier < GANTT_TIERS_MAX && is_first; tier++)
            free_at[tier] = -INFINITY;
        box->tier = 0;
        while (box->tier < GANTT_TIERS_MAX - 1 && free_at[box->tier] > box->start)
            box->tier++;
        free_at[box->tier] = fmax(free_at[box->tier], box->end);
        gantt->tiers = box->tier + 1u > gantt->tiers ? box->tier + 1u : gantt->tiers;
    }
}

void gantt_finish(struct gantt *gantt)
{
    if (gantt->box_count)
        qsort(gantt->boxes, gantt->box_count, sizeof *gantt->boxes, compare_boxes);
    if (gantt->arrow_count)
        qsort(gantt->arrows, gantt->arrow_count, sizeof *gantt->arrows, compare_arrows);
    set_tiers(gantt);
}

static void copy_within(struct gantt *to, const struct gantt *from, double start, double end)
{
    for (size_t i = 0; i < from->box_count; i++) {
        struct gantt_box box = from->boxes[i];
        if (box.end <= start || box.start >= end)
            continue;
        box.start = fmax(box.start, start) - start;
        box.end = fmin(box.end, end) - start;
        gantt_add_box(to, &box);
    }
    for (size_t i = 0; i < from->arrow_count; i++) {
        struct gantt_arrow arrow = from->arrows[i];
        if (arrow.start < start || arrow.end > end)
            continue;
        arrow.start -= start;
        arrow.end -= start;
        gantt_add_arrow(to, &arrow);
    }
}

/* What lies between two times, counted from the first. */
static struct gantt *part_of(const struct gantt *gantt, double start, double end)
{
    struct gantt *copy = gantt_create(gantt->title, gantt->subtitle, gantt->unit);
    copy->jobs = gantt->jobs;
    memcpy(copy->computing, gantt->computing, sizeof copy->computing);
    copy->end = end - start;
    copy->iteration = gantt->iteration;
    copy->bubble = gantt->bubble;
    memcpy(copy->causes, gantt->causes, sizeof copy->causes);
    copy->shades = gantt->shades;
    memcpy(copy->shade_names, gantt->shade_names, sizeof copy->shade_names);
    for (size_t i = 0; i < gantt->row_count; i++)
        gantt_add_row(copy, gantt->rows[i].label, gantt->rows[i].busy);
    copy_within(copy, gantt, start, end);
    gantt_finish(copy);
    return copy;
}

static bool has_window(const struct gantt *gantt)
{
    return gantt->window_end > gantt->window_start;
}

struct gantt *gantt_one_iteration(const struct gantt *gantt)
{
    return has_window(gantt) ? part_of(gantt, gantt->window_start, gantt->window_end) : part_of(gantt, 0, gantt->end);
}

uint32_t gantt_iteration_count(const struct gantt *gantt)
{
    double window = gantt->window_end - gantt->window_start;
    return has_window(gantt) ? (uint32_t)fmax(1, fmin(1e6, floor(gantt->end / window + 1e-6))) : 1;
}

struct gantt *gantt_some_iterations(const struct gantt *gantt, uint32_t count)
{
    double span = count * (gantt->window_end - gantt->window_start);
    if (count < 2 || !has_window(gantt))
        return gantt_one_iteration(gantt);
    bool all = span > gantt->window_end * (1 + 1e-9); /* the first ones end sooner or later than T after each other */
    double start = all ? 0 : fmax(gantt->window_end - span, 0), end = all ? gantt->end : gantt->window_end;
    struct gantt *copy = part_of(gantt, start, end);
    copy->window_start = gantt->window_start - start;
    copy->window_end = gantt->window_end - start;
    for (size_t i = 0; i < copy->box_count && !all; i++)
        copy->boxes[i].critical = false; /* a path without its beginning explains nothing */
    return copy;
}

void gantt_cut(struct gantt *gantt, double end)
{
    size_t boxes = 0, arrows = 0;
    for (size_t i = 0; i < gantt->box_count; i++) {
        if (gantt->boxes[i].start >= end)
            continue;
        gantt->boxes[boxes] = gantt->boxes[i];
        gantt->boxes[boxes].end = fmin(gantt->boxes[boxes].end, end);
        boxes++;
    }
    for (size_t i = 0; i < gantt->arrow_count; i++) {
        if (gantt->arrows[i].end <= end)
            gantt->arrows[arrows++] = gantt->arrows[i];
    }
    gantt->box_count = boxes;
    gantt->arrow_count = arrows;
    gantt->end = fmin(gantt->end, end);
}

static void save_array(const void *items, size_t count, size_t size, FILE *out)
{
    if (count)
        fwrite(items, size, count, out);
}

void gantt_save(const struct gantt *gantt, FILE *out)
{
    struct gantt head = *gantt;
    head.rows = NULL;
    head.boxes = NULL;
    head.arrows = NULL;
    head.levels = NULL;
    fwrite(save_magic, sizeof save_magic, 1, out);
    fwrite(&head, sizeof head, 1, out);
    save_array(gantt->rows, gantt->row_count, sizeof *gantt->rows, out);
    save_array(gantt->boxes, gantt->box_count, sizeof *gantt->boxes, out);
    save_array(gantt->arrows, gantt->arrow_count, sizeof *gantt->arrows, out);
    save_array(gantt->levels, gantt->level_count, sizeof *gantt->levels, out);
}

/* Grows with what is really there, so that a damaged count cannot ask for all memory. */
static void *load_array(size_t count, size_t size, size_t *capacity, bool *good, FILE *in)
{
    void *items = NULL;
    *capacity = 0;
    for (size_t have = 0; have < count && *good;) {
        size_t step = count - have < 65536 ? count - have : 65536;
        items = array_grow(items, capacity, have + step, size);
        *good = fread((char *)items + have * size, size, step, in) == step;
        have += step;
    }
    return items;
}

/* Whether nothing in it points outside of it. */
static bool is_sound(const struct gantt *gantt)
{
    bool sound = gantt->shades >= 1 && gantt->shades <= GANTT_SHADES_MAX && gantt->tiers >= 1 &&
                 gantt->tiers <= GANTT_TIERS_MAX && isfinite(gantt->end);
    for (size_t i = 0; i < gantt->box_count && sound; i++) {
        const struct gantt_box *box = &gantt->boxes[i];
        sound =
            box->row < gantt->row_count && box->kind < GANTT_KINDS && box->lane < GANTT_LANES && box->end <= gantt->end;
    }
    for (size_t i = 0; i < gantt->arrow_count && sound; i++)
        sound = gantt->arrows[i].from < gantt->row_count && gantt->arrows[i].to < gantt->row_count;
    for (size_t i = 0; i < gantt->level_count && sound; i++)
        sound = gantt->levels[i].row < gantt->row_count;
    return sound;
}

struct gantt *gantt_load(FILE *in)
{
    char magic[sizeof save_magic];
    struct gantt head;
    if (fread(magic, sizeof magic, 1, in) != 1 || memcmp(magic, save_magic, sizeof magic) != 0 ||
        fread(&head, sizeof head, 1, in) != 1)
        return NULL;
    bool good = true;
    head.rows = load_array(head.row_count, sizeof *head.rows, &head.row_capacity, &good, in);
    head.boxes = load_array(head.box_count, sizeof *head.boxes, &head.box_capacity, &good, in);
    head.arrows = load_array(head.arrow_count, sizeof *head.arrows, &head.arrow_capacity, &good, in);
    head.levels = load_array(head.level_count, sizeof *head.levels, &head.level_capacity, &good, in);
    struct gantt *gantt = gantt_create("", "", head.unit);
    *gantt = head;
    if (good && is_sound(gantt))
        return gantt;
    gantt_destroy(gantt);
    return NULL;
}
