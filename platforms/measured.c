/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/measured.h"

#include "base/arena.h"
#include "base/csv.h"
#include "platforms/platform.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 100000, FILE_MAX = 1 << 26, LINE_MAX_BYTES = 4096 };

static const double bytes_most = 1e18, microseconds_least = 1e-6, microseconds_most = 1e12;

struct reading {
    struct measured *measured;
    struct diag *diag;
    size_t capacity;
    bool has_kind, bad_head;
    uint32_t ranks_seen; /* lines of nccl-tests that name a rank */
};

static void add_row(struct reading *reading, double bytes, double microseconds)
{
    struct measured *measured = reading->measured;
    if (bytes < 1 || measured->count == ROWS_MAX)
        return;
    measured->rows = array_grow(measured->rows, &reading->capacity, measured->count + 1, sizeof *measured->rows);
    measured->rows[measured->count++] = (struct measured_row){bytes, microseconds * 1e-6};
}

/* ---- what was measured ---- */

/* Lower-case letters of a word: "All-Reduce", "all_reduce" and "allreduce" are one. */
static void letters(const char *from, size_t length, char *to, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < length && count + 1 < size; i++)
        if (isalpha((unsigned char)from[i]))
            to[count++] = (char)tolower((unsigned char)from[i]);
    to[count] = '\0';
}

/* The collective that a text speaks of; longer names come first, for some hold others. */
static bool find_kind(const char *text, size_t length, enum stagesim_collective *kind)
{
    static const struct {
        const char *name;
        enum stagesim_collective kind;
    } names[] = {{"reducescatter", STAGESIM_REDUCE_SCATTER}, {"allreduce", STAGESIM_ALL_REDUCE},
                 {"allgather", STAGESIM_ALL_GATHER},         {"alltoall", STAGESIM_ALL_TO_ALL},
                 {"broadcast", STAGESIM_BROADCAST},          {"sendrecv", STAGESIM_SEND_RECEIVE},
                 {"sendreceive", STAGESIM_SEND_RECEIVE},     {"reduce", STAGESIM_REDUCE}};
    char word[256];
    letters(text, length, word, sizeof word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(word, names[i].name)) {
            *kind = names[i].kind;
            return true;
        }
    return false;
}

static void read_ranks(struct reading *reading, struct place at, const char *text)
{
    char *end;
    unsigned long ranks = strtoul(text, &end, 10);
    if (ranks >= 2 && ranks <= RANKS_MAX && strspn(end, " \t\r") == strlen(end)) {
        reading->measured->ranks = (uint32_t)ranks;
        return;
    }
    reading->bad_head = true;
    diag_error(reading->diag, at, "expected a number of ranks from 2 to %d", RANKS_MAX);
}

static void read_collective(struct reading *reading, struct place at, const char *text)
{
    reading->has_kind = find_kind(text, strlen(text), &reading->measured->kind);
    if (reading->has_kind)
        return;
    reading->bad_head = true;
    diag_error(
        reading->diag, at,
        "expected all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, reduce or send-receive, not '%.40s'",
        text + strspn(text, " \t"));
}

/* A name such as all_reduce_perf. */
static void read_program(struct reading *reading, const char *text)
{
    const char *program = strstr(text, "_perf"), *start = program;
    while (start && start > text && (isalpha((unsigned char)start[-1]) || start[-1] == '_'))
        start--;
    reading->has_kind = program && find_kind(start, (size_t)(program - start), &reading->measured->kind);
}

static void read_comment(struct reading *reading, struct place at, const char *text)
{
    text += strspn(text, "# \t");
    if (strncmp(text, "collective:", 11) == 0)
        read_collective(reading, at, text + 11);
    else if (strncmp(text, "ranks:", 6) == 0)
        read_ranks(reading, at, text + 6);
    else if (strncmp(text, "Rank ", 5) == 0)
        reading->ranks_seen++;
    else if (!reading->has_kind)
        read_program(reading, text);
}

/* ---- what nccl-tests prints ---- */

enum { FIELDS_MAX = 32, FIELDS_LEAST = 11, TIME_FROM_END = 8 };

/* A whole field as a number from 0 to `most`. */
static bool read_number(struct reading *reading, struct place at, const char *line, const char *field, const char *what,
                        double most, double *value)
{
    char *end;
    *value = strtod(field, &end);
    if (end != field && !*end && isfinite(*value) && *value >= 0 && *value <= most)
        return true;
    at.column = (unsigned)(field - line) + 1;
    diag_error(reading->diag, at, "'%.40s' is no %s", field, what);
    return false;
}

/* Size, count, type, redop and root (not in every version), then time, algbw, busbw, #wrong, out of place and in place.
 */
static void read_printed(struct reading *reading, struct place at, char *line)
{
    char *fields[FIELDS_MAX], *rest = line;
    size_t count = 0;
    for (char *field; count < FIELDS_MAX && (field = strsep(&rest, " \t"));)
        if (*field)
            fields[count++] = field;
    double bytes, microseconds;
    if (count < FIELDS_LEAST)
        diag_error(reading->diag, at,
                   "this row has %zu fields; nccl-tests prints at least %d: size, count, type, ..., time, algbw, busbw",
                   count, FIELDS_LEAST);
    else if (read_number(reading, at, line, fields[0], "size in bytes", bytes_most, &bytes) &&
             read_number(reading, at, line, fields[count - TIME_FROM_END], "time in microseconds", microseconds_most,
                         &microseconds)) {
        at.column = (unsigned)(fields[count - TIME_FROM_END] - line) + 1;
        if (microseconds >= microseconds_least)
            add_row(reading, bytes, microseconds);
        else
            diag_error(reading->diag, at, "expected a time from %g microseconds", microseconds_least);
    }
}

/* ---- lines ---- */

/* Calls `take` with every line, a copy that ends with zero, of which only the beginning where it is long. */
static void each_line(struct reading *reading, const char *text, size_t size,
                      void (*take)(struct reading *reading, struct place at, char *line))
{
    char line[LINE_MAX_BYTES];
    struct place at = {reading->measured->file, 0, 1};
    for (const char *end = text + size; text < end; text++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((stop ? stop : end) - text), kept = length < sizeof line ? length : sizeof line - 1;
        memcpy(line, text, kept);
        line[kept] = '\0';
        line[strcspn(line, "\r")] = '\0';
        at.line++;
        take(reading, at, line);
        text += length;
    }
}

static void take_comment(struct reading *reading, struct place at, char *line)
{
    if (*line == '#')
        read_comment(reading, at, line);
}

/* Rows begin with a number; what else is there are other programs' words. */
static void take_printed(struct reading *reading, struct place at, char *line)
{
    if (isdigit((unsigned char)line[strspn(line, " \t")]))
        read_printed(reading, at, line);
}

/* Whether the first line that is no comment has a comma: nccl-tests prints none. */
static bool is_csv(const char *text, size_t size)
{
    for (const char *end = text + size; text < end; text++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((stop ? stop : end) - text);
        if (length && *text != '#' && *text != '\r')
            return memchr(text, ',', length) != NULL;
        text += length;
    }
    return false;
}

/* ---- csv ---- */

static void read_csv(struct reading *reading, const char *text, size_t size)
{
    static const char *const names[] = {"size_bytes", "time_us",         "algbw_GBps",
                                        "busbw_GBps", "time_us_inplace", "busbw_inplace_GBps"};
    static const struct csv_columns columns = {names, sizeof names / sizeof *names, 2, "a measured table", true};
    struct csv *csv = csv_open(reading->measured->file, text, size, &columns, reading->diag, NULL);
    while (csv && csv_next(csv)) {
        double bytes, microseconds;
        if (!csv_number(csv, 0, &bytes) || !csv_number(csv, 1, &microseconds))
            continue;
        if (bytes < 0 || bytes > bytes_most)
            csv_mistake(csv, 0, "expected a size from 0 to %g bytes", bytes_most);
        else if (microseconds < microseconds_least || microseconds > microseconds_most)
            csv_mistake(csv, 1, "expected a time from %g to %g microseconds", microseconds_least, microseconds_most);
        else
            add_row(reading, bytes, microseconds);
    }
    csv_close(csv);
}

/* ---- the table ---- */

static void check_complete(struct reading *reading)
{
    struct measured *measured = reading->measured;
    struct place file = {measured->file, 0, 0};
    const char *slash = strrchr(measured->file, '/'), *name = slash ? slash + 1 : measured->file;
    if (!measured->ranks && reading->ranks_seen > 1)
        measured->ranks = reading->ranks_seen;
    if (!reading->has_kind && !reading->bad_head && !find_kind(name, strlen(name), &measured->kind))
        diag_error(reading->diag, file,
                   "does not say which collective was measured; add a line such as `# collective: all-reduce`");
    if (!measured->ranks && !reading->bad_head)
        diag_error(reading->diag, file, "does not say how many ranks took part; add a line such as `# ranks: 8`");
    if (!measured->count && !reading->diag->errors)
        diag_error(reading->diag, file,
                   "has no measured row: neither size_bytes,time_us,... nor what nccl-tests prints");
}

bool measured_parse(struct measured *measured, const char *name, const char *text, size_t size, struct diag *diag)
{
    struct diag own = {.out = diag->out};
    struct reading reading = {.measured = measured, .diag = &own};
    *measured = (struct measured){.file = name};
    each_line(&reading, text, size, take_comment);
    if (is_csv(text, size))
        read_csv(&reading, text, size);
    else
        each_line(&reading, text, size, take_printed);
    check_complete(&reading);
    diag->errors += own.errors;
    return own.errors == 0;
}

bool measured_load(struct measured *measured, const char *file, struct diag *diag)
{
    size_t size;
    char *text = csv_load(file, FILE_MAX, &size);
    *measured = (struct measured){.file = file};
    if (!text) {
        diag_error(diag, (struct place){file, 0, 0}, "%s", strerror(errno));
        return false;
    }
    bool good = measured_parse(measured, file, text, size, diag);
    free(text);
    return good;
}

void measured_finish(struct measured *measured)
{
    free(measured->rows);
    *measured = (struct measured){0};
}
