/* SPDX-License-Identifier: Apache-2.0 */
/* Published logs of GPU clusters that are tables with the same names: cluster_log.csv of Helios (SenseTime, SC 2021)
 * and the job traces of Acme (Shanghai AI Lab, NSDI 2024). */
#include "base/arena.h"
#include "base/csv.h"
#include "cluster/logs/arrival_time.h"

#include <math.h>
#include <string.h>

/* Those that are read, and those that are there as well. */
enum { JOB_ID, GPUS, SUBMIT, START, END, USER, STATE };

static const char *const column_names[] = {
    "job_id",   "gpu_num",   "submit_time",    "start_time",         "end_time", "user",     "state",
    "vc",       "jobname",   "cpu_num",        "node_num",           "type",     "duration", "queue",
    "gpu_time", "fail_time", "mem_per_pod_GB", "shared_mem_per_pod", "stop_time"};
static const struct csv_columns columns = {.names = column_names,
                                           .count = sizeof column_names / sizeof *column_names,
                                           .required = USER,
                                           .what = "a log of Helios or Acme"};

static bool read_time(struct csv *csv, size_t column, double *seconds)
{
    struct csv_field field = csv_get(csv, column);
    return arrival_time(field.text, field.size, ' ', true, seconds) ||
           csv_mistake(csv, column,
                       "%s is no time; expected one such as 2020-06-09 18:41:01 or 2023-03-01 00:18:22+08:00",
                       column_names[column]);
}

/* Nothing, or what pandas and SQL write for it. */
static bool is_empty(struct csv_field field)
{
    static const char *const words[] = {"None", "NaT", "NaN", "nan", "NULL", "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (field.size == strlen(words[i]) && !memcmp(field.text, words[i], field.size))
            return true;
    return field.size == 0;
}

/* Jobs that never had a GPU are passed over. */
static void read_row(struct arrival_reader *reader, struct csv *csv)
{
    struct arrival_log *log = reader->log;
    double gpus = 0, submit, start, end;
    struct csv_field user = csv_get(csv, USER), state = csv_get(csv, STATE);
    if (!is_empty(csv_get(csv, GPUS)) && !csv_number(csv, GPUS, &gpus))
        return;
    if (gpus == 0 || is_empty(csv_get(csv, START)) || is_empty(csv_get(csv, END))) {
        log->passed_over++;
        return;
    }
    if (gpus < 0 || gpus > 1e9 || gpus != floor(gpus)) {
        csv_mistake(csv, GPUS, "gpu_num is %g; expected a whole number", gpus);
        return;
    }
    if (!read_time(csv, SUBMIT, &submit) || !read_time(csv, START, &start) || !read_time(csv, END, &end))
        return;
    if (end <= start) {
        log->passed_over++;
        return;
    }
    struct arrival *arrival = arrival_log_room(reader, csv_line(csv));
    arrival->name = csv_text(csv_get(csv, JOB_ID), reader->arena);
    arrival->user = user.size ? csv_text(user, reader->arena) : NULL;
    arrival->submit = submit;
    arrival->wait = fmax(0, start - submit);
    arrival->run = end - start;
    arrival->processors = (uint32_t)gpus;
    arrival->status = arrival_status_of(state.text, state.size);
    log->count++;
}

void arrival_read_helios(struct arrival_reader *reader)
{
    struct csv *csv =
        csv_open(reader->log->file, reader->text, (size_t)(reader->end - reader->text), &columns, reader->diag, NULL);
    while (csv && csv_next(csv))
        read_row(reader, csv);
    csv_close(csv);
    arrival_shift(reader->log);
}
