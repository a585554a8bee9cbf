/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/measured.h"

#include "simulator/arena.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 4096, FIELDS_MAX = 32, ROWS_MAX = 100000, RANKS_MAX = 1 << 20 };

struct reading {
    struct measured *measured;
    struct diag *diag;
    struct place at;
    size_t capacity;
    bool has_kind, has_header;
    uint32_t ranks_seen; /* lines that name a rank */
};

/* Lower-case letters of a word: "All-Reduce", "all_reduce" and "allreduce" are one. */
static void letters(const char *from, size_t length, char *to, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < length && count + 1 < size; i++)
        if (isalpha((unsigned char)from[i]))
            to[count++] = (char)tolower((unsigned char)from[i]);
    to[count] = '\0';
}

/* The collective that a text speaks of: the longest name in it. */
static bool find_kind(const char *text, size_t length, enum stagesim_collective *kind)
{
    static const struct {
        const char *name;
        enum stagesim_collective kind;
    } names[] = {{"reducescatter", STAGESIM_REDUCE_SCATTER}, {"allreduce", STAGESIM_ALL_REDUCE}, {"allgather", STAGESIM_ALL_GATHER},
                 {"alltoall", STAGESIM_ALL_TO_ALL},          {"broadcast", STAGESIM_BROADCAST},  {"sendrecv", STAGESIM_SEND_RECEIVE},
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

static void read_comment(struct reading *reading, const char *text)
{
    struct measured *measured = reading->measured;
    while (*text == '#' || *text == ' ' || *text == '\t')
        text++;
    if (strncmp(text, "collective:", 11) == 0) {
        reading->has_kind = find_kind(text + 11, strlen(text + 11), &measured->kind);
        if (!reading->has_kind)
            diag_error(reading->diag, reading->at, "expected a collective such as all-reduce or alltoall");
    } else if (strncmp(text, "ranks:", 6) == 0) {
        char *end;
        unsigned long ranks = strtoul(text + 6, &end, 10);
        if (ranks < 2 || ranks > RANKS_MAX || strspn(end, " \t\r") != strlen(end))
            diag_error(reading->diag, reading->at, "expected a number of ranks from 2 to %d", RANKS_MAX);
        else
            measured->ranks = (uint32_t)ranks;
    } else if (strncmp(text, "Rank ", 5) == 0) {
        reading->ranks_seen++;
    } else if (!reading->has_kind) {
        const char *program = strstr(text, "_perf");
        const char *start = program;
        while (start && start > text && (isalpha((unsigned char)start[-1]) || start[-1] == '_'))
            start--;
        reading->has_kind = program && find_kind(start, (size_t)(program - start), &measured->kind);
    }
}

/* Cuts a line at commas or blanks. */
static size_t split(char *line, char **fields)
{
    size_t count = 0;
    bool commas = strchr(line, ',') != NULL;
    for (char *rest = line, *field; count < FIELDS_MAX && (field = strsep(&rest, commas ? "," : " \t"));)
        if (*field || commas)
            fields[count++] = field;
    return count;
}

static bool read_number(struct reading *reading, const char *text, const char *what, double least, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end != text && strspn(end, " \t\r") == strlen(end) && isfinite(*value) && *value >= least && *value <= 1e18)
        return true;
    diag_error(reading->diag, reading->at, "'%.40s' is no %s", text, what);
    return false;
}

static void read_row(struct reading *reading, char *line)
{
    struct measured *measured = reading->measured;
    bool csv = strchr(line, ',') != NULL;
    char *fields[FIELDS_MAX];
    size_t count = split(line, fields);
    double bytes, microseconds;
    if (csv && !reading->has_header && strcmp(fields[0], "size_bytes") == 0) {
        reading->has_header = true;
        return;
    }
    /* nccl-tests: size, count, type, redop, root, then time, algbw, busbw, #wrong, out of place and in place. */
    if (count < (csv ? 2 : 11)) {
        diag_error(reading->diag, reading->at, csv ? "expected size_bytes,time_us,..." : "expected a row of nccl-tests, or csv");
        return;
    }
    if (!read_number(reading, fields[0], "size in bytes", 0, &bytes) ||
        !read_number(reading, fields[csv ? 1 : count - 8], "time in microseconds", 0, &microseconds) || bytes < 1)
        return;
    if (microseconds <= 0) {
        diag_error(reading->diag, reading->at, "a time of 0");
        return;
    }
    measured->rows = array_grow(measured->rows, &reading->capacity, measured->count + 1, sizeof *measured->rows);
    measured->rows[measured->count++] = (struct measured_row){bytes, microseconds * 1e-6};
}

static bool complete(struct reading *reading)
{
    struct measured *measured = reading->measured;
    struct place file = {measured->file, 0, 0};
    if (!measured->ranks && reading->ranks_seen > 1)
        measured->ranks = reading->ranks_seen;
    if (!reading->has_kind)
        diag_error(reading->diag, file, "does not say which collective was measured; add a line such as `# collective: all-reduce`");
    if (!measured->ranks)
        diag_error(reading->diag, file, "does not say how many ranks took part; add a line such as `# ranks: 8`");
    if (!measured->count)
        diag_error(reading->diag, file, "has no measured row");
    return reading->diag->errors == 0;
}

bool measured_init(struct measured *measured, const char *file, struct diag *diag)
{
    struct diag own = {.out = diag->out};
    struct reading reading = {.measured = measured, .diag = &own, .at = {file, 0, 1}};
    char line[LINE_MAX_BYTES];
    FILE *in = fopen(file, "r");
    *measured = (struct measured){.file = file};
    if (!in) {
        diag_error(diag, (struct place){file, 0, 0}, "%s", strerror(errno));
        return false;
    }
    while (measured->count < ROWS_MAX && own.errors < 20 && fgets(line, sizeof line, in)) {
        reading.at.line++;
        size_t length = strcspn(line, "\r\n");
        if (!line[length] && !feof(in)) {
            diag_error(&own, reading.at, "a line of more than %d bytes, or with a zero byte", LINE_MAX_BYTES - 2);
            break;
        }
        line[length] = '\0';
        const char *start = line + strspn(line, " \t");
        if (*start == '#')
            read_comment(&reading, start);
        else if (*start)
            read_row(&reading, line + strspn(line, " \t"));
    }
    fclose(in);
    complete(&reading);
    diag->errors += own.errors;
    return own.errors == 0;
}

void measured_finish(struct measured *measured)
{
    free(measured->rows);
    *measured = (struct measured){0};
}
