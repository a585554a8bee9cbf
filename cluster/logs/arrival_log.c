/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/logs/arrival_log.h"

#include "base/arena.h"
#include "base/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const arrival_format_names[] = {"swf", "sacct", "csv", "helios", NULL};

/* Numbers and ';' begin the lines of SWF; sacct's first line has '|'; ours names the columns between commas, as
 * Helios' does. */
static enum arrival_format format_of(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && strchr(" \t\r\n", text[i]) && text[i])
        i++;
    if (i == size)
        return ARRIVALS_UNKNOWN;
    if (text[i] == ';' || text[i] == '-' || (text[i] >= '0' && text[i] <= '9'))
        return ARRIVALS_SWF;
    size_t line = 0;
    while (i + line < size && text[i + line] != '\n')
        line++;
    if (memchr(text + i, '|', line))
        return ARRIVALS_SACCT;
    return memmem(text + i, line, "submit_time", strlen("submit_time")) ? ARRIVALS_HELIOS : ARRIVALS_CSV;
}

static int by_submit(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    return a->at.line < b->at.line ? -1 : a->at.line > b->at.line;
}

struct arrival_log *arrival_log_parse(const char *name, const char *text, size_t size, enum arrival_format format,
                                      struct arena *arena, struct diag *diag)
{
    static void (*const readers[])(struct arrival_reader *) = {[ARRIVALS_SWF] = arrival_read_swf,
                                                               [ARRIVALS_SACCT] = arrival_read_sacct,
                                                               [ARRIVALS_CSV] = arrival_read_csv,
                                                               [ARRIVALS_HELIOS] = arrival_read_helios};
    unsigned errors = diag->errors;
    struct arrival_log *log = arena_alloc(arena, sizeof *log);
    struct arrival_reader reader = {.log = log, .text = text, .end = text + size, .arena = arena, .diag = diag};
    *log = (struct arrival_log){.file = name, .format = format == ARRIVALS_UNKNOWN ? format_of(text, size) : format};
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
        diag_error(diag, (struct place){.file = name}, "the log has no job that ran%s",
                   log->passed_over ? " to its end" : "");
    return diag->errors == errors ? log : NULL;
}

struct arrival_log *arrival_log_load(const char *file, struct place at, enum arrival_format format, struct arena *arena,
                                     struct diag *diag)
{
    size_t size = 0;
    char *text = csv_load(file, ARRIVAL_BYTES_MAX, &size);
    if (!text) {
        diag_error(diag, at, "%s: %s", file,
                   errno == EFBIG    ? "the file is larger than 512 MiB"
                   : errno == EINVAL ? "not a regular file"
                                     : strerror(errno));
        return NULL;
    }
    struct arrival_log *log = arrival_log_parse(file, text, size, format, arena, diag);
    free(text); /* names were copied */
    return log;
}
