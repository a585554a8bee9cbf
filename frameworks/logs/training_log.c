/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks/logs/training_log.h"

#include "base/arena.h"
#include "base/csv.h"
#include "frameworks/logs/log_parts.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const log_sort_names[LOG_SORTS] = {
    "kept", "warm-up", "with a checkpoint", "with an evaluation", "another batch", "far from others"};
const char *const log_fact_names[LOG_FACTS] = {"GPUs", "tensor",      "pipeline",     "context", "expert",
                                               "data", "micro-batch", "global batch", "sequence"};

/* The first of two with as many steps counts. */
static const struct log_format *const formats[] = {
    &log_megatron,         &log_titan,   &log_nemo,        &log_deepspeed,
    &log_deepspeed_phases, &log_trainer, &log_trainer_end, &log_mlperf};
enum { FORMATS = sizeof formats / sizeof *formats, LINE_MAX_BYTES = 1 << 16 };
static const size_t log_bytes_max = (size_t)1 << 30;

/* ---- lines ---- */

/* A line without what colours a terminal, other control characters and what does not fit; a carriage return ends one,
 * as progress bars use it. Returns what was read of `text`. */
static size_t take_line(const char *text, size_t size, char *line)
{
    size_t at = 0, kept = 0;
    while (at < size && text[at] != '\n' && text[at] != '\r') {
        if (text[at] == '\033' && at + 1 < size && text[at + 1] == '[') {
            at += 2;
            while (at < size && !(text[at] >= '@' && text[at] <= '~') && text[at] != '\n')
                at++;
            at += at < size && text[at] != '\n';
            continue;
        }
        if (kept < LINE_MAX_BYTES - 1 && (unsigned char)text[at] >= ' ')
            line[kept++] = text[at];
        else if (kept < LINE_MAX_BYTES - 1 && text[at] == '\t')
            line[kept++] = ' ';
        at++;
    }
    line[kept] = '\0';
    return at < size ? at + 1 : at;
}

/* ---- what any log may have ---- */

static void find_date(struct log_cursor *cursor)
{
    struct training_log *log = cursor->log;
    for (const char *at = strstr(cursor->line, "20"); at && !*log->date; at = strstr(at + 1, "20")) {
        static const char shape[] = "dddd-dd-dd";
        size_t i = 0;
        while (shape[i] && (shape[i] == 'd' ? isdigit((unsigned char)at[i]) : at[i] == shape[i]))
            i++;
        if (!shape[i] && !isdigit((unsigned char)at[i]))
            memcpy(log->date, at, sizeof log->date - 1);
    }
}

/* A line names a GPU where its maker's name stands before the model. */
static void find_gpu(struct log_cursor *cursor)
{
    static const char *const makers[] = {"NVIDIA ", "AMD Instinct "};
    for (unsigned i = 0; i < sizeof makers / sizeof *makers && !cursor->log->gpu; i++)
        for (const char *at = strstr(cursor->line, makers[i]); at; at = strstr(at + 1, makers[i])) {
            const char *model = at + strlen(makers[i]);
            size_t letters = strspn(model, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                   digits = strspn(model + letters, "0123456789");
            size_t end = letters + digits + (model[letters + digits] == 'X' || model[letters + digits] == 'S');
            if (!letters || letters > 2 || !digits || isalnum((unsigned char)model[end]))
                continue;
            cursor->log->gpu = arena_copy_part(cursor->arena, model, end);
            cursor->log->gpu_line = cursor->number;
            return;
        }
}

/* ---- formats ---- */

/* A log as one of the formats reads it. */
struct trial {
    const struct log_format *format;
    struct training_log log;
    struct log_cursor cursor;
};

static void begin(struct trial *trial, const struct log_format *format, const char *file, struct arena *arena,
                  struct diag *diag)
{
    *trial = (struct trial){.format = format};
    trial->log = (struct training_log){.file = file, .format = format->name, .measure = format->measure};
    trial->cursor = (struct log_cursor){.log = &trial->log, .diag = diag, .arena = arena};
}

/* Each line is cut once, and read by all. */
static void read_lines(const char *text, size_t size, struct trial *trials, unsigned count, struct log_cursor *job)
{
    char *line = arena_alloc(job->arena, LINE_MAX_BYTES);
    unsigned number = 1;
    job->line = line;
    for (size_t at = 0; at < size;) {
        size_t taken = take_line(text + at, size - at, line);
        job->number = number;
        number += text[at + taken - 1] == '\n';
        at += taken;
        for (unsigned i = 0; i < count; i++) {
            trials[i].cursor.line = line;
            trials[i].cursor.number = job->number;
            trials[i].format->read_line(&trials[i].cursor);
        }
        if (!*job->log->date)
            find_date(job);
        if (!job->log->gpu)
            find_gpu(job);
    }
}

/* Says what cannot be read: the others' complaints are not of this file. */
static void complain(const struct log_format *format, const char *file, const char *text, size_t size,
                     struct arena *arena, struct diag *diag)
{
    struct trial again;
    struct training_log log = {.file = file};
    struct log_cursor job = {.log = &log, .arena = arena};
    begin(&again, format, file, arena, diag);
    read_lines(text, size, &again, 1, &job);
}

/* The log of the format that finds most steps, in the arena; NULL after a mistake was reported. */
static struct training_log *read_best(const char *file, const char *text, size_t size, struct arena *scratch,
                                      struct arena *arena, struct diag *diag)
{
    struct trial trials[FORMATS], *best = NULL;
    struct diag silent[FORMATS] = {{0}};
    struct training_log *log = arena_alloc(arena, sizeof *log);
    struct log_cursor job = {.log = log, .arena = arena};
    size_t most = 0;
    *log = (struct training_log){.file = file};
    for (unsigned i = 0; i < FORMATS; i++)
        begin(&trials[i], formats[i], file, scratch, &silent[i]);
    read_lines(text, size, trials, FORMATS, &job);
    for (unsigned i = 0; i < FORMATS; i++)
        if (trials[i].log.count + silent[i].errors > most) {
            most = trials[i].log.count + silent[i].errors;
            best = &trials[i];
        }
    if (!best)
        diag_error(
            diag, (struct place){file, 0, 0},
            "no line has the time of a step; expected a log of Megatron-LM, torchtitan, NeMo, DeepSpeed, Hugging "
            "Face's Trainer or MLPerf");
    else if (best->cursor.diag->errors)
        complain(best->format, file, text, size, arena, diag);
    if (!best || best->cursor.diag->errors)
        return NULL;
    best->log.gpu = log->gpu;
    best->log.gpu_line = log->gpu_line;
    memcpy(best->log.date, log->date, sizeof log->date);
    *log = best->log;
    log->steps = arena_array(arena, log->count, sizeof *log->steps);
    memcpy(log->steps, best->log.steps, log->count * sizeof *log->steps);
    return log;
}

struct training_log *training_log_parse(const char *file, const char *text, size_t size, struct arena *arena,
                                        struct diag *diag)
{
    struct arena *scratch = arena_create();
    struct training_log *log = read_best(file, text, size, scratch, arena, diag);
    arena_destroy(scratch);
    if (!log)
        return NULL;
    log_sort_steps(log, arena);
    if (log->counts[LOG_KEPT])
        return log;
    diag_error(diag, (struct place){file, log->steps[0].line, 0},
               "none of %zu steps counts: each has a checkpoint, an evaluation or another batch", log->count);
    return NULL;
}

struct training_log *training_log_read(const char *file, struct arena *arena, struct diag *diag)
{
    size_t size;
    char *text = csv_load(file, log_bytes_max, &size);
    if (!text) {
        (errno == ENOENT ? diag_error : diag_trouble)(
            diag, (struct place){file, 0, 0}, "cannot be read: %s%s", strerror(errno),
            errno == ENOENT ? "; expected a log, a table such as runs.csv, or a time such as 9.0s" : "");
        return NULL;
    }
    struct training_log *log = training_log_parse(file, text, size, arena, diag);
    free(text);
    return log;
}
