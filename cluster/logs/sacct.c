/* SPDX-License-Identifier: Apache-2.0 */
/* What `sacct -P` prints: a line that names the columns, then a job or a step a line, between '|'. Steps (123.batch)
 * are passed over: their job has a line. */
#include "base/arena.h"
#include "cluster/logs/arrival_time.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_ID, SUBMIT, START, END, TRES, STATE, LIMIT, NODES, CPUS, USER, COLUMNS, REQUIRED = STATE };

static const char *const column_names[COLUMNS] = {"JobID", "Submit",    "Start",  "End",   "AllocTRES",
                                                  "State", "Timelimit", "NNodes", "NCPUS", "User"};
static const char *const other_names[COLUMNS] = {[JOB_ID] = "JobIDRaw", [NODES] = "AllocNodes", [CPUS] = "AllocCPUS"};

enum { FIELDS_MAX = 256 };

struct sacct {
    struct arrival_reader *reader;
    int columns[COLUMNS]; /* their fields; -1: not there */
    unsigned count;       /* fields of a line */
    unsigned line;
    const char *begin; /* of the line */
    struct sacct_field {
        const char *text;
        size_t size;
    } fields[FIELDS_MAX];
};

static bool is(struct sacct_field field, const char *word)
{
    return field.size == strlen(word) && memcmp(field.text, word, field.size) == 0;
}

static struct sacct_field get(const struct sacct *sacct, unsigned column)
{
    int field = sacct->columns[column];
    return field < 0 ? (struct sacct_field){sacct->begin, 0} : sacct->fields[field];
}

static bool mistake(const struct sacct *sacct, struct sacct_field field, const char *what, const char *expected)
{
    struct place at = {sacct->reader->log->file, sacct->line, (unsigned)(field.text - sacct->begin) + 1};
    diag_error(sacct->reader->diag, at, "%s '%.*s'; expected %s", what, (int)(field.size < 40 ? field.size : 40),
               field.text, expected);
    return false;
}

/* Cuts a line; returns how many fields it has. */
static unsigned split(struct sacct *sacct, const char *end)
{
    unsigned count = 0;
    if (end > sacct->begin && end[-1] == '\r')
        end--;
    for (const char *at = sacct->begin;; count++) {
        const char *bar = memchr(at, '|', (size_t)(end - at)), *past = bar ? bar : end;
        if (count < FIELDS_MAX)
            sacct->fields[count] = (struct sacct_field){at, (size_t)(past - at)};
        if (!bar)
            return count + 1;
        at = bar + 1;
    }
}

static bool read_names(struct sacct *sacct)
{
    struct place at = {sacct->reader->log->file, sacct->line, 1};
    bool complete = true;
    if (sacct->count > FIELDS_MAX) {
        diag_error(sacct->reader->diag, at, "%u columns; at most %d are read", sacct->count, FIELDS_MAX);
        return false;
    }
    for (unsigned column = 0; column < COLUMNS; column++) {
        sacct->columns[column] = -1;
        for (unsigned i = 0; i < sacct->count; i++)
            if (is(sacct->fields[i], column_names[column]) ||
                (other_names[column] && is(sacct->fields[i], other_names[column])))
                sacct->columns[column] = (int)i;
        if (sacct->columns[column] >= 0 || column >= REQUIRED)
            continue;
        diag_error(sacct->reader->diag, at,
                   "there is no column %s; expected what `sacct -P -o JobID,Submit,Start,End,AllocTRES,State` prints",
                   column_names[column]);
        complete = false;
    }
    return complete;
}

/* 2026-03-31T23:59:59, without a time zone. */
static bool read_time(const struct sacct *sacct, unsigned column, double *seconds)
{
    struct sacct_field field = get(sacct, column);
    return arrival_time(field.text, field.size, 'T', false, seconds) ||
           mistake(sacct, field, column_names[column], "a time such as 2026-03-31T23:59:59");
}

/* Digits up to another character, at most 7; -1: there are none, or more. */
static int leading(const char **text, const char *end)
{
    const char *from = *text;
    while (*text < end && isdigit((unsigned char)**text))
        ++*text;
    int value = 0;
    for (const char *at = from; at < *text && at - from < 8; at++)
        value = value * 10 + (*at - '0');
    return *text > from && *text - from < 8 ? value : -1;
}

/* [DAYS-][HOURS:]MINUTES:SECONDS, as Slurm prints it; -1: it is no such text. */
static double limit_of(struct sacct_field field)
{
    const char *text = field.text, *end = text + field.size;
    double seconds = leading(&text, end);
    bool days = text < end && *text == '-';
    unsigned parts = 1;
    if (days) {
        text++;
        seconds = 24 * seconds + leading(&text, end);
    }
    for (; text < end && *text == ':'; parts++) {
        text++;
        int part = leading(&text, end);
        if (part < 0)
            return -1;
        seconds = 60 * seconds + part;
    }
    return text == end && parts <= 3 && parts >= (days ? 3 : 2) && seconds >= 0 ? seconds : -1;
}

/* A job without a limit has none. */
static bool read_limit(const struct sacct *sacct, double *seconds)
{
    struct sacct_field field = get(sacct, LIMIT);
    if (field.size == 0 || is(field, "UNLIMITED") || is(field, "Partition_Limit"))
        return true;
    double limit = limit_of(field);
    if (limit < 0)
        return mistake(sacct, field, "Timelimit", "[DAYS-]HOURS:MINUTES:SECONDS, such as 1-00:00:00");
    if (limit > 0 && limit <= ARRIVAL_SECONDS_MAX)
        *seconds = limit;
    return true;
}

/* A whole number; false with the mistake reported. */
static bool read_count(const struct sacct *sacct, struct sacct_field field, const char *what, uint64_t *count)
{
    uint64_t value = 0;
    bool good = field.size > 0;
    for (size_t i = 0; i < field.size && good; i++) {
        good = isdigit((unsigned char)field.text[i]);
        value = value < UINT32_MAX ? value * 10 + (uint64_t)(field.text[i] - '0') : value;
    }
    *count = value < UINT32_MAX ? value : UINT32_MAX;
    return good || mistake(sacct, field, what, "a whole number");
}

/* Adds to *sum the number behind "KEY=" among those between commas; `typed`: those behind "KEY:...=". */
static bool read_tres(const struct sacct *sacct, const char *key, bool typed, uint64_t *sum)
{
    size_t length = strlen(key);
    struct sacct_field field = get(sacct, TRES);
    for (size_t i = 0; i < field.size;) {
        const char *item = field.text + i, *comma = memchr(item, ',', field.size - i);
        size_t size = comma ? (size_t)(comma - item) : field.size - i;
        const char *equals = memchr(item, '=', size);
        bool named = equals && (size_t)(equals - item) >= length && memcmp(item, key, length) == 0 &&
                     (typed ? item[length] == ':' : (size_t)(equals - item) == length);
        uint64_t value = 0;
        struct sacct_field number = {equals + 1, named ? (size_t)(item + size - equals) - 1 : 0};
        if (named && !read_count(sacct, number, key, &value))
            return false;
        *sum += value;
        i += size + 1;
    }
    *sum = *sum < UINT32_MAX ? *sum : UINT32_MAX;
    return true;
}

/* What AllocTRES says, or where that says nothing the column. */
static bool read_either(const struct sacct *sacct, const char *key, unsigned column, uint64_t *count)
{
    struct sacct_field field = get(sacct, column);
    return read_tres(sacct, key, false, count) &&
           (*count || field.size == 0 || read_count(sacct, field, column_names[column], count));
}

static bool read_resources(const struct sacct *sacct, struct arrival *arrival)
{
    uint64_t gpus = 0, typed = 0, nodes = 0, cpus = 0;
    if (!read_tres(sacct, "gres/gpu", false, &gpus) || !read_tres(sacct, "gres/gpu", true, &typed) ||
        !read_either(sacct, "node", NODES, &nodes) || !read_either(sacct, "cpu", CPUS, &cpus))
        return false;
    arrival->nodes = (uint32_t)nodes;
    arrival->processors = (uint32_t)(gpus ? gpus : typed ? typed : cpus);
    return true;
}

/* What has not begun or not ended. */
static bool is_open(const struct sacct *sacct)
{
    struct sacct_field start = get(sacct, START), end = get(sacct, END);
    return is(start, "Unknown") || is(start, "None") || is(start, "") || is(end, "Unknown") || is(end, "None") ||
           is(end, "");
}

static void read_job(struct sacct *sacct)
{
    struct arrival_log *log = sacct->reader->log;
    struct sacct_field id = get(sacct, JOB_ID);
    double submit, start, end;
    if (sacct->count == 1 && sacct->fields[0].size == 0)
        return;
    if (id.size && memchr(id.text, '.', id.size)) /* a step */
        return;
    if (is_open(sacct)) {
        log->passed_over++;
        return;
    }
    struct arrival *arrival = arrival_log_room(sacct->reader, sacct->line);
    if (!read_time(sacct, SUBMIT, &submit) || !read_time(sacct, START, &start) || !read_time(sacct, END, &end) ||
        !read_limit(sacct, &arrival->limit) || !read_resources(sacct, arrival))
        return;
    if (end <= start || (!arrival->nodes && !arrival->processors)) {
        log->passed_over++; /* cancelled before it had anything */
        return;
    }
    /* Slurm moves the submit time of a job that is requeued; its wait is not negative. */
    arrival->submit = submit;
    arrival->wait = fmax(0, start - submit);
    arrival->run = end - start;
    struct sacct_field user = get(sacct, USER), state = get(sacct, STATE);
    arrival->status = arrival_status_of(state.text, state.size);
    arrival->user =
        user.size ? arena_print(sacct->reader->arena, "%.*s", (int)(user.size < 64 ? user.size : 64), user.text) : NULL;
    arrival->name = arena_print(sacct->reader->arena, "%.*s", (int)(id.size < 64 ? id.size : 64), id.text);
    log->count++;
}

void arrival_read_sacct(struct arrival_reader *reader)
{
    struct sacct sacct = {.reader = reader};
    unsigned columns = 0;
    for (const char *at = reader->text, *end; at < reader->end; at = end + 1) {
        end = memchr(at, '\n', (size_t)(reader->end - at));
        end = end ? end : reader->end;
        sacct.line++;
        sacct.begin = at;
        sacct.count = split(&sacct, end);
        if (columns == 0) {
            columns = sacct.count;
            if (!read_names(&sacct))
                return;
        } else if (sacct.count == columns)
            read_job(&sacct);
        else if (sacct.count > 1 || sacct.fields[0].size > 0)
            diag_error(reader->diag, (struct place){reader->log->file, sacct.line, 1},
                       "the line has %u fields between '|'; the first line names %u", sacct.count, columns);
    }
    arrival_shift(reader->log);
}
