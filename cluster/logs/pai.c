/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of Alibaba's cluster-trace-gpu-v2020 (PAI, NSDI 2022): pai_job_table.csv says when jobs came and ended,
 * pai_task_table.csv how many instances with how many hundredths of a GPU each of their tasks had. Neither names its
 * columns. */
#include "base/arena.h"
#include "cluster/logs/arrival_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOB_NAME, JOB_ID, JOB_USER, JOB_STATUS, JOB_START, JOB_END, JOB_FIELDS };
enum { TASK_JOB, TASK_NAME, TASK_COUNT, TASK_STATUS, TASK_START, TASK_END, TASK_CPU, TASK_MEM, TASK_GPU, TASK_TYPE };
enum { TASK_FIELDS = TASK_TYPE + 1 };

struct field {
    const char *text;
    size_t size;
};

/* A table, and the line that is read of it. */
struct lines {
    const struct arrival_text *table;
    const char *next;
    unsigned line;
    struct field fields[TASK_FIELDS];
};

/* What a task asks for. */
struct task {
    struct field job;
    double gpus, start; /* start negative: it did not */
};

static void wrong(struct diag *diag, const struct lines *lines, const struct field *field, const char *what)
{
    const char *begin = field->text;
    while (begin > lines->table->text && begin[-1] != '\n')
        begin--;
    diag_error(diag, (struct place){lines->table->name, lines->line, (unsigned)(field->text - begin) + 1}, "%s", what);
}

/* The next line that is not empty, in so many fields; false at the end. Others are reported. */
static bool next_line(struct lines *lines, unsigned count, struct diag *diag)
{
    const char *end = lines->table->text + lines->table->size;
    while (lines->next < end) {
        const char *begin = lines->next, *stop = memchr(begin, '\n', (size_t)(end - begin));
        stop = stop ? stop : end;
        lines->next = stop < end ? stop + 1 : end;
        lines->line++;
        if (stop > begin && stop[-1] == '\r')
            stop--;
        unsigned found = 0;
        for (const char *at = begin; at <= stop && found < TASK_FIELDS; found++) {
            const char *comma = memchr(at, ',', (size_t)(stop - at));
            lines->fields[found] = (struct field){at, (size_t)((comma ? comma : stop) - at)};
            at = comma ? comma + 1 : stop + 1;
        }
        if (stop == begin)
            continue;
        if (found == count && lines->fields[count - 1].text + lines->fields[count - 1].size == stop)
            return true;
        diag_error(diag, (struct place){lines->table->name, lines->line, 1},
                   "the line has not the %u fields of %s; expected a table of cluster-trace-gpu-v2020", count,
                   count == JOB_FIELDS ? "pai_job_table" : "pai_task_table");
    }
    return false;
}

/* Not negative; -1 where nothing is said. False with the mistake reported. */
static bool number_of(const struct lines *lines, unsigned index, double *value, struct diag *diag)
{
    const struct field *field = &lines->fields[index];
    char text[40], *rest = text;
    *value = -1;
    if (field->size == 0)
        return true;
    if (field->size < sizeof text) {
        memcpy(text, field->text, field->size);
        text[field->size] = '\0';
        *value = strspn(text, "0123456789.") == field->size ? strtod(text, &rest) : -1;
    }
    if (*value >= 0 && *value <= ARRIVAL_SECONDS_MAX && rest > text && !*rest)
        return true;
    wrong(diag, lines, field, "expected a number from 0 to 1e10, such as 4550879.0, or nothing");
    return false;
}

static int compare(const struct field *a, const struct field *b)
{
    size_t size = a->size < b->size ? a->size : b->size;
    int order = size ? memcmp(a->text, b->text, size) : 0;
    return order ? order : a->size < b->size ? -1 : a->size > b->size;
}

static int by_job(const void *left, const void *right)
{
    const struct task *a = left, *b = right;
    return compare(&a->job, &b->job);
}

static struct task *read_tasks(struct arrival_reader *reader, size_t *count)
{
    struct lines lines = {.table = reader->beside, .next = reader->beside->text};
    struct task *tasks = NULL;
    size_t capacity = 0;
    *count = 0;
    while (next_line(&lines, TASK_FIELDS, reader->diag)) {
        double instances, gpu, start;
        if (!number_of(&lines, TASK_COUNT, &instances, reader->diag) ||
            !number_of(&lines, TASK_GPU, &gpu, reader->diag) || !number_of(&lines, TASK_START, &start, reader->diag))
            continue;
        tasks = array_grow(tasks, &capacity, *count + 1, sizeof *tasks);
        tasks[(*count)++] = (struct task){lines.fields[TASK_JOB], fmax(0, instances) * fmax(0, gpu) / 100, start};
    }
    if (*count)
        qsort(tasks, *count, sizeof *tasks, by_job);
    return tasks;
}

/* GPUs of all tasks of a job, and when the first of them started; negative: none did. */
static double gpus_of(const struct task *tasks, size_t count, const struct field *job, double *start)
{
    size_t from = 0, past = count;
    double gpus = 0;
    *start = -1;
    while (from < past) {
        size_t middle = from + (past - from) / 2;
        if (compare(&tasks[middle].job, job) < 0)
            from = middle + 1;
        else
            past = middle;
    }
    for (; from < count && compare(&tasks[from].job, job) == 0; from++) {
        gpus += tasks[from].gpus;
        if (tasks[from].start >= 0)
            *start = *start < 0 ? tasks[from].start : fmin(*start, tasks[from].start);
    }
    return gpus;
}

static const char *copy(const struct field *field, struct arena *arena)
{
    return field->size ? arena_print(arena, "%.*s", (int)(field->size < 64 ? field->size : 64), field->text) : NULL;
}

/* Jobs without GPUs, and those that did not start, had not ended or took no time, are passed over. */
static void read_job(struct arrival_reader *reader, const struct lines *lines, const struct task *tasks, size_t count)
{
    double submit, end, start;
    if (!number_of(lines, JOB_START, &submit, reader->diag) || !number_of(lines, JOB_END, &end, reader->diag))
        return;
    double gpus = ceil(gpus_of(tasks, count, &lines->fields[JOB_NAME], &start) - 1e-9);
    const struct field *status = &lines->fields[JOB_STATUS];
    if (submit < 0 || start < 0 || end <= start || !(gpus >= 1) || gpus > 1e9) {
        reader->log->passed_over++;
        return;
    }
    struct arrival *arrival = arrival_log_room(reader, lines->line);
    reader->log->count++;
    const char *name = copy(&lines->fields[JOB_NAME], reader->arena);
    arrival->name = name ? name : arena_print(reader->arena, "%zu", reader->log->count);
    arrival->user = copy(&lines->fields[JOB_USER], reader->arena);
    arrival->submit = fmin(submit, start);
    arrival->wait = start - arrival->submit;
    arrival->run = end - start;
    arrival->processors = (uint32_t)gpus;
    arrival->status = arrival_status_of(status->text, status->size);
}

void arrival_read_pai(struct arrival_reader *reader)
{
    struct arrival_text table = {reader->log->file, reader->text, (size_t)(reader->end - reader->text)};
    struct lines lines = {.table = &table, .next = table.text};
    size_t count;
    if (!reader->beside) {
        diag_error(reader->diag, (struct place){.file = table.name},
                   "nothing says how many GPUs jobs have; expected the file to be called as pai_job_table.csv, beside "
                   "pai_task_table.csv");
        return;
    }
    struct task *tasks = read_tasks(reader, &count);
    while (next_line(&lines, JOB_FIELDS, reader->diag))
        read_job(reader, &lines, tasks, count);
    free(tasks);
    arrival_shift(reader->log);
}
