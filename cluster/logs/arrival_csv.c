/* SPDX-License-Identifier: Apache-2.0 */
/* A log of our own: a table with the columns submit and nodes, and others that may be there. */
#include "base/arena.h"
#include "base/csv.h"
#include "cluster/logs/arrival_log.h"

enum {
    COLUMN_SUBMIT,
    COLUMN_NODES,
    COLUMN_NAME,
    COLUMN_RUN,
    COLUMN_LIMIT,
    COLUMN_TYPE,
    COLUMN_ITERATIONS,
    COLUMN_USER,
    COLUMN_PRIORITY,
    COLUMN_STATUS,
    COLUMNS
};

static const char *const column_names[COLUMNS] = {"submit", "nodes",      "name", "run",      "limit",
                                                  "type",   "iterations", "user", "priority", "status"};
static const struct csv_columns columns = {
    .names = column_names, .count = COLUMNS, .required = COLUMN_NAME, .what = "an arrival log", .comments = true};

/* What was given, not negative, and where it must be above 0 that. Absent and empty fields leave *value. */
static bool seconds(struct csv *csv, size_t column, bool positive, double *value)
{
    double read;
    if (csv_get(csv, column).size == 0)
        return true;
    if (!csv_number(csv, column, &read))
        return false;
    if (read < 0 || (positive && read == 0) || read > ARRIVAL_SECONDS_MAX)
        return csv_mistake(csv, column, "%s is %g; expected a number %s, at most 1e10", column_names[column], read,
                           positive ? "above 0" : "from 0");
    *value = read;
    return true;
}

static bool read_row(struct csv *csv, struct arrival *arrival)
{
    double submit = -1;
    bool good =
        seconds(csv, COLUMN_SUBMIT, false, &submit) && seconds(csv, COLUMN_RUN, true, &arrival->run) &&
        seconds(csv, COLUMN_LIMIT, true, &arrival->limit) &&
        seconds(csv, COLUMN_ITERATIONS, true, &arrival->iterations) &&
        csv_integer(csv, COLUMN_NODES, UINT32_MAX, &arrival->nodes) &&
        (csv_get(csv, COLUMN_PRIORITY).size == 0 || csv_integer(csv, COLUMN_PRIORITY, UINT32_MAX, &arrival->priority));
    unsigned status = STATUS_UNKNOWN;
    if (csv_get(csv, COLUMN_STATUS).size > 0)
        good &= csv_word(csv, COLUMN_STATUS, arrival_status_names, &status);
    arrival->status = status;
    if (good && submit < 0)
        return csv_mistake(csv, COLUMN_SUBMIT, "the job has no submit time; expected seconds from 0");
    if (good && arrival->nodes == 0)
        return csv_mistake(csv, COLUMN_NODES, "a job has at least one node");
    arrival->submit = submit;
    if (good && arrival->run < 0 && csv_get(csv, COLUMN_TYPE).size == 0)
        return csv_mistake(csv, COLUMN_RUN,
                           "the job has neither `run`, the seconds that it runs, nor a `type` that says what it does");
    return good;
}

void arrival_read_csv(struct arrival_reader *reader)
{
    struct arrival_log *log = reader->log;
    struct csv *csv =
        csv_open(log->file, reader->text, (size_t)(reader->end - reader->text), &columns, reader->diag, NULL);
    while (csv && csv_next(csv)) {
        struct arrival *arrival = arrival_log_room(reader, csv_line(csv));
        if (!read_row(csv, arrival))
            continue;
        struct csv_field name = csv_get(csv, COLUMN_NAME), kind = csv_get(csv, COLUMN_TYPE),
                         user = csv_get(csv, COLUMN_USER);
        log->count++;
        arrival->name = name.size ? csv_text(name, reader->arena) : arena_print(reader->arena, "%zu", log->count);
        arrival->kind = kind.size ? csv_text(kind, reader->arena) : NULL;
        arrival->user = user.size ? csv_text(user, reader->arena) : NULL;
        arrival->at = csv_place(csv, COLUMN_TYPE);
    }
    csv_close(csv);
}
