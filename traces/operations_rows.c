/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/operations_rows.h"

#include "base/arena.h"
#include "traces/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[OPERATIONS_COLUMNS] = {
    "rank",      "stream",       "id",      "kind",     "stage", "micro_batch",
    "start_s",   "data_start_s", "end_s",   "pipeline", "part",  "host",
    "position",  "group",        "peer",    "bytes",    "flops", "memory_delta_bytes",
    "waits_for", "iteration",    "slack_s", "alone_s"};
#define PAGE "doc/operations-csv.md"
static const struct csv_columns columns[] = {
    [OPERATIONS_TRACE] = {names, OPERATIONS_COLUMNS, OPERATIONS_PIPELINE, "operations.csv", false, PAGE},
    [OPERATIONS_DRAWN] = {names, OPERATIONS_COLUMNS, OPERATIONS_HOST, "operations.csv", false, PAGE},
    [OPERATIONS_CRITICAL] = {names, OPERATIONS_COLUMNS, OPERATIONS_HOST, "critical-path.csv", false, PAGE}};

/* An operation as its rank numbers it. */
struct operations_number {
    uint32_t rank, id;
    unsigned line;
};

/* ---- fields ---- */

/* Digits up to `most`; the end of them, or the beginning where there are none or too many. */
static const char *take_number(const char *text, const char *end, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    const char *at = text;
    for (; at < end && *at >= '0' && *at <= '9' && value <= most; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    if (at == text || value > most)
        return text;
    *number = (uint32_t)value;
    return at;
}

/* "3", "0+3", "+3", "3+" or nothing. */
static bool read_pair(struct csv *csv, enum operations_column column, uint32_t most, struct operations_pair *pair,
                      bool *two)
{
    struct csv_field field = csv_get(csv, column);
    *pair = (struct operations_pair){RECORDED_NONE, RECORDED_NONE};
    if (!field.size)
        return true;
    const char *at = field.text, *end = field.text + field.size;
    if (*at != '+')
        at = take_number(at, end, most, &pair->first);
    pair->second = pair->first;
    if (at < end && *at == '+') {
        pair->second = RECORDED_NONE;
        *two = true;
        at = at + 1 == end ? end : take_number(at + 1, end, most, &pair->second);
    }
    return at == end || csv_mistake(csv, column, "%s is a whole number up to %u or two with '+' between, not '%s'",
                                    names[column], most, csv_excerpt(field).text);
}

static bool read_optional(struct csv *csv, enum operations_column column, uint32_t most, uint32_t *number)
{
    struct csv_field field = csv_get(csv, column);
    *number = RECORDED_NONE;
    return !field.size || csv_integer(csv, column, most, number);
}

static bool read_part(struct csv *csv, struct operations_row *row)
{
    static const char *const texts[] = {"a", "b", "+a", "+b", "a+", "b+", "a+b", "b+a"};
    static const uint8_t parts[][2] = {{1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 0}, {2, 0}, {1, 2}, {2, 1}};
    struct csv_field field = csv_get(csv, OPERATIONS_PART);
    if (!field.size)
        return true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!csv_is(field, texts[i]))
            continue;
        memcpy(row->parts, parts[i], sizeof row->parts);
        row->two |= i > 1;
        return true;
    }
    return csv_mistake(csv, OPERATIONS_PART, "part is empty, a or b, or two of them with '+' between, not '%s'",
                       csv_excerpt(field).text);
}

static bool read_stream(struct csv *csv, struct operations_row *row)
{
    struct csv_field field = csv_get(csv, OPERATIONS_STREAM);
    const char *end = field.text + field.size, *colon = field.size ? memchr(field.text, ':', field.size) : NULL;
    bool good = words_stream(field.text, field.size, &row->type);
    if (good && row->type != RECORDED_COMPUTE)
        good = colon && colon + 1 < end;
    if (good && (row->type == RECORDED_SEND || row->type == RECORDED_RECEIVE)) {
        const char *after = take_number(colon + 1, end, RECORDED_RANK_MOST, &row->peer_position);
        good = after > colon + 1 && after < end && *after == ':';
    }
    row->stream = field;
    return good || csv_mistake(csv, OPERATIONS_STREAM,
                               "stream is compute, send:P:KIND, receive:P:KIND, collective:G or delay:L, not '%s'",
                               csv_excerpt(field).text);
}

static bool read_times(struct csv *csv, struct operations_row *row)
{
    if (!csv_number(csv, OPERATIONS_START, &row->start) || !csv_number(csv, OPERATIONS_DATA_START, &row->data_start) ||
        !csv_number(csv, OPERATIONS_END, &row->end))
        return false;
    if (row->start < 0)
        return csv_mistake(csv, OPERATIONS_START, "start_s is negative");
    if (row->end > OPERATIONS_SECONDS_MOST)
        return csv_mistake(csv, OPERATIONS_END, "end_s is more than %g seconds", OPERATIONS_SECONDS_MOST);
    if (row->end < row->start)
        return csv_mistake(csv, OPERATIONS_END, "an operation ends before it starts");
    return row->data_start >= row->start || csv_mistake(csv, OPERATIONS_DATA_START, "data_start_s lies before start_s");
}

static bool read_amount(struct csv *csv, enum operations_column column, double *amount)
{
    *amount = NAN;
    if (!csv_get(csv, column).size)
        return true;
    return csv_number(csv, column, amount) &&
           (*amount >= 0 || csv_mistake(csv, column, "%s is negative", names[column]));
}

/* ---- rows ---- */

static bool read_work(struct csv *csv, struct operations_row *row)
{
    double flops;
    return read_pair(csv, OPERATIONS_STAGE, RECORDED_NONE - 1, &row->stage, &row->two) &&
           read_pair(csv, OPERATIONS_MICRO_BATCH, RECORDED_NONE - 1, &row->micro_batch, &row->two) &&
           read_pair(csv, OPERATIONS_PIPELINE, UINT16_MAX, &row->pipeline, &row->two) && read_part(csv, row) &&
           read_amount(csv, OPERATIONS_BYTES, &row->bytes) && read_amount(csv, OPERATIONS_FLOPS, &flops);
}

static bool read_row(struct csv *csv, struct operations_row *row)
{
    *row = (struct operations_row){.peer_position = RECORDED_NONE, .kind = csv_get(csv, OPERATIONS_KIND)};
    return csv_integer(csv, OPERATIONS_RANK, RECORDED_RANK_MOST, &row->rank) &&
           csv_integer(csv, OPERATIONS_ID, RECORDED_NONE - 1, &row->id) && read_stream(csv, row) &&
           read_times(csv, row) && read_work(csv, row) &&
           read_optional(csv, OPERATIONS_ITERATION, RECORDED_NONE - 2, &row->iteration) &&
           read_optional(csv, OPERATIONS_POSITION, RECORDED_RANK_MOST, &row->position) &&
           read_optional(csv, OPERATIONS_GROUP, RECORDED_NONE - 1, &row->group) &&
           read_optional(csv, OPERATIONS_PEER, RECORDED_RANK_MOST, &row->peer);
}

bool operations_text_whole(const char *file, const char *text, size_t size, struct diag *diag)
{
    if (size && text[size - 1] == '\n')
        return true;
    diag_error(diag, (struct place){file, 0, 0},
               size ? "the file ends in the middle of a line: it is not whole" : "the file is empty");
    return false;
}

bool operations_rows_open(struct operations_rows *rows, enum operations_table table, const char *file, const char *text,
                          size_t size, struct diag *diag)
{
    *rows = (struct operations_rows){
        .table = table, .file = file, .text = text, .size = size, .diag = diag, .errors = diag->errors};
    rows->csv = csv_open(file, text, size, &columns[table], diag, NULL);
    return rows->csv;
}

bool operations_rows_next(struct operations_rows *rows, struct operations_row *row)
{
    while (csv_next(rows->csv))
        if (read_row(rows->csv, row)) {
            rows->numbers = array_grow(rows->numbers, &rows->capacity, rows->count + 1, sizeof *rows->numbers);
            rows->numbers[rows->count++] = (struct operations_number){row->rank, row->id, csv_line(rows->csv)};
            return true;
        }
    return false;
}

bool operations_rows_wait(struct operations_rows *rows, size_t *at, uint32_t *id)
{
    struct csv_field field = csv_get(rows->csv, OPERATIONS_WAITS);
    if (*at >= field.size)
        return false;
    const char *text = field.text + *at, *end = field.text + field.size;
    const char *after = take_number(text, end, RECORDED_NONE - 1, id);
    if (after == text)
        return csv_mistake(rows->csv, OPERATIONS_WAITS, "waits_for is ids with blanks between, not '%s'",
                           csv_excerpt(field).text);
    while (after < end && *after == ' ')
        after++;
    *at = (size_t)(after - field.text);
    return true;
}

/* ---- the whole ---- */

static int by_id(const void *left, const void *right)
{
    const struct operations_number *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Says it of the first number that is wrong. */
static bool follows(const struct operations_rows *rows, const struct operations_number *number, bool first)
{
    uint32_t expected = first ? 0 : number[-1].id + 1;
    if (number->id == expected)
        return true;
    if (!first && number[-1].id == number->id)
        diag_error(rows->diag, (struct place){rows->file, number->line, 1}, "rank %u has two operations with the id %u",
                   number->rank, number->id);
    else
        diag_error(rows->diag, (struct place){rows->file, 0, 0},
                   "rank %u has no operation %u: rows are missing; expected a whole table", number->rank, expected);
    return false;
}

bool operations_rows_whole(struct operations_rows *rows)
{
    operations_text_whole(rows->file, rows->text, rows->size, rows->diag);
    bool good = rows->diag->errors == rows->errors;
    if (!good || rows->table == OPERATIONS_CRITICAL || !rows->count)
        return good;
    qsort(rows->numbers, rows->count, sizeof *rows->numbers, by_id);
    for (size_t i = 0; i < rows->count && good; i++)
        good = follows(rows, &rows->numbers[i], !i || rows->numbers[i - 1].rank != rows->numbers[i].rank);
    return good;
}

void operations_rows_close(struct operations_rows *rows)
{
    csv_close(rows->csv);
    free(rows->numbers);
    rows->numbers = NULL;
}
