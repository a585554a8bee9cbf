/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of Alibaba's Lingjun cluster (alibaba-lingjun-dataset-2023; Crux, SIGCOMM 2024): job.csv says when jobs
 * came, ran and ended, to the minute; worker.csv with which resources each of their workers ran. Both name their
 * columns, of which few are read. */
#include "base/arena.h"
#include "base/csv.h"
#include "cluster/logs/arrival_time.h"

#include <stdlib.h>
#include <string.h>

/* Columns that are read: of jobs, and of workers. The first ones have to be there. */
enum { JOB_NAME, SUBMITTED, RUNNING, FINISHED, STOPPED, STATUS, USER, JOB_COLUMNS };
enum { WORKER_JOB, WORKER_NAME, RESOURCES, WORKER_COLUMNS };
enum { COLUMNS_MOST = 200, NEEDED_OF_JOBS = STOPPED };

static const char *const job_columns[JOB_COLUMNS] = {
    "job_name", "gmt_job_submitted", "gmt_job_running", "gmt_job_finished", "gmt_job_stopped", "status", "user_id"};
static const char *const worker_columns[WORKER_COLUMNS] = {"job_name", "worker_name", "RES"};

/* A table of which only some columns are known; place[wanted] is SIZE_MAX where it has no such column. */
struct known_table {
    struct csv_columns columns;
    struct csv *csv;
    size_t place[JOB_COLUMNS];
};

/* False after a mistake was reported. */
static bool open_table(struct known_table *table, const char *name, const char *text, size_t size,
                       const char *const *wanted, size_t count, size_t needed, struct arrival_reader *reader)
{
    const char **names = arena_array(reader->arena, COLUMNS_MOST, sizeof *names);
    unsigned errors = reader->diag->errors;
    size_t found = csv_names(text, size, false, names, COLUMNS_MOST, reader->arena);
    *table = (struct known_table){
        .columns = {.names = names, .count = found, .what = "a table of Lingjun", .nameless = true}};
    for (size_t i = 0; i < count; i++) {
        table->place[i] = 0;
        while (table->place[i] < found && strcmp(names[table->place[i]], wanted[i]) != 0)
            table->place[i]++;
        if (table->place[i] == found) {
            table->place[i] = SIZE_MAX;
            if (i < needed)
                diag_error(reader->diag, (struct place){.file = name},
                           "there is no column %s; expected a table of Lingjun", wanted[i]);
        }
    }
    if (reader->diag->errors > errors)
        return false;
    table->csv = csv_open(name, text, size, &table->columns, reader->diag, NULL);
    return table->csv != NULL;
}

static struct csv_field field_of(const struct known_table *table, unsigned column)
{
    return table->place[column] == SIZE_MAX ? (struct csv_field){0} : csv_get(table->csv, table->place[column]);
}

/* ---- workers ---- */

struct worker {
    const char *job, *name;
    double gpus;
};

/* Of a map in JSON such as {"cpu": "96", "nvidia.com/gpu": "8"}; 0: it has none. False with the mistake reported. */
static bool read_gpus(const struct known_table *table, struct arena *arena, double *gpus)
{
    static const char key[] = "\"nvidia.com/gpu\"";
    const char *at = strstr(csv_text(field_of(table, RESOURCES), arena), key);
    *gpus = 0;
    if (!at)
        return true;
    at += strlen(key);
    at += strspn(at, " :\"");
    *gpus = strspn(at, "0123456789") ? strtod(at, NULL) : -1;
    return (*gpus >= 0 && *gpus <= 1e6) ||
           csv_mistake(table->csv, table->place[RESOURCES],
                       "RES does not say how many GPUs; expected a map such as {\"nvidia.com/gpu\": \"8\"}");
}

static int by_job(const void *left, const void *right)
{
    const struct worker *a = left, *b = right;
    int order = strcmp(a->job, b->job);
    return order ? order : strcmp(a->name, b->name);
}

/* The caller frees them. */
static struct worker *read_workers(struct arrival_reader *reader, size_t *count)
{
    struct known_table table;
    struct worker *workers = NULL;
    size_t capacity = 0;
    *count = 0;
    if (!open_table(&table, reader->beside->name, reader->beside->text, reader->beside->size, worker_columns,
                    WORKER_COLUMNS, WORKER_COLUMNS, reader))
        return NULL;
    while (csv_next(table.csv)) {
        struct worker worker = {csv_text(field_of(&table, WORKER_JOB), reader->arena),
                                csv_text(field_of(&table, WORKER_NAME), reader->arena), 0};
        if (!read_gpus(&table, reader->arena, &worker.gpus))
            continue;
        workers = array_grow(workers, &capacity, *count + 1, sizeof *workers);
        workers[(*count)++] = worker;
    }
    csv_close(table.csv);
    if (*count)
        qsort(workers, *count, sizeof *workers, by_job);
    return workers;
}

/* Of all workers of a job; one that was started again counts once. */
static double gpus_of(const struct worker *workers, size_t count, const char *job)
{
    size_t from = 0, past = count;
    double gpus = 0;
    while (from < past) {
        size_t middle = from + (past - from) / 2;
        if (strcmp(workers[middle].job, job) < 0)
            from = middle + 1;
        else
            past = middle;
    }
    for (size_t i = from; i < count && !strcmp(workers[i].job, job); i++)
        if (i == from || strcmp(workers[i].name, workers[i - 1].name) != 0)
            gpus += workers[i].gpus;
    return gpus;
}

/* ---- jobs ---- */

/* Negative where nothing is said. False with the mistake reported. */
static bool read_time(const struct known_table *table, unsigned column, double *seconds)
{
    struct csv_field field = field_of(table, column);
    *seconds = -1;
    return !field.size || arrival_minute(field.text, field.size, seconds) ||
           csv_mistake(table->csv, table->place[column], "%s is no time; expected one such as 2023/7/15 02:19",
                       job_columns[column]);
}

/* Jobs without GPUs, and those that did not start, had not ended, ended within their minute or started before they
 * came, are passed over. */
static void read_job(struct arrival_reader *reader, const struct known_table *table, const struct worker *workers,
                     size_t count)
{
    double submit, start, end, stopped;
    if (!read_time(table, SUBMITTED, &submit) || !read_time(table, RUNNING, &start) ||
        !read_time(table, FINISHED, &end) || !read_time(table, STOPPED, &stopped))
        return;
    const char *name = csv_text(field_of(table, JOB_NAME), reader->arena);
    double gpus = gpus_of(workers, count, name);
    end = end < 0 ? stopped : end;
    if (submit < 0 || start < submit || end <= start || !(gpus >= 1) || gpus > 1e9) {
        reader->log->passed_over++;
        return;
    }
    struct csv_field user = field_of(table, USER), status = field_of(table, STATUS);
    struct arrival *arrival = arrival_log_room(reader, csv_line(table->csv));
    arrival->name = name;
    arrival->user = user.size ? csv_text(user, reader->arena) : NULL;
    arrival->submit = submit;
    arrival->wait = start - submit;
    arrival->run = end - start;
    arrival->processors = (uint32_t)gpus;
    arrival->status = arrival_status_of(status.text, status.size);
    reader->log->count++;
}

void arrival_read_lingjun(struct arrival_reader *reader)
{
    struct known_table table;
    size_t count;
    if (!reader->beside) {
        diag_error(reader->diag, (struct place){.file = reader->log->file},
                   "nothing says how many GPUs jobs have; expected the file to be called as job.csv, beside "
                   "worker.csv");
        return;
    }
    struct worker *workers = read_workers(reader, &count);
    if (open_table(&table, reader->log->file, reader->text, (size_t)(reader->end - reader->text), job_columns,
                   JOB_COLUMNS, NEEDED_OF_JOBS, reader)) {
        while (csv_next(table.csv))
            read_job(reader, &table, workers, count);
        csv_close(table.csv);
    }
    free(workers);
    arrival_shift(reader->log);
}
