/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/operations_table.h"

#include "base/arena.h"
#include "traces/operations_rows.h"
#include "traces/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BYTES_MAX = 1 << 30 };

/* An operation as its rank numbers it. */
struct numbered {
    uint32_t rank, id, operation;
};

/* It waits for the operation of its rank with that id. */
struct waiting {
    uint32_t rank, operation, id;
    unsigned line;
};

struct table {
    struct trace_reader *reader;
    struct operations_rows rows;
    struct numbered *numbers; /* in the end by rank and id */
    struct waiting *waits;
    size_t count, capacity, wait_count, wait_capacity;
};

bool operations_table_is(const char *head, size_t size)
{
    size_t at = size >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < size && strchr(" \t\r\n\"", head[at]))
        at++;
    return at < size && head[at] >= 'a' && head[at] <= 'z' && memchr(head, ',', size);
}

static void read_waits(struct table *table, uint32_t rank)
{
    size_t at = 0;
    uint32_t id;
    while (operations_rows_wait(&table->rows, &at, &id)) {
        table->waits = array_grow(table->waits, &table->wait_capacity, table->wait_count + 1, sizeof *table->waits);
        table->waits[table->wait_count++] =
            (struct waiting){rank, (uint32_t)table->reader->recorded->count - 1, id, csv_line(table->rows.csv)};
    }
}

static uint64_t hash_of(struct csv_field field)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < field.size; i++)
        hash = (hash ^ (unsigned char)field.text[i]) * 0x100000001b3ull;
    return hash;
}

static void add_row(struct table *table, const struct operations_row *row)
{
    struct recorded *recorded = table->reader->recorded;
    uint32_t index = recorded_rank(recorded, row->rank, table->reader->file);
    char name[96];
    recorded->ranks[index].stage = row->position;
    snprintf(name, sizeof name, "%.*s", (int)(row->stream.size < 90 ? row->stream.size : 90), row->stream.text);
    uint32_t stream = recorded_stream(recorded, index, hash_of(row->stream), false, name);
    struct recorded_operation *operation = recorded_add(recorded, row->type, stream, row->start, row->end);
    operation->data = row->type == RECORDED_COMPUTE || row->type == RECORDED_MEMORY ? NAN : row->data_start;
    operation->name = recorded_name(recorded, row->kind.text, row->kind.size);
    operation->work = (uint8_t)words_work(row->kind.text, row->kind.size);
    operation->stage = row->stage.first < RECORDED_NO_STAGE ? (uint16_t)row->stage.first : RECORDED_NO_STAGE;
    operation->micro_batch = row->micro_batch.first;
    if (row->two && row->stage.second < RECORDED_NO_STAGE && row->micro_batch.second != RECORDED_NONE)
        recorded_add_block(recorded, (uint16_t)row->stage.second, row->micro_batch.second);
    operation->step = row->iteration == RECORDED_NONE ? 0 : row->iteration;
    operation->peer = row->peer;
    operation->waiting = row->type == RECORDED_COLLECTIVE || row->type == RECORDED_RECEIVE;
    operation->bytes = (float)row->bytes;
    if (row->group != RECORDED_NONE) {
        snprintf(name, sizeof name, "%u", row->group);
        operation->group = recorded_group(recorded, name, NULL, 0, NULL);
    }
    table->numbers = array_grow(table->numbers, &table->capacity, table->count + 1, sizeof *table->numbers);
    table->numbers[table->count++] = (struct numbered){index, row->id, (uint32_t)recorded->count - 1};
    read_waits(table, index);
}

static int by_id(const void *left, const void *right)
{
    const struct numbered *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

/* Ids of a rank are 0, 1, 2, ... */
static void join_waits(struct table *table)
{
    struct recorded *recorded = table->reader->recorded;
    size_t *first = array_zeroed(recorded->rank_count + 1, sizeof *first);
    for (size_t i = 0; i < table->count; i++)
        first[table->numbers[i].rank + 1]++;
    for (size_t i = 0; i < recorded->rank_count; i++)
        first[i + 1] += first[i];
    for (size_t i = 0; i < table->wait_count; i++) {
        const struct waiting *wait = &table->waits[i];
        size_t awaited = first[wait->rank] + wait->id;
        if (awaited >= first[wait->rank + 1]) {
            diag_error(table->reader->diag, (struct place){table->reader->file, wait->line, 0},
                       "it waits for operation %u, which rank %u does not have", wait->id,
                       recorded->ranks[wait->rank].number);
            continue;
        }
        recorded->waits =
            array_grow(recorded->waits, &recorded->wait_capacity, recorded->wait_count + 1, sizeof *recorded->waits);
        recorded->waits[recorded->wait_count++] =
            (struct recorded_wait){wait->operation, table->numbers[awaited].operation};
    }
    free(first);
}

/* The k-th send of a stream meets the k-th receive of the opposite one: rows of a rank are in that order by id. */
static void number_messages(struct table *table)
{
    struct recorded *recorded = table->reader->recorded;
    uint32_t *next = array_zeroed(recorded->stream_count, sizeof *next);
    for (size_t i = 0; i < table->count; i++) {
        struct recorded_operation *operation = &recorded->operations[table->numbers[i].operation];
        operation->sequence = next[operation->stream]++;
    }
    free(next);
}

/* ---- a table that was cut between two rows ---- */

/* How often something comes that two sides have alike: `side` says whose, `of` what it is. */
struct tally {
    uint32_t of[3], side;
    size_t count;
};

static int by_tally(const void *left, const void *right)
{
    const struct tally *a = left, *b = right;
    for (size_t i = 0; i < 3; i++)
        if (a->of[i] != b->of[i])
            return a->of[i] < b->of[i] ? -1 : 1;
    return (a->side > b->side) - (a->side < b->side);
}

/* Joins equal ones; how many are left. */
static size_t join_tallies(struct tally *tallies, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(tallies, count, sizeof *tallies, by_tally);
    for (size_t i = 0; i < count; i++) {
        if (kept && !by_tally(&tallies[kept - 1], &tallies[i]))
            tallies[kept - 1].count += tallies[i].count;
        else
            tallies[kept++] = tallies[i];
    }
    return kept;
}

static bool is_of_same(const struct tally *a, const struct tally *b)
{
    return !memcmp(a->of, b->of, sizeof a->of);
}

static void report_cut(const struct table *table, const char *text)
{
    diag_error(table->reader->diag, (struct place){table->reader->file, 0, 0},
               "%s: rows are missing; expected a whole table", text);
}

/* As many sends as receives between two ranks that are both there. */
static bool has_both_ends(const struct table *table, struct tally *tallies)
{
    const struct recorded *recorded = table->reader->recorded;
    char text[160];
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[table->numbers[i].operation];
        uint32_t rank = recorded->ranks[table->numbers[i].rank].number;
        bool sends = operation->kind == RECORDED_SEND;
        if (sends || operation->kind == RECORDED_RECEIVE)
            tallies[count++] = (struct tally){
                {sends ? rank : operation->peer, sends ? operation->peer : rank, operation->name}, !sends, 1};
    }
    count = join_tallies(tallies, count);
    for (size_t i = 0; i + 1 < count; i++)
        if (is_of_same(&tallies[i], &tallies[i + 1]) && tallies[i].count != tallies[i + 1].count) {
            snprintf(text, sizeof text, "rank %u sends %zu messages of kind %.40s to rank %u, which receives %zu",
                     tallies[i].of[0], tallies[i].count, recorded->names[tallies[i].of[2]], tallies[i].of[1],
                     tallies[i + 1].count);
            report_cut(table, text);
            return false;
        }
    return true;
}

/* All members of a group take part equally often; ranks of a position do the same. */
static bool is_alike(const struct table *table, struct tally *tallies, bool groups)
{
    const struct recorded *recorded = table->reader->recorded;
    char text[160];
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[table->numbers[i].operation];
        uint32_t rank = table->numbers[i].rank, of = groups ? operation->group : recorded->ranks[rank].stage;
        if (of != RECORDED_NONE && (!groups || operation->kind == RECORDED_COLLECTIVE))
            tallies[count++] = (struct tally){{of, 0, 0}, recorded->ranks[rank].number, 1};
    }
    count = join_tallies(tallies, count);
    for (size_t i = 0; i + 1 < count; i++)
        if (is_of_same(&tallies[i], &tallies[i + 1]) && tallies[i].count != tallies[i + 1].count) {
            snprintf(text, sizeof text, "ranks %u and %u %s, but have %zu and %zu %s", tallies[i].side,
                     tallies[i + 1].side, groups ? "are in one group" : "have one position", tallies[i].count,
                     tallies[i + 1].count, groups ? "collectives of it" : "operations");
            report_cut(table, text);
            return false;
        }
    return true;
}

/* Rows are in the order of time, so that a table that was cut lacks the end of every rank. */
static void check_whole(const struct table *table)
{
    struct tally *tallies = array_zeroed(table->count + 1, sizeof *tallies);
    if (has_both_ends(table, tallies) && is_alike(table, tallies, true))
        is_alike(table, tallies, false);
    free(tallies);
}

/* What is no such table at its first bytes is not read any further. */
static bool begins_well(struct trace_reader *reader, const char *text, size_t size)
{
    struct operations_rows rows;
    bool good = operations_rows_open(&rows, OPERATIONS_TRACE, reader->file, text, size, reader->diag);
    operations_rows_close(&rows);
    return good;
}

/* The whole file. */
static char *load(struct trace_reader *reader, struct trace_file *file, size_t *size)
{
    char *text = NULL;
    size_t capacity = 0, got;
    struct fault fault = {.text = ""};
    struct stat info;
    bool first = true, too_large = stat(reader->file, &info) == 0 && info.st_size > BYTES_MAX;
    *size = too_large ? (size_t)info.st_size : 0;
    for (got = !too_large; got && *size <= BYTES_MAX; first = false) {
        text = array_grow(text, &capacity, *size + (1 << 16), 1);
        got = trace_file_read(file, text + *size, capacity - *size, &fault);
        *size += got;
        if (first && memchr(text, '\n', got) && !begins_well(reader, text, got)) {
            free(text);
            return NULL;
        }
    }
    if (*size > BYTES_MAX)
        fault_set(&fault, "it is larger than %d MiB", BYTES_MAX >> 20);
    if (!*fault.text)
        return text;
    if (fault.refused || *size > BYTES_MAX)
        diag_error(reader->diag, (struct place){reader->file, 0, 0}, "%s", fault.text);
    else
        diag_trouble(reader->diag, (struct place){reader->file, 0, 0}, "%s", fault.text);
    free(text);
    return NULL;
}

bool operations_table_read(struct trace_reader *reader, struct trace_file *file)
{
    size_t size;
    unsigned errors = reader->diag->errors;
    if (*reader->recorded->format) {
        diag_error(reader->diag, (struct place){reader->file, 0, 0},
                   "an operations.csv has all ranks of a job; expected no other trace beside it");
        return false;
    }
    char *text = load(reader, file, &size);
    if (!text)
        return false;
    struct table table = {.reader = reader};
    struct operations_row row;
    if (operations_rows_open(&table.rows, OPERATIONS_TRACE, reader->file, text, size, reader->diag))
        while (operations_rows_next(&table.rows, &row))
            add_row(&table, &row);
    reader->recorded->format = "operations.csv (stagesim)";
    reader->recorded->timeline = true;
    if (table.count)
        qsort(table.numbers, table.count, sizeof *table.numbers, by_id);
    if (operations_rows_whole(&table.rows))
        join_waits(&table);
    if (reader->diag->errors == errors) {
        check_whole(&table);
        number_messages(&table);
    }
    operations_rows_close(&table.rows);
    free(table.numbers);
    free(table.waits);
    free(text);
    return reader->diag->errors == errors;
}
