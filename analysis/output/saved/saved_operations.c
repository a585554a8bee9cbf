/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/saved/saved_operations.h"

#include "analysis/pictures/gantt_collect.h"
#include "base/arena.h"
#include "base/csv.h"
#include "traces/operations_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum memory_column { MEMORY_POSITION, MEMORY_TIME, MEMORY_BYTES, MEMORY_IN_FLIGHT, MEMORY_RANK, MEMORY_COLUMNS };
static const char *const memory_names[MEMORY_COLUMNS] = {"position", "time_s", "bytes", "in_flight", "rank"};
static const struct csv_columns memory_columns = {memory_names, MEMORY_COLUMNS, MEMORY_RANK,
                                                  "memory.csv", false,          "doc/operations-csv.md"};

struct saved_operation {
    double start, data_start, end;
    uint32_t row, id, peer; /* peer: position at the other end of a send */
    uint8_t type;           /* enum recorded_kind */
    bool critical, is_block;
    struct gantt_work work, second;
};

struct reader {
    const struct report *report;
    struct diag *diag;
    const char *const *kinds; /* kind_name of each, NULL-terminated */
    struct rank_row *rows;    /* [worker_count] by rank */
    struct saved_operation *operations;
    size_t count, capacity, *first; /* first: [row + 1], into operations */
    double last;                    /* latest end of any rank */
};

/* The row in which a simulated rank is shown. */
struct rank_row {
    uint32_t rank, row;
};

static int by_rank(const void *left, const void *right)
{
    const struct rank_row *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_row_and_id(const void *left, const void *right)
{
    const struct saved_operation *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* The row of a rank; NULL: it is not shown. */
static const struct rank_row *row_of(const struct reader *reader, uint32_t rank)
{
    struct rank_row key = {rank, 0};
    return reader->report->worker_count ? bsearch(&key, reader->rows, reader->report->worker_count, sizeof key, by_rank)
                                        : NULL;
}

/* ---- operations.csv ---- */

static uint32_t or_none(uint32_t number, uint32_t none)
{
    return number == RECORDED_NONE ? none : number;
}

static struct gantt_work work_of(const struct operations_row *row, unsigned kind, bool second)
{
    return (struct gantt_work){.kind = kind,
                               .stage = or_none(second ? row->stage.second : row->stage.first, STAGE_NONE),
                               .micro_batch =
                                   or_none(second ? row->micro_batch.second : row->micro_batch.first, MICRO_BATCH_NONE),
                               .pipeline = or_none(second ? row->pipeline.second : row->pipeline.first, 0),
                               .part = row->parts[second]};
}

/* Of a rank that is shown. */
static bool keep_operation(struct reader *reader, struct csv *csv, const struct operations_row *row, uint32_t shown)
{
    unsigned kind;
    if (!csv_word(csv, OPERATIONS_KIND, reader->kinds, &kind))
        return false;
    if (csv_has(csv, OPERATIONS_POSITION) && row->position != shown)
        return csv_mistake(csv, OPERATIONS_POSITION,
                           "rank %u is worker %u in summary.json: the files are of different runs", row->rank, shown);
    bool block = kind == STAGESIM_BLOCK;
    reader->operations =
        array_grow(reader->operations, &reader->capacity, reader->count + 1, sizeof *reader->operations);
    reader->operations[reader->count++] =
        (struct saved_operation){.start = row->start,
                                 .data_start = row->data_start,
                                 .end = row->end,
                                 .row = shown,
                                 .id = row->id,
                                 .peer = row->peer_position,
                                 .type = (uint8_t)row->type,
                                 .is_block = row->two || block,
                                 .work = work_of(row, kind, false),
                                 .second = work_of(row, block ? STAGESIM_BACKWARD : kind, true)};
    return true;
}

/* Sorts by row and id. */
static void sort_operations(struct reader *reader)
{
    uint32_t rows = reader->report->worker_count;
    if (reader->count)
        qsort(reader->operations, reader->count, sizeof *reader->operations, by_row_and_id);
    reader->first = array_grow(NULL, &(size_t){0}, (size_t)rows + 1, sizeof *reader->first);
    size_t next = 0;
    for (uint32_t row = 0; row < rows; row++) {
        reader->first[row] = next;
        while (next < reader->count && reader->operations[next].row == row)
            next++;
    }
    reader->first[rows] = next;
}

static void read_operations(struct reader *reader, const struct saved_texts *texts)
{
    struct operations_rows rows;
    struct operations_row row;
    if (operations_rows_open(&rows, OPERATIONS_DRAWN, texts->operations_file, texts->operations, texts->operations_size,
                             reader->diag))
        while (operations_rows_next(&rows, &row)) {
            const struct rank_row *shown = row_of(reader, row.rank);
            reader->last = fmax(reader->last, row.end);
            if (shown)
                keep_operation(reader, rows.csv, &row, shown->row);
        }
    bool good = operations_rows_whole(&rows);
    operations_rows_close(&rows);
    if (good)
        sort_operations(reader);
    if (good && reader->last < reader->report->makespan)
        diag_error(reader->diag, (struct place){texts->operations_file, 0, 0},
                   "the last operation ends after %g s, the run of summary.json after %g s: the "
                   "file is not whole, or of another run",
                   reader->last, reader->report->makespan);
}

/* ---- critical-path.csv ---- */

static bool mark_step(const struct reader *reader, struct csv *csv, const struct operations_row *row)
{
    const struct rank_row *shown = row_of(reader, row->rank);
    if (!shown || !reader->first)
        return true;
    if (row->id >= reader->first[shown->row + 1] - reader->first[shown->row])
        return csv_mistake(csv, OPERATIONS_ID, "rank %u has no operation %u in operations.csv", row->rank, row->id);
    reader->operations[reader->first[shown->row] + row->id].critical = true;
    return true;
}

static void read_critical(const struct reader *reader, const struct saved_texts *texts)
{
    struct operations_rows rows;
    struct operations_row row;
    if (operations_rows_open(&rows, OPERATIONS_CRITICAL, texts->critical_file, texts->critical, texts->critical_size,
                             reader->diag))
        while (operations_rows_next(&rows, &row))
            mark_step(reader, rows.csv, &row);
    operations_rows_whole(&rows);
    operations_rows_close(&rows);
}

/* ---- memory.csv ---- */

/* Sums of what was taken and given back come to 0 but for rounding. */
static const double bytes_least = -1, in_flight_least = -1e-6;

static bool read_level(const struct reader *reader, struct csv *csv, const struct gantt_level *before,
                       struct gantt_level *level)
{
    if (!csv_integer(csv, MEMORY_POSITION, UINT32_MAX, &level->row) || !csv_number(csv, MEMORY_TIME, &level->time) ||
        !csv_number(csv, MEMORY_BYTES, &level->bytes) || !csv_number(csv, MEMORY_IN_FLIGHT, &level->in_flight))
        return false;
    if (level->row >= reader->report->worker_count)
        return csv_mistake(csv, MEMORY_POSITION, "summary.json has %u workers, numbered from 0",
                           reader->report->worker_count);
    if (before && level->row < before->row)
        return csv_mistake(csv, MEMORY_POSITION, "rows are ordered by position");
    if (level->bytes < bytes_least)
        return csv_mistake(csv, MEMORY_BYTES, "bytes is negative");
    if (level->in_flight < in_flight_least)
        return csv_mistake(csv, MEMORY_IN_FLIGHT, "in_flight is negative");
    if (level->time > OPERATIONS_SECONDS_MOST)
        return csv_mistake(csv, MEMORY_TIME, "time_s is more than %g seconds", OPERATIONS_SECONDS_MOST);
    double least = before && level->row == before->row ? before->time : 0;
    return level->time >= least || csv_mistake(csv, MEMORY_TIME, "rows of a position are ordered by time_s, from 0");
}

/* A worker's last level goes on to the end of the picture. */
static void prolong(struct gantt *gantt)
{
    if (!gantt->level_count)
        return;
    struct gantt_level level = gantt->levels[gantt->level_count - 1];
    level.time = fmax(level.time, gantt->end);
    gantt_add_level(gantt, &level);
}

static void read_memory(const struct reader *reader, const struct saved_texts *texts, struct gantt *gantt)
{
    struct gantt_level level, before;
    bool any = false;
    operations_text_whole(texts->memory_file, texts->memory, texts->memory_size, reader->diag);
    struct csv *csv =
        csv_open(texts->memory_file, texts->memory, texts->memory_size, &memory_columns, reader->diag, NULL);
    while (csv && csv_next(csv)) {
        if (!read_level(reader, csv, any ? &before : NULL, &level))
            continue;
        if (any && level.row != before.row)
            prolong(gantt);
        gantt_add_level(gantt, &level);
        before = level;
        any = true;
    }
    csv_close(csv);
    prolong(gantt);
}

/* ---- the picture ---- */

static bool has_up_pipelines(const struct reader *reader)
{
    for (size_t i = 0; i < reader->count; i++)
        if (reader->operations[i].type == RECORDED_COMPUTE && reader->operations[i].work.pipeline & 1)
            return true;
    return false;
}

static void add_box(struct gantt *gantt, const struct report *report, bool bidirectional,
                    const struct saved_operation *operation)
{
    struct gantt_box box = {operation->start, operation->end, operation->row, GANTT_NO_NUMBER,
                            .critical = operation->critical};
    if (operation->type == RECORDED_COMPUTE) {
        gantt_add_work(gantt, report, bidirectional, box, &operation->work,
                       operation->is_block ? &operation->second : NULL);
    } else if (operation->type == RECORDED_COLLECTIVE ||
               (operation->type == RECORDED_SEND && operation->peer == operation->row)) {
        box.start = operation->data_start;
        box.kind = operation->type == RECORDED_SEND ? GANTT_TRANSFER : GANTT_COLLECTIVE;
        box.lane = GANTT_LANE_COLLECTIVE;
        gantt_add_box(gantt, &box);
    }
}

static void add_arrow(struct gantt *gantt, const struct saved_operation *operation)
{
    struct gantt_arrow arrow = {operation->data_start, operation->end, operation->row, operation->peer};
    if (operation->type == RECORDED_SEND && arrow.to != arrow.from && arrow.to < gantt->row_count &&
        gantt->arrow_count < GANTT_ARROWS_KEPT && arrow.end > arrow.start)
        gantt_add_arrow(gantt, &arrow);
}

static struct gantt *draw(const struct reader *reader)
{
    bool bidirectional = has_up_pipelines(reader);
    struct gantt *gantt = gantt_of_report(reader->report, bidirectional);
    for (size_t i = 0; i < reader->count; i++)
        add_box(gantt, reader->report, bidirectional, &reader->operations[i]);
    for (size_t i = 0; i < reader->count; i++)
        add_arrow(gantt, &reader->operations[i]);
    return gantt;
}

static bool find_rows(struct reader *reader)
{
    uint32_t count = reader->report->worker_count;
    reader->rows = array_grow(NULL, &(size_t){0}, (size_t)count + 1, sizeof *reader->rows);
    for (uint32_t row = 0; row < count; row++)
        reader->rows[row] = (struct rank_row){reader->report->workers[row].simulated_rank, row};
    if (count)
        qsort(reader->rows, count, sizeof *reader->rows, by_rank);
    for (uint32_t i = 1; i < count; i++)
        if (reader->rows[i].rank == reader->rows[i - 1].rank)
            return false;
    return true;
}

struct gantt *saved_operations_gantt(const struct saved_texts *texts, const struct report *report, struct diag *diag)
{
    const char *kinds[STAGESIM_KINDS + 1] = {NULL};
    for (int kind = 0; kind < STAGESIM_KINDS; kind++)
        kinds[kind] = kind_name((enum stagesim_kind)kind);
    struct reader reader = {.report = report, .diag = diag, .kinds = kinds};
    unsigned before = diag->errors;
    if (find_rows(&reader))
        read_operations(&reader, texts);
    else
        diag_error(diag, (struct place){texts->operations_file, 0, 0},
                   "two workers of summary.json have the same rank");
    read_critical(&reader, texts);
    struct gantt *gantt = draw(&reader);
    read_memory(&reader, texts, gantt);
    gantt_finish(gantt);
    free(reader.rows);
    free(reader.operations);
    free(reader.first);
    if (diag->errors == before)
        return gantt;
    gantt_destroy(gantt);
    return NULL;
}
