/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured: times, logs and tables; a row for each. */
#include "base/arena.h"
#include "base/csv.h"
#include "base/document.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "base/text/ends.h"
#include "studies/calibrate/calibrate_parts.h"
#include "workloads/transformer/transformer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1000, COLUMNS_MAX = 64, TABLE_BYTES_MAX = 1 << 20 };

struct reading {
    const struct calibration_request *request;
    struct calibration *calibration;
    struct arena *arena;
    struct diag *diag;
};

/* ---- a row ---- */

static struct scenario *load(const struct reading *r, const char *file, const struct scenario_set *sets, size_t count)
{
    struct scenario_request plain = {file, r->request->sets, r->request->set_count, NULL, r->request->plugins};
    struct scenario_request changed = scenario_request_with(&plain, sets, count, r->arena);
    return scenario_load(&changed, r->arena, r->diag);
}

static struct calibration_row *add_row(const struct reading *r, struct scenario *scenario)
{
    struct calibration *c = r->calibration;
    if (c->count == ROWS_MAX) {
        diag_error(r->diag, scenario_place(scenario, ""), "more than %d measurements; expected fewer", ROWS_MAX);
        return NULL;
    }
    c->rows[c->count] = (struct calibration_row){.scenario = scenario, .text = scenario->name, .date = ""};
    return &c->rows[c->count++];
}

/* ---- a time ---- */

static bool is_time(const char *text, double *seconds)
{
    struct quantity_reason reason;
    return quantity_parse(QUANTITY_TIME, text, seconds, &reason);
}

static void add_time(const struct reading *r, struct scenario *scenario, const char *text, double seconds)
{
    struct place at = {arena_print(r->arena, "--measured %s", text), 0, 0};
    if (!(seconds > 0)) {
        diag_error(r->diag, at, "an iteration takes longer than that; expected a time such as 9.0s");
        return;
    }
    struct calibration_row *row = add_row(r, scenario);
    if (!row)
        return;
    row->seconds = seconds;
    row->source = at.file;
    row->at = at;
}

/* ---- a log ---- */

static void add_log(const struct reading *r, struct scenario *scenario, const char *file)
{
    const struct training_log *log = training_log_read(file, r->arena, r->diag);
    struct calibration_row *row = log ? add_row(r, scenario) : NULL;
    if (!row)
        return;
    row->log = log;
    row->source = path_name(file, "", r->arena);
    row->at = (struct place){file, log->first_line, 0};
    row->last_line = log->last_line;
    row->date = log->date;
    row->bytes = log->bytes.value;
    row->of_allocator = log->bytes.value > 0;
}

/* ---- a table ---- */

/* The columns that every table may have come first; all others are keys of the scenario. */
enum { COLUMN_SECONDS, COLUMN_SCENARIO, COLUMN_BYTES, COLUMN_DATE, COLUMNS_FIXED };
static const char *const fixed_columns[] = {"seconds", "scenario", "bytes", "date"};

/* The table's own columns behind the fixed ones. */
static size_t find_columns(const char *text, size_t size, const char **names, struct arena *arena)
{
    const char *found[COLUMNS_MAX];
    size_t count = COLUMNS_FIXED, all = csv_names(text, size, true, found, COLUMNS_MAX - COLUMNS_FIXED, arena);
    memcpy(names, fixed_columns, sizeof fixed_columns);
    for (size_t i = 0; i < all; i++) {
        bool fixed = !*found[i];
        for (int k = 0; k < COLUMNS_FIXED; k++)
            fixed |= !strcmp(found[i], fixed_columns[k]);
        if (!fixed)
            names[count++] = found[i];
    }
    return count;
}

static const char *scenario_of_row(const struct reading *r, struct csv *csv, const char *table)
{
    struct csv_field field = csv_get(csv, COLUMN_SCENARIO);
    if (field.text && field.size)
        return path_resolve(path_directory(table, r->arena), csv_text(field, r->arena), r->arena);
    if (r->request->scenario_count == 1)
        return r->request->scenarios[0];
    csv_mistake(csv, COLUMN_SCENARIO, "the row names no scenario; expected a file in the column 'scenario'%s",
                r->request->scenario_count ? ", for there are several" : "");
    return NULL;
}

/* Values that a row gives, as --set takes them. */
static size_t list_sets(const struct reading *r, const struct csv *csv, const char *const *names, size_t columns,
                        struct scenario_set *sets, const char **text)
{
    size_t count = 0;
    for (size_t i = COLUMNS_FIXED; i < columns; i++) {
        struct csv_field field = csv_get(csv, i);
        if (!field.text || !field.size)
            continue;
        const char *set = arena_print(r->arena, "%s=%s", names[i], csv_text(field, r->arena));
        sets[count++] = (struct scenario_set){.text = set};
        *text = arena_print(r->arena, "%s, %s", *text, set);
    }
    return count;
}

static bool read_measures(const struct reading *r, struct csv *csv, struct calibration_row *row)
{
    double bytes = 0;
    if (!csv_number(csv, COLUMN_SECONDS, &row->seconds))
        return false;
    if (!(row->seconds > 0))
        return csv_mistake(csv, COLUMN_SECONDS, "an iteration takes time; expected seconds above 0");
    struct csv_field field = csv_get(csv, COLUMN_BYTES);
    if (field.text && field.size && !csv_number(csv, COLUMN_BYTES, &bytes))
        return false;
    if (bytes < 0)
        return csv_mistake(csv, COLUMN_BYTES, "memory is negative; expected bytes");
    row->bytes = bytes;
    field = csv_get(csv, COLUMN_DATE);
    row->date = field.text && field.size ? csv_text(field, r->arena) : "";
    return true;
}

static void add_table_row(const struct reading *r, struct csv *csv, const char *file, const char *const *names,
                          size_t columns)
{
    struct scenario_set *sets = arena_array(r->arena, columns, sizeof *sets);
    struct calibration_row measures = {0};
    const char *scenario_file = scenario_of_row(r, csv, file), *text = "";
    if (!scenario_file || !read_measures(r, csv, &measures))
        return;
    size_t count = list_sets(r, csv, names, columns, sets, &text);
    struct scenario *scenario = load(r, scenario_file, sets, count);
    struct calibration_row *row = scenario ? add_row(r, scenario) : NULL;
    if (!scenario)
        diag_note(r->diag, csv_place(csv, COLUMN_SECONDS), "the values are those of this row");
    if (!row)
        return;
    row->text = arena_print(r->arena, "%s%s", scenario->name, text);
    row->seconds = measures.seconds;
    row->bytes = measures.bytes;
    row->date = measures.date;
    row->source = path_name(file, "", r->arena);
    row->at = csv_place(csv, COLUMN_SECONDS);
    row->last_line = csv_line(csv);
}

static void add_table(const struct reading *r, const char *file)
{
    size_t size;
    char *loaded = csv_load(file, TABLE_BYTES_MAX, &size);
    if (!loaded) {
        (errno == ENOENT ? diag_error : diag_trouble)(
            r->diag, (struct place){file, 0, 0}, "cannot be read: %s%s", strerror(errno),
            errno == ENOENT ? "; expected a log, a table such as runs.csv, or a time such as 9.0s" : "");
        return;
    }
    char *text = arena_copy_part(r->arena, loaded, size);
    free(loaded);
    const char *names[COLUMNS_MAX];
    struct csv_columns columns = {names,      find_columns(text, size, names, r->arena), 1, "measured iterations", true,
                                  "calibrate"};
    struct csv *csv = csv_open(file, text, size, &columns, r->diag, NULL);
    size_t before = r->calibration->count;
    unsigned errors = r->diag->errors;
    while (csv && csv_next(csv))
        add_table_row(r, csv, file, names, columns.count);
    csv_close(csv);
    if (r->calibration->count == before && r->diag->errors == errors)
        diag_error(r->diag, (struct place){file, 0, 0}, "the table has no row; expected one for each measured run");
}

/* ---- all ---- */

static void add_measured(const struct reading *r, size_t index)
{
    const char *measured = r->request->measured[index];
    double seconds;
    if (text_ends_in(measured, ".csv")) {
        add_table(r, measured);
        return;
    }
    if (!r->request->scenario_count) {
        diag_error(r->diag, (struct place){measured, 0, 0},
                   "no scenario says what job this is; expected one, or a "
                   "table with the column 'scenario'");
        return;
    }
    size_t which = r->request->scenario_count == 1 ? 0 : index;
    struct scenario *scenario = load(r, r->request->scenarios[which], NULL, 0);
    if (!scenario)
        return;
    if (is_time(measured, &seconds))
        add_time(r, scenario, measured, seconds);
    else
        add_log(r, scenario, measured);
}

/* All rows have one framework, from which the profile starts. */
static bool find_base(const struct reading *r)
{
    struct calibration *c = r->calibration;
    for (size_t i = 0; i < c->count; i++) {
        const struct scenario *scenario = c->rows[i].scenario;
        const struct node *node = node_get(scenario->root, "framework");
        const char *name = scenario->framework_file && node ? node->text : NULL;
        if (i == 0) {
            c->base = scenario->framework_file;
            c->base_name = name;
        } else if (strcmp(name ? name : "none", c->base_name ? c->base_name : "none") != 0) {
            diag_error(r->diag, scenario_place(scenario, "framework"),
                       "the framework is %s, that of %s is %s; a profile is one framework's", name ? name : "none",
                       c->rows[0].text, c->base_name ? c->base_name : "none");
            return false;
        }
    }
    return true;
}

bool calibration_read_rows(const struct calibration_request *request, struct calibration *calibration,
                           struct arena *arena, struct diag *diag)
{
    struct reading reading = {request, calibration, arena, diag};
    calibration->rows = arena_array(arena, ROWS_MAX, sizeof *calibration->rows);
    for (size_t i = 0; i < request->measured_count; i++)
        add_measured(&reading, i);
    for (size_t i = 0; i < calibration->count; i++)
        if (calibration->rows[i].scenario->workload != &transformer_workload)
            diag_error(diag, scenario_place(calibration->rows[i].scenario, "workload"),
                       "%s cannot be calibrated; expected a job of the workload transformer",
                       calibration->rows[i].text);
    return !diag->errors && find_base(&reading);
}

/* ---- logs as seconds of these jobs ---- */

static bool agree(const struct calibration_row *row, enum log_fact fact, double expected, struct diag *diag)
{
    const struct log_number *said = &row->log->facts[fact];
    if (!(said->value > 0) || !(expected > 0) || (said->value <= expected && said->value >= expected))
        return true;
    diag_error(diag, (struct place){row->log->file, said->line, 0},
               "this log is of another job: %s is %.12g in the log and %.12g in %s", log_fact_names[fact], said->value,
               expected, row->scenario->file);
    return false;
}

static bool is_of_scenario(const struct calibration_row *row, const char *gpu, struct diag *diag)
{
    const struct scenario *s = row->scenario;
    const struct training_log *log = row->log;
    bool ok = agree(row, LOG_GPUS, s->mesh.ranks, diag) && agree(row, LOG_DATA, s->data, diag) &&
              agree(row, LOG_PIPELINE, s->workers, diag) &&
              agree(row, LOG_TENSOR, mesh_size(&s->mesh, "tensor"), diag) &&
              agree(row, LOG_CONTEXT, mesh_size(&s->mesh, "context"), diag) &&
              agree(row, LOG_MICRO_BATCH, (double)s->micro_batch_size, diag) &&
              agree(row, LOG_GLOBAL_BATCH, (double)s->global_batch, diag);
    double sequence = row->samples > 0 ? row->tokens / row->samples : 0;
    ok = ok && agree(row, LOG_SEQUENCE, sequence, diag);
    if (ok && log->gpu && gpu && strncmp(gpu, log->gpu, strlen(log->gpu)) != 0) {
        diag_error(diag, (struct place){log->file, log->gpu_line, 0},
                   "this log is of another GPU: %s in the log and %s in %s", log->gpu, gpu, s->file);
        return false;
    }
    return ok;
}

static bool settle(struct calibration_row *row, struct diag *diag)
{
    const struct training_log *log = row->log;
    double work = log->measure == LOG_SAMPLES_PER_S          ? row->samples
                  : log->measure == LOG_TOKENS_PER_S_PER_GPU ? row->tokens / row->scenario->mesh.ranks
                                                             : 0;
    if (log->measure != LOG_SECONDS && !(work > 0)) {
        diag_error(diag, row->at, "the log says how much is done in a second, and %s not how much an iteration does",
                   row->scenario->file);
        return false;
    }
    row->seconds = log->measure == LOG_SECONDS ? log->mean : work / log->mean;
    row->spread = row->seconds * log->spread / log->mean;
    return true;
}

bool calibration_settle_rows(struct calibration *calibration, const char *const *gpu, struct diag *diag)
{
    bool ok = true;
    for (size_t i = 0; i < calibration->count; i++) {
        struct calibration_row *row = &calibration->rows[i];
        if (row->log)
            ok = is_of_scenario(row, gpu[i], diag) && settle(row, diag) && ok;
    }
    return ok;
}
