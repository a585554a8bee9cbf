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

/* ---- a format ---- */

static struct training_log *read_as(const struct log_format *format, const char *file, const char *text, size_t size,
                                    struct arena *arena, struct diag *diag)
{
    struct training_log *log = arena_alloc(arena, sizeof *log);
    char *line = arena_alloc(arena, LINE_MAX_BYTES);
    *log = (struct training_log){.file = file, .format = format->name, .measure = format->measure};
    struct log_cursor cursor = {.log = log, .line = line, .diag = diag, .arena = arena};
    unsigned number = 1;
    for (size_t at = 0; at < size;) {
        size_t taken = take_line(text + at, size - at, line);
        cursor.number = number;
        number += text[at + taken - 1] == '\n';
        at += taken;
        format->read_line(&cursor);
        if (!*log->date)
            find_date(&cursor);
        if (!log->gpu)
            find_gpu(&cursor);
    }
    return log;
}

struct training_log *training_log_parse(const char *file, const char *text, size_t size, struct arena *arena,
                                        struct diag *diag)
{
    const struct log_format *best = NULL;
    size_t most = 0;
    for (unsigned i = 0; i < FORMATS; i++) {
        struct arena *scratch = arena_create();
        struct diag silent = {0};
        size_t found = read_as(formats[i], file, text, size, scratch, &silent)->count + silent.errors;
        arena_destroy(scratch);
        if (found > most) {
            most = found;
            best = formats[i];
        }
    }
    if (!best) {
        diag_error(
            diag, (struct place){file, 0, 0},
            "no line has the time of a step; expected a log of Megatron-LM, torchtitan, NeMo, DeepSpeed, Hugging "
            "Face's Trainer or MLPerf");
        return NULL;
    }
    unsigned errors = diag->errors;
    struct training_log *log = read_as(best, file, text, size, arena, diag);
    if (diag->errors > errors)
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
        diag_trouble(diag, (struct place){file, 0, 0}, "cannot be read: %s", strerror(errno));
        return NULL;
    }
    struct training_log *log = training_log_parse(file, text, size, arena, diag);
    free(text);
    return log;
}
