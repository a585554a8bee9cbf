/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_file.h"

#include "base/arena.h"
#include "base/csv.h"
#include "schedules/plan/plan_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_SIZE_MAX = 1 << 30, NUMBER_MAX = SCHEDULE_STAGES_MAX - 1, MICRO_BATCH_MAX = SCHEDULE_FORWARDS_MAX - 1 };

enum column { WORKER, KIND, STAGE, MICRO_BATCH, PIPELINE, PART, INDEX, START, END, COLUMNS };

static const char *const column_names[COLUMNS] = {"worker", "kind",  "stage", "micro_batch", "pipeline",
                                                  "part",   "index", "start", "end"};

struct row {
    uint32_t worker, stage, micro_batch, pipeline, index, line;
    uint8_t kind, part;
};

struct reader {
    const char *name;
    struct diag *diag;
    struct csv *csv;
    bool has_index;
    struct row *rows;
    size_t row_count, row_capacity;
};

/* ---- rows ---- */

static bool read_kind(struct csv *csv, uint8_t *kind)
{
    struct csv_field field = csv_get(csv, KIND);
    for (*kind = SLOT_FORWARD; *kind <= SLOT_FETCH; (*kind)++)
        if (field.size == 1 && field.text[0] == slot_letter(*kind))
            return true;
    return csv_mistake(csv, KIND,
                       "kind is F (forward), B (backward), W (weight gradient), E (evict) or L (load back), not '%s'",
                       csv_excerpt(field).text);
}

static bool read_part(struct csv *csv, uint8_t *part)
{
    struct csv_field field = csv_get(csv, PART);
    *part = field.size == 0 ? PART_WHOLE : csv_is(field, "a") ? PART_A : PART_B;
    return field.size == 0 || csv_is(field, "a") || csv_is(field, "b") ||
           csv_mistake(csv, PART, "part is empty, a or b, not '%s'", csv_excerpt(field).text);
}

static void read_row(struct reader *reader)
{
    struct csv *csv = reader->csv;
    struct row row = {.line = csv_line(csv)};
    bool good = csv_integer(csv, WORKER, NUMBER_MAX, &row.worker);
    good &= read_kind(csv, &row.kind);
    good &= csv_integer(csv, STAGE, NUMBER_MAX, &row.stage);
    good &= csv_integer(csv, MICRO_BATCH, MICRO_BATCH_MAX, &row.micro_batch);
    if (csv_has(csv, PIPELINE))
        good &= csv_integer(csv, PIPELINE, NUMBER_MAX, &row.pipeline);
    if (csv_has(csv, PART))
        good &= read_part(csv, &row.part);
    if (csv_has(csv, INDEX))
        good &= csv_integer(csv, INDEX, UINT32_MAX, &row.index);
    if (!good)
        return;
    reader->rows = array_grow(reader->rows, &reader->row_capacity, reader->row_count + 1, sizeof *reader->rows);
    reader->rows[reader->row_count++] = row;
}

static void read_text(struct reader *reader, const char *text, size_t size)
{
    static const struct csv_columns columns = {column_names, COLUMNS, PIPELINE, "a schedule", false};
    unsigned before = reader->diag->errors;
    reader->csv = csv_open(reader->name, text, size, &columns, reader->diag, NULL);
    if (!reader->csv)
        return; /* rows cannot be understood without their columns */
    reader->has_index = csv_has(reader->csv, INDEX);
    while (csv_next(reader->csv))
        read_row(reader);
    csv_close(reader->csv);
    if (!reader->row_count && reader->diag->errors == before)
        diag_error(
            reader->diag, (struct place){reader->name, 0, 0},
            "there is no slot in this file; it wants a line worker,kind,stage,micro_batch and then one row a slot");
}

/* ---- from rows to a plan ---- */

/* How many of what the rows name. */
struct sizes {
    uint32_t workers, stages, pipelines, micro_batches;
    const struct row *largest; /* where the largest number stands */
};

static uint32_t larger(uint32_t left, uint32_t right)
{
    return left > right ? left : right;
}

static uint32_t largest_number(const struct row *row)
{
    return larger(larger(row->worker, row->stage), larger(row->pipeline, row->micro_batch));
}

static struct sizes sizes_of(const struct reader *reader)
{
    struct sizes sizes = {.largest = reader->rows};
    for (size_t i = 0; i < reader->row_count; i++) {
        const struct row *row = &reader->rows[i];
        if (largest_number(row) > largest_number(sizes.largest))
            sizes.largest = row;
        sizes.workers = larger(sizes.workers, row->worker + 1);
        sizes.stages = larger(sizes.stages, row->stage + 1);
        sizes.pipelines = larger(sizes.pipelines, row->pipeline + 1);
        sizes.micro_batches = larger(sizes.micro_batches, row->micro_batch + 1);
    }
    return sizes;
}

/* A file that misses more than it has is not worth a list of what is missing, nor the memory for it. */
static bool check_sizes(const struct reader *reader, const struct sizes *sizes)
{
    struct place at = {reader->name, sizes->largest->line, 1};
    uint64_t runs = larger(sizes->pipelines, sizes->micro_batches);
    if (sizes->stages * runs > reader->row_count)
        diag_error(reader->diag, at, "%u stages and %llu %s need at least %llu rows; the file has %zu", sizes->stages,
                   (unsigned long long)runs, runs == sizes->micro_batches ? "micro-batches" : "pipelines",
                   (unsigned long long)(2 * sizes->stages * runs), reader->row_count);
    else if (sizes->workers > reader->row_count)
        diag_error(reader->diag, at, "%u workers need at least as many rows; the file has %zu", sizes->workers,
                   reader->row_count);
    else
        return true;
    return false;
}

/* Stages live where they are run; a partner is who moves a stash of somebody else's stage. */
static void place_stages(const struct reader *reader, struct plan *plan)
{
    for (size_t i = 0; i < reader->row_count; i++) {
        const struct row *row = &reader->rows[i];
        if (row->kind < SLOT_EVICT && plan_worker(plan, row->pipeline, row->stage) == UINT32_MAX)
            plan_place(plan, row->pipeline, row->stage, row->worker);
    }
    for (size_t i = 0; i < reader->row_count; i++) {
        const struct row *row = &reader->rows[i];
        uint32_t home = plan_worker(plan, row->pipeline, row->stage);
        if (row->kind >= SLOT_EVICT && home != row->worker && home < plan->workers)
            plan_pair(plan, home, row->worker);
    }
}

static void add_slots(const struct reader *reader, struct plan *plan)
{
    uint32_t *last = array_grow(NULL, &(size_t){0}, plan->workers, sizeof *last);
    for (size_t i = 0; i < reader->row_count; i++) {
        const struct row *row = &reader->rows[i];
        bool first = plan->orders[row->worker].count == 0;
        struct slot *slot = plan_append(plan, row->worker, row->kind, row->pipeline, row->stage, row->micro_batch);
        slot->part = row->part;
        slot->joined = reader->has_index && !first && last[row->worker] == row->index;
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

/* ---- the plan's mistakes, with their lines ---- */

struct lines {
    const struct reader *reader;
    uint32_t *numbers; /* of all slots, worker by worker */
    size_t *first;     /* [worker] */
};

static struct lines lines_of(const struct reader *reader, const struct plan *plan)
{
    struct lines lines = {.reader = reader};
    lines.numbers = array_grow(NULL, &(size_t){0}, reader->row_count, sizeof *lines.numbers);
    lines.first = array_grow(NULL, &(size_t){0}, plan->workers + 1u, sizeof *lines.first);
    lines.first[0] = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        lines.first[worker + 1] = lines.first[worker] + plan->orders[worker].count;
    for (size_t i = reader->row_count; i-- > 0;) /* from the end, so that first[] can count down and end where it was */
        lines.numbers[--lines.first[reader->rows[i].worker + 1]] = reader->rows[i].line;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        lines.first[worker] = lines.first[worker + 1];
    return lines;
}

static struct place line_of(const struct lines *lines, uint32_t worker, size_t index)
{
    if (worker == PLAN_NOWHERE)
        return (struct place){lines->reader->name, 0, 0};
    return (struct place){lines->reader->name, lines->numbers[lines->first[worker] + index], 1};
}

static bool report(void *user, const struct plan_mistake *mistake)
{
    const struct lines *lines = user;
    struct diag *diag = lines->reader->diag;
    diag_error(diag, line_of(lines, mistake->worker, mistake->index), "%s", mistake->text);
    if (mistake->other_worker != PLAN_NOWHERE)
        diag_note(diag, line_of(lines, mistake->other_worker, mistake->other_index), "the first one is here");
    return diag->errors < 1000; /* far more than are shown */
}

/* The line of the first row of a worker with a larger number: there is one, the largest number says how many workers
 * there are. */
static uint32_t beyond_worker(const struct reader *reader, uint32_t worker)
{
    size_t i = 0;
    while (reader->rows[i].worker <= worker)
        i++;
    return reader->rows[i].line;
}

static bool check(const struct reader *reader, const struct plan *plan)
{
    bool good = true;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        if (!plan->orders[worker].count) {
            diag_error(reader->diag, (struct place){reader->name, beyond_worker(reader, worker), 1},
                       "worker %u runs nothing; workers are numbered 0 to %u without gaps", worker, plan->workers - 1);
            good = false;
        }
    struct lines lines = lines_of(reader, plan);
    good = plan_check(plan, &(struct plan_reporter){report, &lines}) && good;
    free(lines.numbers);
    free(lines.first);
    return good;
}

static struct plan *build(const struct reader *reader)
{
    struct sizes sizes = sizes_of(reader);
    if (!check_sizes(reader, &sizes))
        return NULL;
    struct plan *plan = plan_create(sizes.workers, sizes.stages, sizes.pipelines, sizes.micro_batches);
    place_stages(reader, plan);
    add_slots(reader, plan);
    mark_split(plan);
    if (check(reader, plan))
        return plan;
    plan_destroy(plan);
    return NULL;
}

struct plan *plan_file_parse(const char *name, const char *text, size_t size, struct diag *diag)
{
    struct reader reader = {.name = name, .diag = diag};
    unsigned before = diag->errors;
    read_text(&reader, text, size);
    struct plan *plan = diag->errors == before ? build(&reader) : NULL;
    free(reader.rows);
    return plan;
}

/* ---- files ---- */

struct plan *plan_file_read(const char *path, struct diag *diag)
{
    size_t size = 0;
    char *text = csv_load(path, FILE_SIZE_MAX, &size);
    if (!text) {
        diag_error(diag, (struct place){path, 0, 0}, "the schedule cannot be read: %s", strerror(errno));
        return NULL;
    }
    struct plan *plan = plan_file_parse(path, text, size, diag);
    free(text);
    return plan;
}
