/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/logs/arrival_log.h"

#include "base/arena.h"
#include "base/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const arrival_format_names[] = {"swf", "sacct", "csv", "helios", "philly", "pai", "lingjun", NULL};

/* Six fields, none of which is the name of a column. */
static bool is_pai(const char *line, size_t size)
{
    size_t commas = 0;
    for (size_t i = 0; i < size; i++)
        commas += line[i] == ',';
    return commas == 5 && !strchr(";#", *line) && !memchr(line, '|', size) &&
           !memmem(line, size, "submit", strlen("submit"));
}

/* Philly's are a list in JSON; PAI's lines are six fields without names. Numbers and ';'
 * begin the lines of SWF; sacct's first line has '|'; ours names the columns between commas, as Helios' does. */
static enum arrival_format format_of(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    if (i == size)
        return ARRIVALS_UNKNOWN;
    if (text[i] == '[')
        return ARRIVALS_PHILLY;
    size_t line = 0;
    while (i + line < size && text[i + line] != '\n')
        line++;
    if (is_pai(text + i, line))
        return ARRIVALS_PAI;
    if (text[i] == ';' || text[i] == '-' || (text[i] >= '0' && text[i] <= '9'))
        return ARRIVALS_SWF;
    if (memchr(text + i, '|', line))
        return ARRIVALS_SACCT;
    if (memmem(text + i, line, "gmt_job_submitted", strlen("gmt_job_submitted")))
        return ARRIVALS_LINGJUN;
    return memmem(text + i, line, "submit_time", strlen("submit_time")) ? ARRIVALS_HELIOS : ARRIVALS_CSV;
}

/* Windows begins texts in UTF-8 with a mark of three bytes. */
static struct arrival_text without_mark(const struct arrival_text *text)
{
    bool marked = text->size >= 3 && !memcmp(text->text, "\xef\xbb\xbf", 3);
    return (struct arrival_text){text->name, text->text + (marked ? 3 : 0), text->size - (marked ? 3 : 0)};
}

static int by_submit(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    return a->at.line < b->at.line ? -1 : a->at.line > b->at.line;
}

struct arrival_log *arrival_log_parse(const struct arrival_text *text, const struct arrival_text *beside,
                                      enum arrival_format format, struct arena *arena, struct diag *diag)
{
    static void (*const readers[])(struct arrival_reader *) = {
        [ARRIVALS_SWF] = arrival_read_swf,        [ARRIVALS_SACCT] = arrival_read_sacct,
        [ARRIVALS_CSV] = arrival_read_csv,        [ARRIVALS_HELIOS] = arrival_read_helios,
        [ARRIVALS_PHILLY] = arrival_read_philly,  [ARRIVALS_PAI] = arrival_read_pai,
        [ARRIVALS_LINGJUN] = arrival_read_lingjun};
    unsigned errors = diag->errors;
    struct arrival_log *log = arena_alloc(arena, sizeof *log);
    const struct arrival_text own = without_mark(text), other = beside ? without_mark(beside) : own;
    struct arrival_reader reader = {.log = log,
                                    .text = own.text,
                                    .end = own.text + own.size,
                                    .beside = beside ? &other : NULL,
                                    .arena = arena,
                                    .diag = diag};
    *log = (struct arrival_log){.file = own.name,
                                .format = format == ARRIVALS_UNKNOWN ? format_of(own.text, own.size) : format};
    if (log->format != ARRIVALS_UNKNOWN)
        readers[log->format](&reader);
    struct arrival *found = log->arrivals;
    log->arrivals = arena_array(arena, log->count + 1, sizeof *log->arrivals);
    if (log->count) {
        memcpy(log->arrivals, found, log->count * sizeof *found);
        qsort(log->arrivals, log->count, sizeof *found, by_submit);
    }
    free(found);
    if (log->count == 0 && diag->errors == errors)
        diag_error(diag, (struct place){.file = text->name}, "the log has no job that ran%s",
                   log->passed_over ? " to its end" : "");
    return diag->errors == errors ? log : NULL;
}

/* Why it cannot be read at all is reported at `at`. The caller frees the text. */
static char *load(struct arrival_text *text, struct place at, struct diag *diag)
{
    char *loaded = csv_load(text->name, ARRIVAL_BYTES_MAX, &text->size);
    text->text = loaded;
    if (!loaded)
        diag_error(diag, at, "%s: %s", text->name,
                   errno == EFBIG    ? "the file is larger than 512 MiB"
                   : errno == EINVAL ? "not a regular file"
                                     : strerror(errno));
    return loaded;
}

/* The table of tasks or workers beside one of jobs, which is named alike; NULL: the name has no "job". */
static const char *named_beside(const char *file, const char *what, struct arena *arena)
{
    const char *base = strrchr(file, '/'), *found = NULL;
    for (const char *at = base ? base : file; (at = strstr(at, "job")); at++)
        found = at;
    return found ? arena_print(arena, "%.*s%s%s", (int)(found - file), file, what, found + strlen("job")) : NULL;
}

struct arrival_log *arrival_log_load(const char *file, struct place at, enum arrival_format format, struct arena *arena,
                                     struct diag *diag)
{
    struct arrival_text text = {.name = file}, beside = {0};
    char *loaded = load(&text, at, diag), *second = NULL;
    if (!loaded)
        return NULL;
    const struct arrival_text unmarked = without_mark(&text);
    enum arrival_format told = format == ARRIVALS_UNKNOWN ? format_of(unmarked.text, unmarked.size) : format;
    if (told == ARRIVALS_PAI || told == ARRIVALS_LINGJUN) {
        beside.name = named_beside(file, told == ARRIVALS_PAI ? "task" : "worker", arena);
        second = beside.name ? load(&beside, at, diag) : NULL;
    }
    struct arrival_log *log =
        beside.name && !second ? NULL : arrival_log_parse(&text, second ? &beside : NULL, format, arena, diag);
    free(loaded); /* names were copied */
    free(second);
    return log;
}
