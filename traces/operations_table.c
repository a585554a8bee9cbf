/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/operations_table.h"

#include "base/arena.h"
#include "base/csv.h"
#include "traces/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum column {
    RANK,
    STREAM,
    ID,
    KIND,
    STAGE,
    MICRO_BATCH,
    START,
    DATA_START,
    END,
    GROUP,
    PEER,
    BYTES,
    WAITS,
    ITERATION,
    POSITION,
    COLUMNS
};
enum { NEEDED = GROUP, BYTES_MAX = 1 << 30 };

/* Those above, and the others of doc/operations-csv.md, which say nothing that is asked for here. */
static const char *const known_names[] = {"rank",        "stream",   "id",           "kind",      "stage",
                                          "micro_batch", "start_s",  "data_start_s", "end_s",     "group",
                                          "peer",        "bytes",    "waits_for",    "iteration", "position",
                                          "host",        "pipeline", "part",         "flops",     "memory_delta_bytes",
                                          "alone_s",     "slack_s"};
static const struct csv_columns columns = {
    known_names, sizeof known_names / sizeof *known_names, NEEDED, "operations.csv", false, "doc/operations-csv.md"};

/* An operation as its rank numbers it. */
struct numbered {
    uint32_t rank, id, operation;
};

struct waiting {
    uint32_t rank, operation, awaited;
    unsigned line;
};

struct table {
    struct trace_reader *reader;
    struct csv *csv;
    struct numbered *numbers;
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

static bool read_kind(struct csv *csv, enum recorded_kind *kind)
{
    struct csv_field stream = csv_get(csv, STREAM);
    return words_stream(stream.text, stream.size, kind) ||
           csv_mistake(csv, STREAM, "stream is compute, send:P:KIND, receive:P:KIND, collective:G or delay:L, not '%s'",
                       csv_excerpt(stream).text);
}

/* A number, or the first of "3+5"; RECORDED_NONE where the field is empty or not there. */
static bool read_optional(struct csv *csv, enum column column, uint32_t most, uint32_t *number)
{
    struct csv_field field = csv_get(csv, column);
    *number = RECORDED_NONE;
    if (!field.text || !field.size)
        return true;
    uint64_t value = 0;
    size_t at = 0;
    while (at < field.size && field.text[at] >= '0' && field.text[at] <= '9' && value <= most)
        value = value * 10 + (uint64_t)(field.text[at++] - '0');
    if ((at < field.size && field.text[at] != '+') || !at || value > most)
        return csv_mistake(csv, column, "%s is a whole number up to %u, not '%s'", known_names[column], most,
                           csv_excerpt(field).text);
    *number = (uint32_t)value;
    return true;
}

static void read_waits(struct table *table, uint32_t rank)
{
    struct csv_field field = csv_get(table->csv, WAITS);
    for (size_t at = 0; field.text && at < field.size;) {
        uint64_t value = 0;
        size_t first = at;
        while (at < field.size && field.text[at] >= '0' && field.text[at] <= '9' && value < RECORDED_NONE)
            value = value * 10 + (uint64_t)(field.text[at++] - '0');
        if (first == at || value >= RECORDED_NONE) {
            csv_mistake(table->csv, WAITS, "waits_for is ids with blanks between, not '%s'", csv_excerpt(field).text);
            return;
        }
        table->waits = array_grow(table->waits, &table->wait_capacity, table->wait_count + 1, sizeof *table->waits);
        table->waits[table->wait_count++] =
            (struct waiting){rank, (uint32_t)table->reader->recorded->count - 1, (uint32_t)value, csv_line(table->csv)};
        while (at < field.size && field.text[at] == ' ')
            at++;
    }
}

static bool read_times(struct csv *csv, double *start, double *data, double *end)
{
    if (!csv_number(csv, START, start) || !csv_number(csv, DATA_START, data) || !csv_number(csv, END, end))
        return false;
    if (*start < 0 || *end > 1e12)
        return csv_mistake(csv, START, "times are from 0 to 1e12 seconds");
    if (*data < *start || *end < *start)
        return csv_mistake(csv, END, "an operation ends before it starts");
    return true;
}

static void read_group(struct table *table, struct recorded_operation *operation)
{
    char name[32];
    uint32_t group;
    if (read_optional(table->csv, GROUP, RECORDED_NONE - 1, &group) && group != RECORDED_NONE) {
        snprintf(name, sizeof name, "%u", group);
        operation->group = recorded_group(table->reader->recorded, name, NULL, 0, NULL);
    }
}

static uint64_t hash_of(struct csv_field field)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < field.size; i++)
        hash = (hash ^ (unsigned char)field.text[i]) * 0x100000001b3ull;
    return hash;
}

static bool read_row(struct table *table)
{
    struct csv *csv = table->csv;
    struct recorded *recorded = table->reader->recorded;
    enum recorded_kind kind = RECORDED_COMPUTE;
    uint32_t rank, id, stage, micro_batch, step, peer, position;
    double start, data, end;
    if (!csv_integer(csv, RANK, 1 << 24, &rank) || !csv_integer(csv, ID, RECORDED_NONE - 1, &id) ||
        !read_kind(csv, &kind) || !read_times(csv, &start, &data, &end) ||
        !read_optional(csv, STAGE, RECORDED_NO_STAGE - 1, &stage) ||
        !read_optional(csv, MICRO_BATCH, RECORDED_NONE - 1, &micro_batch) ||
        !read_optional(csv, ITERATION, RECORDED_NONE - 1, &step) || !read_optional(csv, PEER, 1 << 24, &peer) ||
        !read_optional(csv, POSITION, 1 << 24, &position))
        return false;
    uint32_t index = recorded_rank(recorded, rank, table->reader->file);
    recorded->ranks[index].stage = position;
    char name[96];
    struct csv_field text = csv_get(csv, STREAM), word = csv_get(csv, KIND);
    snprintf(name, sizeof name, "%.*s", (int)(text.size < 90 ? text.size : 90), text.text);
    uint32_t stream = recorded_stream(recorded, index, hash_of(text), false, name);
    struct recorded_operation *operation = recorded_add(recorded, kind, stream, start, end);
    operation->data = kind == RECORDED_COMPUTE || kind == RECORDED_MEMORY ? NAN : data;
    operation->name = recorded_name(recorded, word.text, word.size);
    operation->work = (uint8_t)words_work(word.text, word.size);
    operation->stage = stage < RECORDED_NO_STAGE ? (uint16_t)stage : RECORDED_NO_STAGE;
    operation->micro_batch = micro_batch;
    operation->step = step == RECORDED_NONE ? 0 : step;
    operation->peer = peer;
    operation->waiting = kind == RECORDED_COLLECTIVE || kind == RECORDED_RECEIVE;
    double bytes;
    if (csv_has(csv, BYTES) && csv_get(csv, BYTES).size && csv_number(csv, BYTES, &bytes))
        operation->bytes = (float)bytes;
    read_group(table, operation);
    table->numbers = array_grow(table->numbers, &table->capacity, table->count + 1, sizeof *table->numbers);
    table->numbers[table->count++] = (struct numbered){index, id, (uint32_t)recorded->count - 1};
    read_waits(table, index);
    return true;
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

static const struct numbered *find(const struct table *table, uint32_t rank, uint32_t id)
{
    struct numbered key = {rank, id, 0};
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (by_id(&table->numbers[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->numbers[low].rank == rank && table->numbers[low].id == id ? &table->numbers[low]
                                                                                                  : NULL;
}

static void join_waits(struct table *table)
{
    struct recorded *recorded = table->reader->recorded;
    for (size_t i = 1; i < table->count; i++)
        if (table->numbers[i].rank == table->numbers[i - 1].rank && table->numbers[i].id == table->numbers[i - 1].id)
            diag_error(table->reader->diag, (struct place){table->reader->file, 0, 0},
                       "rank %u has two operations with the id %u", recorded->ranks[table->numbers[i].rank].number,
                       table->numbers[i].id);
    for (size_t i = 0; i < table->wait_count; i++) {
        const struct waiting *wait = &table->waits[i];
        const struct numbered *awaited = find(table, wait->rank, wait->awaited);
        if (!awaited) {
            diag_error(table->reader->diag, (struct place){table->reader->file, wait->line, 0},
                       "it waits for operation %u, which rank %u does not have", wait->awaited,
                       recorded->ranks[wait->rank].number);
            continue;
        }
        recorded->waits =
            array_grow(recorded->waits, &recorded->wait_capacity, recorded->wait_count + 1, sizeof *recorded->waits);
        recorded->waits[recorded->wait_count++] = (struct recorded_wait){wait->operation, awaited->operation};
    }
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

/* Ids of a rank are 0, 1, 2, ... */
static bool has_all_ids(const struct table *table)
{
    char text[96];
    for (size_t i = 0; i < table->count; i++) {
        const struct numbered *number = &table->numbers[i];
        uint32_t expected = i && number[-1].rank == number->rank ? number[-1].id + 1 : 0;
        if (number->id == expected)
            continue;
        snprintf(text, sizeof text, "rank %u has no operation %u", table->reader->recorded->ranks[number->rank].number,
                 expected);
        report_cut(table, text);
        return false;
    }
    return true;
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
    if (has_all_ids(table) && has_both_ends(table, tallies) && is_alike(table, tallies, true))
        is_alike(table, tallies, false);
    free(tallies);
}

/* What is no such table at its first bytes is not read any further. */
static bool begins_well(struct trace_reader *reader, const char *text, size_t size)
{
    struct csv *csv = csv_open(reader->file, text, size, &columns, reader->diag, NULL);
    if (csv)
        csv_close(csv);
    return csv;
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
    table.csv = csv_open(reader->file, text, size, &columns, reader->diag, NULL);
    while (table.csv && csv_next(table.csv))
        read_row(&table);
    reader->recorded->format = "operations.csv (stagesim)";
    reader->recorded->timeline = true;
    if (table.count)
        qsort(table.numbers, table.count, sizeof *table.numbers, by_id);
    if (reader->diag->errors == errors)
        join_waits(&table);
    if (reader->diag->errors == errors) {
        check_whole(&table);
        number_messages(&table);
    }
    csv_close(table.csv);
    free(table.numbers);
    free(table.waits);
    free(text);
    return reader->diag->errors == errors;
}
