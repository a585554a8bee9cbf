/* SPDX-License-Identifier: Apache-2.0 */
/* The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 for what is not known, and
 * comments behind ';', some of which describe the machine ("; MaxNodes: 128"). */
#include "base/arena.h"
#include "cluster/logs/arrival_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWF_JOB,
    SWF_SUBMIT,
    SWF_WAIT,
    SWF_RUN,
    SWF_USED,
    SWF_ASKED = 7,
    SWF_LIMIT,
    SWF_STATUS = 10,
    SWF_USER,
    SWF_FIELDS = 18
};

static const char *const names[SWF_FIELDS] = {
    "job number", "submit time",      "wait time",  "run time",     "processors",    "CPU time",
    "memory",     "asked processors", "asked time", "asked memory", "status",        "user",
    "group",      "program",          "queue",      "partition",    "preceding job", "think time"};

/* A line, without its break. */
struct line {
    const char *text, *end;
    unsigned number;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* "; Key: 128": the number of a comment about the machine; 0: it is another one. */
static uint32_t machine(const struct line *line, const char *key)
{
    const char *text = line->text + 1;
    size_t length = strlen(key);
    while (text < line->end && is_blank(*text))
        text++;
    if ((size_t)(line->end - text) <= length || memcmp(text, key, length) != 0)
        return 0;
    uint64_t value = 0;
    for (text += length; text < line->end && is_blank(*text); text++) {}
    for (; text < line->end && *text >= '0' && *text <= '9' && value <= UINT32_MAX; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void mistake(struct arrival_reader *reader, const struct line *line, const char *at, const char *what)
{
    struct place place = {reader->log->file, line->number, (unsigned)(at - line->text) + 1};
    diag_error(reader->diag, place, "%s", what);
}

/* A decimal number that ends at a blank; false after a mistake was reported. */
static bool number(struct arrival_reader *reader, const struct line *line, const char **at, unsigned field,
                   double *value)
{
    const char *begin = *at, *end = begin;
    char text[40];
    while (end < line->end && !is_blank(*end))
        end++;
    size_t size = (size_t)(end - begin);
    *at = end;
    if (size > 0 && size < sizeof text) {
        char *rest;
        memcpy(text, begin, size);
        text[size] = '\0';
        *value = strtod(text, &rest);
        if (strspn(text, "0123456789.-+eE") == size && rest == text + size && fabs(*value) <= ARRIVAL_SECONDS_MAX)
            return true;
    }
    mistake(reader, line, begin,
            arena_print(reader->arena, "%s '%.*s'; expected a number up to 1e10, or -1 where it is not known",
                        names[field], (int)(size < 40 ? size : 40), begin));
    return false;
}

static bool fields(struct arrival_reader *reader, const struct line *line, double values[SWF_FIELDS])
{
    const char *at = line->text;
    for (unsigned field = 0;; field++) {
        while (at < line->end && is_blank(*at))
            at++;
        if ((field == SWF_FIELDS) != (at == line->end)) {
            mistake(reader, line, at < line->end ? at : line->text,
                    at < line->end ? "a line has 18 numbers; this one has more"
                                   : arena_print(reader->arena, "a line has 18 numbers; this one has %u", field));
            return false;
        }
        if (field == SWF_FIELDS)
            return true;
        if (!number(reader, line, &at, field, &values[field]))
            return false;
    }
}

/* Whole and positive; 0 where it is not known. */
static uint32_t count_of(double value)
{
    return value >= 1 && value < 4e9 ? (uint32_t)value : 0;
}

static void read_job(struct arrival_reader *reader, const struct line *line)
{
    double values[SWF_FIELDS];
    if (!fields(reader, line, values))
        return;
    struct arrival_log *log = reader->log;
    if (values[SWF_SUBMIT] < 0) {
        mistake(reader, line, line->text, "the job has no submit time; expected seconds from 0 as the second number");
        return;
    }
    uint32_t used = count_of(values[SWF_USED]), asked = count_of(values[SWF_ASKED]);
    /* Lines of status 2, 3 and 4 are parts of a job that was preempted; another line has it as a whole. */
    if (values[SWF_RUN] <= 0 || (!used && !asked) || (values[SWF_STATUS] >= 2 && values[SWF_STATUS] <= 4)) {
        log->passed_over++;
        return;
    }
    struct arrival *arrival = arrival_log_room(reader, line->number);
    arrival->name = arena_print(reader->arena, "%.17g", values[SWF_JOB]);
    arrival->submit = values[SWF_SUBMIT];
    arrival->wait = values[SWF_WAIT] >= 0 ? values[SWF_WAIT] : -1;
    arrival->run = values[SWF_RUN];
    arrival->limit = values[SWF_LIMIT] > 0 ? values[SWF_LIMIT] : -1;
    arrival->user = values[SWF_USER] >= 0 ? arena_print(reader->arena, "%.17g", values[SWF_USER]) : NULL;
    arrival->processors = used ? used : asked;
    arrival->status = values[SWF_STATUS] == 1   ? STATUS_DONE
                      : values[SWF_STATUS] == 0 ? STATUS_FAILED
                      : values[SWF_STATUS] == 5 ? STATUS_CANCELLED
                                                : STATUS_UNKNOWN;
    log->count++;
}

void arrival_read_swf(struct arrival_reader *reader)
{
    struct line line = {.text = reader->text};
    for (; line.text < reader->end; line.text = line.end + 1) {
        line.end = memchr(line.text, '\n', (size_t)(reader->end - line.text));
        if (!line.end)
            line.end = reader->end;
        line.number++;
        const char *first = line.text;
        while (first < line.end && is_blank(*first))
            first++;
        if (first == line.end)
            continue;
        struct line comment = {first, line.end, line.number};
        if (*first != ';') {
            read_job(reader, &line);
            continue;
        }
        uint32_t nodes = machine(&comment, "MaxNodes:"), processors = machine(&comment, "MaxProcs:");
        reader->log->nodes = nodes ? nodes : reader->log->nodes;
        reader->log->processors = processors ? processors : reader->log->processors;
    }
}
