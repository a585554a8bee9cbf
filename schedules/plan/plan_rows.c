/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_rows.h"

#include "base/arena.h"
#include "base/number_text.h"
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_slices.h"
#include "schedules/plan/plan_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ---- */

static uint32_t larger(uint32_t left, uint32_t right)
{
    return left > right ? left : right;
}

static uint32_t largest_number(const struct plan_row *row)
{
    return larger(larger(row->worker, row->stage), larger(row->pipeline, row->micro_batch));
}

static struct place place_of(const struct plan_rows *rows, const struct plan_row *row)
{
    return (struct place){rows->name, row->line, row->column};
}

/* Counts what the rows name. Returns the row with the largest number. */
static const struct plan_row *count_sizes(const struct plan_rows *rows, struct plan_sizes *sizes)
{
    const struct plan_row *largest = rows->rows;
    *sizes = (struct plan_sizes){0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct plan_row *row = &rows->rows[i];
        if (largest_number(row) > largest_number(largest))
            largest = row;
        sizes->workers = larger(sizes->workers, row->worker + 1);
        sizes->stages = larger(sizes->stages, row->stage + 1);
        sizes->pipelines = larger(sizes->pipelines, row->pipeline + 1);
        sizes->micro_batches = larger(sizes->micro_batches, row->micro_batch + 1);
    }
    return largest;
}

/* A file that misses more than it has is not worth a list of what is missing, nor the memory for it. */
bool plan_rows_sizes(const struct plan_rows *rows, struct plan_sizes *sizes)
{
    struct place at = place_of(rows, count_sizes(rows, sizes));
    uint64_t runs = larger(sizes->pipelines, sizes->micro_batches);
    if (sizes->stages * runs > rows->count)
        diag_error(rows->diag, at, "%u stages and %llu %s need at least %llu %s; the file has %zu", sizes->stages,
                   (unsigned long long)runs, runs == sizes->micro_batches ? "micro-batches" : "pipelines",
                   (unsigned long long)(2 * sizes->stages * runs), rows->unit, rows->count);
    else if (sizes->workers > rows->count)
        diag_error(rows->diag, at, "%u workers need at least as many %s; the file has %zu", sizes->workers, rows->unit,
                   rows->count);
    else
        return true;
    return false;
}

/* ---- slices ---- */

/* Micro-batches of rows with slices count slices; false with the mistake reported where they are too many. */
static bool number_slices(struct plan_rows *rows, uint32_t *slices)
{
    *slices = 1;
    for (size_t i = 0; i < rows->count; i++)
        *slices = larger(*slices, rows->rows[i].slice + 1);
    for (size_t i = 0; i<rows->count && * slices> 1; i++) {
        struct plan_row *row = &rows->rows[i];
        uint64_t number = (uint64_t)row->micro_batch * *slices + row->slice;
        if (number > ROW_MICRO_BATCH_MAX) {
            diag_error(rows->diag, place_of(rows, row),
                       "micro-batch %u in %u slices is too many; at most %d are possible", row->micro_batch, *slices,
                       ROW_MICRO_BATCH_MAX);
            return false;
        }
        row->micro_batch = (uint32_t)number;
    }
    return true;
}

/* The lengths of slices from the shares of their forwards: those of a slice are all alike, and those of all slices make
 * one sequence. */
static bool measure_slices(const struct plan_rows *rows, struct plan *plan)
{
    static const double rounding = 1e-9;
    double *shares = array_grow(NULL, &(size_t){0}, plan->slices, sizeof *shares), sum = 0;
    bool good = true, said = false;
    for (uint32_t slice = 0; slice < plan->slices; slice++)
        shares[slice] = 0;
    for (size_t i = 0; i < rows->count && good; i++) {
        const struct plan_row *row = &rows->rows[i];
        plan->even_slices |= row->even;
        if (row->kind != SLOT_FORWARD || row->share == 0)
            continue;
        said = true;
        good = shares[row->slice] == 0 || shares[row->slice] == row->share;
        if (!good)
            diag_error(rows->diag, place_of(rows, row), "slice %u has a share of %g here and of %g before", row->slice,
                       row->share, shares[row->slice]);
        shares[row->slice] = row->share;
    }
    for (uint32_t slice = 0; slice < plan->slices && said && good; slice++)
        sum += plan->slice_lengths[slice] = shares[slice];
    if (said && good && fabs(sum - 1) > rounding) {
        diag_error(rows->diag, (struct place){rows->name, 0, 0},
                   "the slices' shares of the sequence add up to %g, not 1", sum);
        good = false;
    }
    free(shares);
    return good;
}

/* ---- from rows to a plan ---- */

/* Stages live where they are run; a partner is who moves a stash of somebody else's stage. Where nobody does, stashes
 * move to host memory. */
static void place_stages(const struct plan_rows *rows, struct plan *plan)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct plan_row *row = &rows->rows[i];
        bool moves = row->kind == SLOT_EVICT || row->kind == SLOT_FETCH ||
                     (row->kind >= SLOT_PASS_FORWARD && row->kind <= SLOT_PASS_GRADIENT);
        if (!moves && plan_worker(plan, row->pipeline, row->stage) == UINT32_MAX)
            plan_place(plan, row->pipeline, row->stage, row->worker);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct plan_row *row = &rows->rows[i];
        uint32_t home = plan_worker(plan, row->pipeline, row->stage);
        bool moves = row->kind == SLOT_EVICT || row->kind == SLOT_FETCH;
        if (moves && home != row->worker && home < plan->workers)
            plan_pair(plan, home, row->worker);
        if (row->kind == SLOT_RECOMPUTE)
            plan_recompute(plan, row->stage, row->share > 0 ? row->share : 1);
    }
}

static void find_offloads(const struct plan_rows *rows, struct plan *plan)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct plan_row *row = &rows->rows[i];
        bool moves = row->kind == SLOT_EVICT || row->kind == SLOT_FETCH;
        if (moves && (!plan->partners || plan->partners[row->worker] == UINT32_MAX) &&
            plan_worker(plan, row->pipeline, row->stage) == row->worker)
            plan_pair(plan, row->worker, row->worker);
        if (moves && row->transfer > 0 && plan_offloads(plan, row->worker))
            plan->transfer = row->transfer;
    }
}

/* Weights travel where they are handed on; who hands on the first micro-batch's owns them, or else who runs it. */
static void find_owners(const struct plan_rows *rows, struct plan *plan)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct plan_row *row = &rows->rows[i];
        if (row->kind >= SLOT_PASS_FORWARD && row->kind <= SLOT_PASS_GRADIENT && !plan_travels(plan))
            plan_own(plan, row->stage, 0);
        if (row->kind == SLOT_PASS_FORWARD && row->micro_batch == 0)
            plan_own(plan, row->stage, row->worker);
    }
}

/* The time of all S, and of all T, as shares of a forward's; 0: there is none. False after a mistake was reported. */
static bool read_output(const struct plan_rows *rows, double shares[2])
{
    shares[0] = shares[1] = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct plan_row *row = &rows->rows[i];
        double *share = row->kind >= SLOT_OUTPUT ? &shares[row->kind - SLOT_OUTPUT] : NULL;
        const char letter = slot_letter(row->kind);
        if (share && !(row->share > 0)) {
            diag_error(rows->diag, place_of(rows, row), "%c has no share; expected its time as a share of a forward's",
                       letter);
            return false;
        }
        if (share && *share > 0 && *share != row->share) {
            diag_error(rows->diag, place_of(rows, row), "%c has a share of %g here and of %g before", letter,
                       row->share, *share);
            return false;
        }
        if (share)
            *share = row->share;
    }
    return true;
}

/* Workers share the output layer where there are S or T. What takes longer has the gradient of its input, which takes
 * as long as the rest of the backward, and the forward: it takes twice as long. */
static bool find_output(const struct plan_rows *rows, struct plan *plan)
{
    const double rounding = 1e-6;
    double shares[2];
    if (!read_output(rows, shares))
        return false;
    double longer = fmax(shares[0], shares[1]), shorter = fmin(shares[0], shares[1]);
    if (shorter > 0 && fabs(longer - 2 * shorter) > rounding * longer) {
        diag_error(rows->diag, (struct place){rows->name, 0, 0},
                   "S has a share of %g and T of %g; expected that one of them takes twice as long as the other",
                   shares[0], shares[1]);
        return false;
    }
    plan->barriers = longer > 0 ? (shares[0] >= shares[1] ? 1 : 2) : 0;
    plan->output = (shares[0] + shares[1]) / 3;
    return true;
}

static void add_slots(const struct plan_rows *rows, struct plan *plan)
{
    uint32_t *last = array_grow(NULL, &(size_t){0}, plan->workers, sizeof *last);
    for (size_t i = 0; i < rows->count; i++) {
        const struct plan_row *row = &rows->rows[i];
        bool first = plan->orders[row->worker].count == 0;
        struct slot *slot = plan_append(plan, row->worker, row->kind, row->pipeline, row->stage, row->micro_batch);
        slot->part = row->part;
        bool joined = rows->blocks && !first && last[row->worker] == row->index;
        slot->joined = !joined ? SLOT_ALONE : row->braided ? SLOT_BRAIDED : SLOT_JOINED;
        last[row->worker] = row->index;
    }
    free(last);
}

/* A backward is split where a W follows. */
static void mark_split(struct plan *plan)
{
    size_t cells = (size_t)plan->stages * plan->micro_batches, size = 0;
    bool *split = array_grow(NULL, &size, cells, sizeof *split);
    memset(split, 0, size * sizeof *split);
    for (unsigned pass = SLOT_WEIGHT + 1; pass-- > SLOT_BACKWARD;)
        for (uint32_t worker = 0; worker < plan->workers; worker++)
            for (size_t i = 0; i < plan->orders[worker].count; i++) {
                struct slot *slot = &plan->orders[worker].slots[i];
                size_t cell = (size_t)slot->micro_batch * plan->stages + slot->stage;
                if (slot->kind == SLOT_WEIGHT)
                    split[cell] = true;
                if (slot->kind == SLOT_BACKWARD)
                    slot->split = split[cell];
            }
    free(split);
}

/* ---- the plan's mistakes, with their places ---- */

struct places {
    const struct plan_rows *rows;
    const struct plan_row **of; /* of all slots, worker by worker */
    size_t *first;              /* [worker] */
};

static struct places places_of(const struct plan_rows *rows, const struct plan *plan)
{
    struct places places = {.rows = rows};
    places.of = array_grow(NULL, &(size_t){0}, rows->count, sizeof *places.of);
    places.first = array_grow(NULL, &(size_t){0}, plan->workers + 1u, sizeof *places.first);
    places.first[0] = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        places.first[worker + 1] = places.first[worker] + plan->orders[worker].count;
    for (size_t i = rows->count; i-- > 0;) /* from the end, so that first[] can count down and end where it was */
        places.of[--places.first[rows->rows[i].worker + 1]] = &rows->rows[i];
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        places.first[worker] = places.first[worker + 1];
    return places;
}

static struct place slot_place(const struct places *places, uint32_t worker, size_t index)
{
    if (worker == PLAN_NOWHERE)
        return (struct place){places->rows->name, 0, 0};
    return place_of(places->rows, places->of[places->first[worker] + index]);
}

static bool report(void *user, const struct plan_mistake *mistake)
{
    const struct places *places = user;
    struct diag *diag = places->rows->diag;
    diag_error(diag, slot_place(places, mistake->worker, mistake->index), "%s", mistake->text);
    if (mistake->other_worker != PLAN_NOWHERE)
        diag_note(diag, slot_place(places, mistake->other_worker, mistake->other_index), "the first one is here");
    for (size_t i = 0; i < mistake->note_count; i++)
        diag_note(diag, slot_place(places, mistake->notes[i].worker, mistake->notes[i].index), "%s",
                  mistake->notes[i].text);
    return diag->errors < 1000; /* far more than are shown */
}

/* The first row of a worker with a larger number: there is one, the largest number says how many workers there are. */
static const struct plan_row *beyond_worker(const struct plan_rows *rows, uint32_t worker)
{
    size_t i = 0;
    while (rows->rows[i].worker <= worker)
        i++;
    return &rows->rows[i];
}

static bool check(const struct plan_rows *rows, const struct plan *plan)
{
    bool good = true;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        if (!plan->orders[worker].count) {
            diag_error(rows->diag, place_of(rows, beyond_worker(rows, worker)),
                       "worker %u runs nothing; workers are numbered 0 to %u without gaps", worker, plan->workers - 1);
            good = false;
        }
    struct places places = places_of(rows, plan);
    good = plan_check(plan, &(struct plan_reporter){report, &places}) && good;
    free(places.of);
    free(places.first);
    return good;
}

struct plan *plan_rows_build(struct plan_rows *rows)
{
    struct plan_sizes sizes;
    uint32_t slices;
    if (!number_slices(rows, &slices) || !plan_rows_sizes(rows, &sizes))
        return NULL;
    sizes.micro_batches = (sizes.micro_batches + slices - 1) / slices * slices;
    struct plan *plan = plan_create(sizes.workers, sizes.stages, sizes.pipelines, sizes.micro_batches);
    if (slices > 1)
        plan_cut(plan, slices);
    place_stages(rows, plan);
    find_offloads(rows, plan);
    find_owners(rows, plan);
    bool good = find_output(rows, plan);
    add_slots(rows, plan);
    mark_split(plan);
    if (good && (slices == 1 || measure_slices(rows, plan)) && check(rows, plan))
        return plan;
    plan_destroy(plan);
    return NULL;
}

void plan_rows_add(struct plan_rows *rows, const struct plan_row *row)
{
    rows->rows = array_grow(rows->rows, &rows->capacity, rows->count + 1, sizeof *rows->rows);
    rows->rows[rows->count++] = *row;
}

void plan_rows_finish(struct plan_rows *rows)
{
    free(rows->rows);
}

static void write_slices(const struct plan *plan, const struct slot *slot, FILE *out)
{
    char share[NUMBER_TEXT_MAX];
    if (plan->slices > 1)
        fprintf(out, ",%u,%.*s", slot->micro_batch % plan->slices,
                (int)number_write(share, plan_slice_length(plan, slot->micro_batch)), share);
    if (plan->barriers)
        fprintf(out, ",%.*s", slot_is_output(slot) ? (int)number_write(share, plan_output_share(plan, slot)) : 0,
                share);
    fputs(plan->even_slices ? ",1" : "", out);
}

static void write_transfer(const struct plan *plan, const struct slot *slot, FILE *out)
{
    char text[NUMBER_TEXT_MAX];
    if (plan->transfer > 0)
        fprintf(out, ",%.*s", slot_moves(slot) ? (int)number_write(text, plan->transfer) : 0, text);
}

void plan_rows_write(const struct plan *plan, FILE *out)
{
    static const char *const parts[] = {"", "a", "b"};
    fprintf(out, "worker,index,kind,stage,micro_batch,pipeline,part,braided%s%s%s\n",
            plan->slices > 1 ? ",slice,share"
            : plan->barriers ? ",share"
                             : "",
            plan->even_slices ? ",even" : "", plan->transfer > 0 ? ",transfer" : "");
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        const struct plan_order *order = &plan->orders[worker];
        for (size_t i = 0, index = 0; i < order->count; i++) {
            const struct slot *slot = &order->slots[i];
            index += i > 0 && !slot->joined;
            fprintf(out, "%u,%zu,%c,%u,%u,%u,%s,%s", worker, index, slot_letter(slot->kind), slot->stage,
                    slot->micro_batch / plan->slices, slot->pipeline, parts[slot->part],
                    slot->joined == SLOT_BRAIDED ? "1" : "");
            write_slices(plan, slot, out);
            write_transfer(plan, slot, out);
            fputc('\n', out);
        }
    }
}
