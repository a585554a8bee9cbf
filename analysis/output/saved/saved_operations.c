/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/saved/saved_operations.h"

#include "analysis/pictures/gantt_collect.h"
#include "base/arena.h"
#include "base/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column {
    RANK,
    STREAM,
    ID,
    KIND,
    STAGE,
    MICRO_BATCH,
    PIPELINE,
    PART,
    START,
    DATA_START,
    END, /* needed */
    HOST,
    POSITION,
    GROUP,
    PEER,
    BYTES,
    FLOPS,
    MEMORY,
    WAITS,
    ITERATION,
    SLACK,
    ALONE,
    COLUMNS
};

static const char *const column_names[COLUMNS] = {
    "rank",      "stream",    "id",      "kind",         "stage", "micro_batch",
    "pipeline",  "part",      "start_s", "data_start_s", "end_s", "host",
    "position",  "group",     "peer",    "bytes",        "flops", "memory_delta_bytes",
    "waits_for", "iteration", "slack_s", "alone_s"};
static const struct csv_columns operations_columns = {column_names,     COLUMNS, HOST,
                                                      "operations.csv", false,   "doc/operations-csv.md"};
static const struct csv_columns critical_columns = {column_names,        COLUMNS, HOST,
                                                    "critical-path.csv", false,   "doc/operations-csv.md"};

enum memory_column { MEMORY_POSITION, MEMORY_TIME, MEMORY_BYTES, MEMORY_IN_FLIGHT, MEMORY_RANK, MEMORY_COLUMNS };
static const char *const memory_names[MEMORY_COLUMNS] = {"position", "time_s", "bytes", "in_flight", "rank"};
static const struct csv_columns memory_columns = {memory_names, MEMORY_COLUMNS, MEMORY_RANK,
                                                  "memory.csv", false,          "doc/operations-csv.md"};

enum stream_use { STREAM_COMPUTE, STREAM_SEND, STREAM_COLLECTIVE, STREAM_OTHER };

struct saved_operation {
    double start, data_start, end;
    uint32_t row, id, peer; /* peer: position at the other end of a send */
    unsigned line;
    uint8_t stream;
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
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* The row of a rank; NULL: it is not shown. */
static const struct rank_row *row_of(const struct reader *reader, uint32_t rank)
{
    struct rank_row key = {rank, 0};
    return reader->report->worker_count ? bsearch(&key, reader->rows, reader->report->worker_count, sizeof key, by_rank)
                                        : NULL;
}

/* ---- fields ---- */

/* Digits up to `most`; the end of them. */
static const char *take_number(const char *text, const char *end, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    const char *at = text;
    for (; at < end && *at >= '0' && *at <= '9' && value <= most; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *number = (uint32_t)value;
    return value <= most ? at : text;
}

/* "3", "0+3", "+3" or nothing: `none` stands for what is left out. */
static bool read_pair(struct csv *csv, enum column column, uint32_t none, uint32_t most, uint32_t *first,
                      uint32_t *second, bool *block)
{
    struct csv_field field = csv_get(csv, column);
    const char *at = field.text, *end = field.text + field.size;
    *first = none;
    if (at < end && *at != '+')
        at = take_number(at, end, most, first);
    *second = *first;
    if (at < end && *at == '+' && at + 1 <= end) {
        *second = none;
        *block = true;
        at = at + 1 == end ? end : take_number(at + 1, end, most, second);
    }
    return at == end || csv_mistake(csv, column, "%s is a whole number up to %u or two with '+' between, not '%s'",
                                    column_names[column], most, csv_excerpt(field).text);
}

static bool read_part(struct csv *csv, struct saved_operation *operation)
{
    static const char *const texts[] = {"", "a", "b", "+a", "+b", "a+", "b+", "a+b", "b+a"};
    static const uint8_t parts[][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {1, 2}, {2, 1}};
    struct csv_field field = csv_get(csv, PART);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!csv_is(field, texts[i]))
            continue;
        operation->work.part = parts[i][0];
        operation->second.part = parts[i][1];
        operation->is_block |= i > 2;
        return true;
    }
    return csv_mistake(csv, PART, "part is empty, a or b, or two of them with '+' between, not '%s'",
                       csv_excerpt(field).text);
}

static bool read_stream(struct csv *csv, struct saved_operation *operation)
{
    struct csv_field field = csv_get(csv, STREAM);
    const char *end = field.text + field.size;
    static const char *const others[] = {"receive:", "delay:"};
    operation->stream = STREAM_COMPUTE;
    if (csv_is(field, "compute"))
        return true;
    operation->stream = STREAM_SEND;
    if (field.size > 5 && !memcmp(field.text, "send:", 5)) {
        const char *colon = take_number(field.text + 5, end, UINT32_MAX, &operation->peer);
        if (colon > field.text + 5 && colon < end && *colon == ':')
            return true;
    }
    operation->stream = STREAM_COLLECTIVE;
    if (field.size > 11 && !memcmp(field.text, "collective:", 11))
        return true;
    operation->stream = STREAM_OTHER;
    for (size_t i = 0; i < 2; i++)
        if (field.size > strlen(others[i]) && !memcmp(field.text, others[i], strlen(others[i])))
            return true;
    return csv_mistake(csv, STREAM, "stream is compute, send:P:KIND, receive:P:KIND, collective:G or delay:L, not '%s'",
                       csv_excerpt(field).text);
}

static bool read_work(const struct reader *reader, struct csv *csv, struct saved_operation *operation)
{
    struct gantt_work *work = &operation->work, *second = &operation->second;
    if (!csv_word(csv, KIND, reader->kinds, &work->kind) ||
        !read_pair(csv, STAGE, STAGE_NONE, STAGE_NONE - 1, &work->stage, &second->stage, &operation->is_block) ||
        !read_pair(csv, MICRO_BATCH, MICRO_BATCH_NONE, MICRO_BATCH_NONE - 1, &work->micro_batch, &second->micro_batch,
                   &operation->is_block) ||
        !read_pair(csv, PIPELINE, 0, UINT16_MAX, &work->pipeline, &second->pipeline, &operation->is_block) ||
        !read_part(csv, operation))
        return false;
    operation->is_block |= work->kind == STAGESIM_BLOCK;
    second->kind = work->kind == STAGESIM_BLOCK ? STAGESIM_BACKWARD : work->kind;
    return true;
}

/* A run of thirty thousand years: what is more is damage, and would break pictures. */
static const double seconds_most = 1e12;

static bool read_times(struct csv *csv, struct saved_operation *operation)
{
    if (!csv_number(csv, START, &operation->start) || !csv_number(csv, DATA_START, &operation->data_start) ||
        !csv_number(csv, END, &operation->end))
        return false;
    if (operation->start < 0)
        return csv_mistake(csv, START, "start_s is negative");
    if (operation->data_start < operation->start)
        return csv_mistake(csv, DATA_START, "data_start_s lies before start_s");
    if (operation->end > seconds_most)
        return csv_mistake(csv, END, "end_s is more than %g seconds", seconds_most);
    return operation->end >= operation->data_start || csv_mistake(csv, END, "end_s lies before data_start_s");
}

/* Nothing is drawn of them; but a file in which they are wrong is no output of a run. */
static bool read_amounts(struct csv *csv)
{
    static const unsigned columns[] = {BYTES, FLOPS};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double amount = 0;
        if (!csv_has(csv, columns[i]) || csv_get(csv, columns[i]).size == 0)
            continue;
        if (!csv_number(csv, columns[i], &amount))
            return false;
        if (amount < 0)
            return csv_mistake(csv, columns[i], "%s is negative", column_names[columns[i]]);
    }
    return true;
}

/* ---- operations.csv ---- */

static bool read_operation(struct reader *reader, struct csv *csv)
{
    struct saved_operation operation = {.line = csv_line(csv)};
    uint32_t rank, position;
    if (!csv_integer(csv, RANK, UINT32_MAX, &rank) || !read_times(csv, &operation))
        return false;
    reader->last = fmax(reader->last, operation.end);
    const struct rank_row *row = row_of(reader, rank);
    if (!row)
        return true;
    operation.row = row->row;
    if (!csv_integer(csv, ID, UINT32_MAX - 1, &operation.id) || !read_stream(csv, &operation) ||
        !read_work(reader, csv, &operation))
        return false;
    if (!read_amounts(csv))
        return false;
    if (csv_has(csv, POSITION) && (!csv_integer(csv, POSITION, UINT32_MAX, &position) || position != row->row))
        return csv_mistake(csv, POSITION, "rank %u is worker %u in summary.json: the files are of different runs", rank,
                           row->row);
    reader->operations =
        array_grow(reader->operations, &reader->capacity, reader->count + 1, sizeof *reader->operations);
    reader->operations[reader->count++] = operation;
    return true;
}

/* Sorts by row and id; ids of a row are 0, 1, 2, ... */
static void sort_operations(struct reader *reader, const char *file)
{
    uint32_t rows = reader->report->worker_count;
    if (reader->count)
        qsort(reader->operations, reader->count, sizeof *reader->operations, by_row_and_id);
    reader->first = array_grow(NULL, &(size_t){0}, (size_t)rows + 1, sizeof *reader->first);
    size_t next = 0;
    for (uint32_t row = 0; row < rows; row++) {
        reader->first[row] = next;
        bool good = true;
        for (uint32_t id = 0; next < reader->count && reader->operations[next].row == row; next++, id++) {
            const struct saved_operation *operation = &reader->operations[next];
            if (good && operation->id < id)
                diag_error(reader->diag, (struct place){file, operation->line, 1}, "worker %u has operation %u twice",
                           row, operation->id);
            else if (good && operation->id > id)
                diag_error(reader->diag, (struct place){file, 0, 0},
                           "operation %u of worker %u is missing: the file is not whole", id, row);
            good &= operation->id == id;
        }
    }
    reader->first[rows] = next;
}

/* A file that was cut off ends in the middle of a line, or before the run does. */
static bool check_whole(const struct reader *reader, const char *file, const char *text, size_t size)
{
    if (size && text[size - 1] == '\n')
        return true;
    diag_error(reader->diag, (struct place){file, 0, 0},
               size ? "the file ends in the middle of a line: it is not whole" : "the file is empty");
    return false;
}

static void read_operations(struct reader *reader, const struct saved_texts *texts)
{
    const char *file = texts->operations_file;
    unsigned before = reader->diag->errors;
    check_whole(reader, file, texts->operations, texts->operations_size);
    struct csv *csv =
        csv_open(file, texts->operations, texts->operations_size, &operations_columns, reader->diag, NULL);
    while (csv && csv_next(csv))
        read_operation(reader, csv);
    csv_close(csv);
    bool good = reader->diag->errors == before;
    if (good)
        sort_operations(reader, file);
    if (good && reader->last < reader->report->makespan)
        diag_error(reader->diag, (struct place){file, 0, 0},
                   "the last operation ends after %g s, the run of summary.json after %g s: the "
                   "file is not whole, or of another run",
                   reader->last, reader->report->makespan);
}

/* ---- critical-path.csv ---- */

static bool read_step(const struct reader *reader, struct csv *csv)
{
    uint32_t rank, id;
    if (!csv_integer(csv, RANK, UINT32_MAX, &rank) || !csv_integer(csv, ID, UINT32_MAX, &id))
        return false;
    const struct rank_row *row = row_of(reader, rank);
    if (!row || !reader->first)
        return true;
    if (id >= reader->first[row->row + 1] - reader->first[row->row])
        return csv_mistake(csv, ID, "rank %u has no operation %u in operations.csv", rank, id);
    reader->operations[reader->first[row->row] + id].critical = true;
    return true;
}

static void read_critical(const struct reader *reader, const struct saved_texts *texts)
{
    check_whole(reader, texts->critical_file, texts->critical, texts->critical_size);
    struct csv *csv =
        csv_open(texts->critical_file, texts->critical, texts->critical_size, &critical_columns, reader->diag, NULL);
    while (csv && csv_next(csv))
        read_step(reader, csv);
    csv_close(csv);
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
    if (level->time > seconds_most)
        return csv_mistake(csv, MEMORY_TIME, "time_s is more than %g seconds", seconds_most);
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
    check_whole(reader, texts->memory_file, texts->memory, texts->memory_size);
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
        if (reader->operations[i].stream == STREAM_COMPUTE && reader->operations[i].work.pipeline & 1)
            return true;
    return false;
}

static void add_box(struct gantt *gantt, const struct report *report, bool bidirectional,
                    const struct saved_operation *operation)
{
    struct gantt_box box = {operation->start, operation->end, operation->row, GANTT_NO_NUMBER,
                            .critical = operation->critical};
    if (operation->stream == STREAM_COMPUTE) {
        gantt_add_work(gantt, report, bidirectional, box, &operation->work,
                       operation->is_block ? &operation->second : NULL);
    } else if (operation->stream == STREAM_COLLECTIVE ||
               (operation->stream == STREAM_SEND && operation->peer == operation->row)) {
        box.start = operation->data_start;
        box.kind = operation->stream == STREAM_SEND ? GANTT_TRANSFER : GANTT_COLLECTIVE;
        box.lane = GANTT_LANE_COLLECTIVE;
        gantt_add_box(gantt, &box);
    }
}

static void add_arrow(struct gantt *gantt, const struct saved_operation *operation)
{
    struct gantt_arrow arrow = {operation->data_start, operation->end, operation->row, operation->peer};
    if (operation->stream == STREAM_SEND && arrow.to != arrow.from && arrow.to < gantt->row_count &&
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
