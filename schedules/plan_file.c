/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan_file.h"

#include "schedules/plan_check.h"
#include "schedules/schedules.h"
#include "simulator/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_SIZE_MAX = 1 << 30, NUMBER_MAX = SCHEDULE_STAGES_MAX - 1, MICRO_BATCH_MAX = SCHEDULE_FORWARDS_MAX - 1 };

enum column { WORKER, KIND, STAGE, MICRO_BATCH, PIPELINE, PART, INDEX, START, END, COLUMNS };

static const char *const column_names[COLUMNS] = {"worker", "kind", "stage", "micro_batch", "pipeline", "part", "index", "start", "end"};

struct row {
    uint32_t worker, stage, micro_batch, pipeline, index, line;
    uint8_t kind, part;
};

struct reader {
    const char *name;
    struct diag *diag;
    enum column *columns; /* [field of a row]; COLUMNS: not known */
    size_t column_count, column_capacity;
    bool present[COLUMNS];
    struct row *rows;
    size_t row_count, row_capacity;
};

/* Some bytes of the text, not terminated. */
struct piece {
    const char *text;
    size_t size;
    struct place at;
};

__attribute__((format(printf, 3, 4))) static bool mistake(const struct reader *reader, const struct piece *piece, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    diag_verror(reader->diag, piece->at, format, arguments);
    va_end(arguments);
    return false;
}

/* For messages: the piece, cut where it is long. */
struct excerpt {
    char text[41];
};

static struct excerpt excerpt(const struct piece *piece)
{
    struct excerpt excerpt = {""};
    size_t size = piece->size < sizeof excerpt.text - 1 ? piece->size : sizeof excerpt.text - 1;
    for (size_t i = 0; i < size; i++)
        excerpt.text[i] = (char)(piece->text[i] ? piece->text[i] : '?');
    return excerpt;
}

static bool is(const struct piece *piece, const char *word)
{
    return piece->size == strlen(word) && !memcmp(piece->text, word, piece->size);
}

/* Takes the next line off the text; a carriage return before the end of line does not count. */
static bool next_line(struct piece *text, struct piece *line)
{
    if (!text->size)
        return false;
    const char *end = memchr(text->text, '\n', text->size);
    size_t size = end ? (size_t)(end - text->text) : text->size;
    *line = (struct piece){text->text, size, text->at};
    line->size -= size && line->text[size - 1] == '\r';
    text->text += size + (end != NULL);
    text->size -= size + (end != NULL);
    text->at.line++;
    return true;
}

/* Takes the next field off a line that is not used up (text NULL), without the blanks around it. */
static bool next_field(struct piece *line, struct piece *field)
{
    if (!line->text)
        return false;
    const char *comma = memchr(line->text, ',', line->size);
    size_t size = comma ? (size_t)(comma - line->text) : line->size;
    *field = (struct piece){line->text, size, line->at};
    line->text = comma ? comma + 1 : NULL;
    line->size -= size + (comma != NULL);
    line->at.column += (unsigned)size + 1;
    for (; field->size && (*field->text == ' ' || *field->text == '\t'); field->text++, field->size--)
        field->at.column++;
    while (field->size && (field->text[field->size - 1] == ' ' || field->text[field->size - 1] == '\t'))
        field->size--;
    return true;
}

/* ---- the line of column names ---- */

static void read_name(struct reader *reader, const struct piece *field)
{
    enum column column = 0;
    while (column < COLUMNS && !is(field, column_names[column]))
        column++;
    reader->columns = array_grow(reader->columns, &reader->column_capacity, reader->column_count + 1, sizeof *reader->columns);
    reader->columns[reader->column_count++] = column;
    if (column == COLUMNS) {
        const char *nearest = diag_nearest(excerpt(field).text, column_names, COLUMNS);
        mistake(reader, field, "'%s' is no column of a schedule%s%s%s", excerpt(field).text, nearest ? "; did you mean '" : "",
                nearest ? nearest : "", nearest ? "'?" : "; known are worker, kind, stage, micro_batch, pipeline, part, index, start, end");
    } else if (reader->present[column]) {
        mistake(reader, field, "column '%s' is there twice", column_names[column]);
    } else {
        reader->present[column] = true;
    }
}

/* Whether any field of a line is the name of a column. */
static bool names_columns(struct piece line)
{
    for (struct piece field; next_field(&line, &field);)
        for (enum column column = 0; column < COLUMNS; column++)
            if (is(&field, column_names[column]))
                return true;
    return false;
}

static bool read_names(struct reader *reader, struct piece line)
{
    struct piece whole = line, field;
    unsigned before = reader->diag->errors;
    if (!names_columns(line))
        return mistake(reader, &whole, "the first line names the columns, separated by commas: worker,kind,stage,micro_batch");
    while (next_field(&line, &field))
        read_name(reader, &field);
    for (enum column column = WORKER; column <= MICRO_BATCH; column++)
        if (!reader->present[column])
            mistake(reader, &whole, "column '%s' is missing", column_names[column]);
    return reader->diag->errors == before;
}

/* ---- rows ---- */

static bool read_number(const struct reader *reader, const struct piece *field, enum column column, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    bool good = field->size > 0 && (field->size == 1 || field->text[0] != '0');
    for (size_t i = 0; good && i < field->size; i++) {
        good = field->text[i] >= '0' && field->text[i] <= '9';
        value = value * 10 + (uint64_t)(field->text[i] - '0');
        if (good && value > most)
            return mistake(reader, field, "%s '%s' is too large; at most %u is possible", column_names[column], excerpt(field).text, most);
    }
    if (!good)
        return mistake(reader, field, "%s is a whole number from 0 without leading zeros, not '%s'", column_names[column],
                       excerpt(field).text);
    *number = (uint32_t)value;
    return true;
}

static bool read_kind(const struct reader *reader, const struct piece *field, uint8_t *kind)
{
    for (*kind = SLOT_FORWARD; *kind <= SLOT_FETCH; (*kind)++)
        if (field->size == 1 && field->text[0] == slot_letter(*kind))
            return true;
    return mistake(reader, field, "kind is F (forward), B (backward), W (weight gradient), E (evict) or L (load back), not '%s'",
                   excerpt(field).text);
}

static bool read_part(const struct reader *reader, const struct piece *field, uint8_t *part)
{
    *part = field->size == 0 ? PART_WHOLE : is(field, "a") ? PART_A : PART_B;
    return field->size == 0 || is(field, "a") || is(field, "b") ||
           mistake(reader, field, "part is empty, a or b, not '%s'", excerpt(field).text);
}

static bool read_field(const struct reader *reader, const struct piece *field, enum column column, struct row *row)
{
    switch (column) {
    case WORKER:
        return read_number(reader, field, column, NUMBER_MAX, &row->worker);
    case KIND:
        return read_kind(reader, field, &row->kind);
    case STAGE:
        return read_number(reader, field, column, NUMBER_MAX, &row->stage);
    case MICRO_BATCH:
        return read_number(reader, field, column, MICRO_BATCH_MAX, &row->micro_batch);
    case PIPELINE:
        return read_number(reader, field, column, NUMBER_MAX, &row->pipeline);
    case PART:
        return read_part(reader, field, &row->part);
    case INDEX:
        return read_number(reader, field, column, UINT32_MAX, &row->index);
    case START:
    case END:
    case COLUMNS:
        break;
    }
    return true;
}

static void read_row(struct reader *reader, struct piece line)
{
    struct row row = {.line = line.at.line};
    struct piece rest = line, field;
    size_t count = 0;
    bool good = true;
    while (next_field(&rest, &field)) {
        if (count < reader->column_count && !read_field(reader, &field, reader->columns[count], &row))
            good = false;
        count++;
    }
    if (count != reader->column_count)
        good = mistake(reader, &line, "this row has %zu field%s, the first line names %zu", count, count == 1 ? "" : "s",
                       reader->column_count);
    if (!good)
        return;
    reader->rows = array_grow(reader->rows, &reader->row_capacity, reader->row_count + 1, sizeof *reader->rows);
    reader->rows[reader->row_count++] = row;
}

static void read_text(struct reader *reader, const char *text, size_t size)
{
    struct piece rest = {text, size, {reader->name, 1, 1}}, line;
    if (size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) {
        rest.text += 3;
        rest.size -= 3;
    }
    bool named = false;
    while (next_line(&rest, &line)) {
        if (!line.size)
            continue;
        if (named) {
            read_row(reader, line);
            continue;
        }
        if (!read_names(reader, line))
            return; /* rows cannot be understood without their columns */
        named = true;
    }
    if (!named || (!reader->row_count && !reader->diag->errors))
        diag_error(reader->diag, (struct place){reader->name, 0, 0},
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
        diag_error(reader->diag, at, "%u workers need at least as many rows; the file has %zu", sizes->workers, reader->row_count);
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
        slot->joined = reader->present[INDEX] && !first && last[row->worker] == row->index;
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

static bool check(const struct reader *reader, const struct plan *plan)
{
    bool good = true;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        if (!plan->orders[worker].count) {
            diag_error(reader->diag, (struct place){reader->name, 0, 0},
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
    free(reader.columns);
    return plan;
}

/* ---- files ---- */

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

/* The whole file; NULL with errno set. The caller frees it. */
static char *read_all(const char *path, size_t *size)
{
    SCOPED(close_file) FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status))
        return NULL;
    errno = S_ISDIR(status.st_mode) ? EISDIR : !S_ISREG(status.st_mode) ? EINVAL : status.st_size > FILE_SIZE_MAX ? EFBIG : 0;
    if (errno)
        return NULL;
    size_t capacity = 0;
    char *text = array_grow(NULL, &capacity, (size_t)status.st_size + 1, 1);
    *size = fread(text, 1, (size_t)status.st_size, file);
    if (ferror(file)) {
        free(text);
        return NULL;
    }
    return text;
}

struct plan *plan_file_read(const char *path, struct diag *diag)
{
    size_t size = 0;
    char *text = read_all(path, &size);
    if (!text) {
        diag_error(diag, (struct place){path, 0, 0}, "the schedule cannot be read: %s", strerror(errno));
        return NULL;
    }
    struct plan *plan = plan_file_parse(path, text, size, diag);
    free(text);
    return plan;
}
