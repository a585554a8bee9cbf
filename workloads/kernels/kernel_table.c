/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/kernels/kernel_table.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/rounded/rounded.h"
#include "workloads/kernels/kernel_time.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_SIZE_MAX = 1 << 23, MODELS_MAX = 256, ROWS_MAX = 1 << 17 };

const char *const kernel_kind_names[] = {"matmul",      "grouped",    "experts",   "attention", "memory", "mamba",
                                         "gated-delta", "kimi-delta", "lightning", "decode",    NULL};
const char *const kernel_type_names[] = {"bf16", "fp8", "fp8_block", "nvfp4", NULL};
const char *const kernel_stage_names[] = {
    "forward", "input", "weight",    "backward", "forward-full", "backward-full", "norm",        "add",
    "silu",    "rope",  "embedding", "cast",     "permute",      "loss",          "convolution", NULL};

const char *const kernel_user_names[] = {"training", "shared", "inference", NULL};

/* Both files begin with the columns that say which model is meant. */
enum column { KIND, TYPE, STAGE, SOURCE, FIRST_NUMBER };

enum model_column {
    PROCESSORS = FIRST_NUMBER,
    PEAK,
    BANDWIDTH,
    LAUNCH,
    COMPUTE,
    MEMORY,
    EXTRA,
    USER, /* may be left out, and mostly is in tables of the user's own */
    MODEL_COLUMNS
};
static const char *const model_columns[MODEL_COLUMNS] = {"kind",          "type",         "stage",          "source",
                                                         "processors",    "peak_tflops",  "bandwidth_gbps", "launch_us",
                                                         "compute_share", "memory_share", "extra",          "user"};

enum row_column { GROUPS = FIRST_NUMBER, M, N, K, TIME, ROW_COLUMNS };
static const char *const row_columns[ROW_COLUMNS] = {"kind", "type", "stage", "source", "groups",
                                                     "m",    "n",    "k",     "time_us"};

static bool read_number(struct csv *csv, size_t column, const char *name, double low, double high, double *value)
{
    return csv_number(csv, column, value) &&
           ((*value >= low && *value <= high) ||
            csv_mistake(csv, column, "%s is %g; expected %g to %g", name, *value, low, high));
}

static bool read_words(struct csv *csv, struct kernel_model *model)
{
    unsigned kind, type, stage;
    if (!csv_word(csv, KIND, kernel_kind_names, &kind) || !csv_word(csv, TYPE, kernel_type_names, &type) ||
        !csv_word(csv, STAGE, kernel_stage_names, &stage))
        return false;
    struct csv_field source = csv_get(csv, SOURCE);
    if (!source.size || source.size >= KERNEL_SOURCE_SIZE)
        return csv_mistake(csv, SOURCE, "expected a source of 1 to %d characters", KERNEL_SOURCE_SIZE - 1);
    *model = (struct kernel_model){
        .kind = (enum kernel_kind)kind, .type = (enum kernel_type)type, .stage = (enum kernel_stage)stage};
    memcpy(model->source, source.text, source.size);
    return true;
}

/* ---- models ---- */

static bool read_model(struct csv *csv, struct kernel_table *table)
{
    struct kernel_model *model = &table->models[table->model_count];
    if (table->model_count == MODELS_MAX)
        return csv_mistake(csv, KIND, "more than %d models", MODELS_MAX);
    if (!read_words(csv, model) || !read_number(csv, PROCESSORS, "processors", 1, 1e5, &model->processors) ||
        !read_number(csv, PEAK, "peak_tflops", 1e-3, 1e6, &model->peak) ||
        !read_number(csv, BANDWIDTH, "bandwidth_gbps", 1e-3, 1e6, &model->bandwidth) ||
        !read_number(csv, LAUNCH, "launch_us", 0, 1e6, &model->launch) ||
        !read_number(csv, COMPUTE, "compute_share", 1e-3, 1, &model->compute) ||
        !read_number(csv, MEMORY, "memory_share", 1e-3, 2, &model->memory) ||
        !read_number(csv, EXTRA, "extra", 0, 1e6, &model->extra))
        return false;
    unsigned user = KERNEL_TRAINING;
    if (csv_get(csv, USER).size && !csv_word(csv, USER, kernel_user_names, &user))
        return false;
    model->user = (enum kernel_user)user;
    model->peak *= 1e12;
    model->bandwidth *= 1e9;
    model->launch *= 1e-6;
    table->model_count++;
    return true;
}

/* ---- rows ---- */

void kernel_sizes(const struct kernel_shape *shape, double sizes[KERNEL_SIZES])
{
    const double values[KERNEL_SIZES] = {shape->groups, shape->m, shape->n, shape->k};
    for (unsigned i = 0; i < KERNEL_SIZES; i++)
        sizes[i] = rounded_log2(fmax(values[i], 1));
}

static void add_row(struct kernel_model *model, const struct kernel_shape *shape, double seconds)
{
    model->rows = array_grow(model->rows, &model->room, model->row_count + 1, sizeof *model->rows);
    struct kernel_row *row = &model->rows[model->row_count];
    *row = (struct kernel_row){.seconds = seconds, .beside = rounded_log(seconds / kernel_model_seconds(model, shape))};
    kernel_sizes(shape, row->size);
    for (unsigned i = 0; i < KERNEL_SIZES; i++) {
        model->low[i] = model->row_count ? fmin(model->low[i], row->size[i]) : row->size[i];
        model->high[i] = model->row_count ? fmax(model->high[i], row->size[i]) : row->size[i];
    }
    model->row_count++;
}

static bool read_row(struct csv *csv, struct kernel_table *table)
{
    struct kernel_model words;
    struct kernel_shape shape;
    double microseconds;
    if (!read_words(csv, &words) || !read_number(csv, GROUPS, "groups", 1, 1e9, &shape.groups) ||
        !read_number(csv, M, "m", 1, 1e15, &shape.m) || !read_number(csv, N, "n", 1, 1e15, &shape.n) ||
        !read_number(csv, K, "k", 1, 1e15, &shape.k) || !read_number(csv, TIME, "time_us", 1e-3, 1e9, &microseconds))
        return false;
    shape.kind = words.kind;
    shape.type = words.type;
    shape.stage = words.stage;
    struct kernel_model *model = (struct kernel_model *)kernel_model_find(table, &shape, words.source);
    if (!model)
        return csv_mistake(csv, SOURCE, "the models have no %s of %s, %s, of this source",
                           kernel_kind_names[words.kind], kernel_type_names[words.type],
                           kernel_stage_names[words.stage]);
    if (model->row_count == ROWS_MAX)
        return csv_mistake(csv, KIND, "more than %d rows of a model", ROWS_MAX);
    add_row(model, &shape, microseconds * 1e-6);
    return true;
}

/* ---- files ---- */

static bool read_file(const char *path, const struct csv_columns *columns, struct kernel_table *table,
                      bool (*read)(struct csv *csv, struct kernel_table *table), struct fault *fault)
{
    size_t size = 0;
    char *text = csv_load(path, FILE_SIZE_MAX, &size);
    fault->trouble = !text;
    if (!text)
        return fault_set(fault, "%s: cannot be read: %s", path, strerror(errno));
    struct csv *csv = csv_open(path, text, size, columns, NULL, fault);
    while (csv && csv_next(csv) && read(csv, table))
        ;
    csv_close(csv);
    free(text);
    return !fault->text[0];
}

bool kernel_table_read(const char *models, const char *rows, struct kernel_table *table, struct fault *fault)
{
    static const struct csv_columns of_models = {model_columns,    MODEL_COLUMNS, USER,
                                                 "a kernel model", true,          "doc/kernel.md"};
    static const struct csv_columns of_rows = {row_columns,        ROW_COLUMNS, ROW_COLUMNS,
                                               "measured kernels", true,        "doc/kernel.md"};
    *table = (struct kernel_table){.models = array_zeroed(MODELS_MAX, sizeof *table->models)};
    if (read_file(models, &of_models, table, read_model, fault) && read_file(rows, &of_rows, table, read_row, fault) &&
        (table->model_count || fault_set(fault, "%s: there is no model", models)))
        return true;
    kernel_table_finish(table);
    return false;
}

void kernel_table_finish(struct kernel_table *table)
{
    for (unsigned i = 0; i < table->model_count; i++)
        free(table->models[i].rows);
    free(table->models);
    *table = (struct kernel_table){0};
}

const struct kernel_model *kernel_model_find(const struct kernel_table *table, const struct kernel_shape *shape,
                                             const char *source)
{
    const struct kernel_model *found = NULL;
    for (unsigned i = 0; i < table->model_count; i++) {
        const struct kernel_model *model = &table->models[i];
        if (model->kind == shape->kind && model->type == shape->type && model->stage == shape->stage &&
            (!source || strcmp(source, model->source) == 0) && (!found || model->user < found->user))
            found = model;
    }
    return found;
}

const struct kernel_model *kernel_model_of_library(const struct kernel_table *table, const struct kernel_shape *shape,
                                                   const char *library)
{
    size_t size = strlen(library);
    for (unsigned i = 0; i < table->model_count; i++) {
        const struct kernel_model *model = &table->models[i];
        if (model->kind == shape->kind && model->type == shape->type && model->stage == shape->stage &&
            !strncmp(model->source, library, size) && model->source[size] == '-')
            return model;
    }
    return NULL;
}
