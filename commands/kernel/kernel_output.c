/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/kernel/kernel_output.h"

#include "base/json_writer.h"
#include "base/rounded/rounded.h"
#include "base/table.h"

#include <math.h>

const char *const *kernel_size_names(enum kernel_kind kind)
{
    static const char *const names[][KERNEL_SIZES] = {
        [KERNEL_MATMUL] = {NULL, "m", "n", "k"},
        [KERNEL_GROUPED] = {"groups", "m", "n", "k"},
        [KERNEL_EXPERTS] = {"groups", "m", "n", "k"},
        [KERNEL_ATTENTION] = {"heads", "sequence", "head_size", "value_size"},
        [KERNEL_MEMORY] = {NULL, "bytes", NULL, NULL},
        [KERNEL_MAMBA] = {"heads", "sequence", "head_size", "state"},
        [KERNEL_GATED_DELTA] = {"heads", "sequence", "head_size", "value_size"},
        [KERNEL_KIMI_DELTA] = {"heads", "sequence", "head_size", "value_size"},
        [KERNEL_LIGHTNING] = {"heads", "sequence", "head_size", "value_size"},
        [KERNEL_DECODE] = {"kv_heads", "sequence", "head_size", "queries"},
    };
    return names[kind];
}

static void print_sizes(FILE *out, const struct kernel_shape *shape)
{
    const char *const *names = kernel_size_names(shape->kind);
    const double sizes[KERNEL_SIZES] = {shape->groups, shape->m, shape->n, shape->k};
    const char *before = " of ";
    for (unsigned i = 0; i < KERNEL_SIZES; i++)
        if (names[i]) {
            fprintf(out, "%s%s %.10g", before, names[i], sizes[i]);
            before = ", ";
        }
}

/* "within it", or which sizes are beyond which bound. */
static void print_range(FILE *out, const struct kernel_answer *answer)
{
    const struct kernel_model *rows = answer->time.rows;
    const char *const *names = kernel_size_names(answer->shape.kind);
    const char *before = "OUTSIDE: ";
    if (!rows->row_count)
        fputs("nothing measured: the model alone", out);
    else if (!answer->time.outside)
        fputs("within", out);
    for (unsigned i = 0; i < KERNEL_SIZES && rows->row_count; i++)
        if (answer->time.outside & 1U << i) {
            fprintf(out, "%s%s was measured from %.10g to %.10g", before, names[i] ? names[i] : "size",
                    round(rounded_exp2(rows->low[i])), round(rounded_exp2(rows->high[i])));
            before = ", ";
        }
    fputc('\n', out);
}

static void print_near(FILE *out, const struct kernel_answer *answer, enum table_format format)
{
    const char *const *names = kernel_size_names(answer->shape.kind);
    struct table *table = table_create();
    for (unsigned i = 0; i < KERNEL_SIZES; i++)
        if (names[i])
            table_column(table, names[i], '>');
    table_columns(table, ">measured", ">over model", NULL);
    for (unsigned i = 0; i < answer->time.near_count; i++) {
        const struct kernel_row *row = answer->time.near[i];
        for (unsigned k = 0; k < KERNEL_SIZES; k++)
            if (names[k]) {
                table_cell(table, "%.10g", round(rounded_exp2(row->size[k])));
                table_value(table, round(rounded_exp2(row->size[k])));
            }
        table_seconds(table, row->seconds);
        table_cell(table, "%.3f", rounded_exp(row->beside));
        table_value(table, rounded_exp(row->beside));
    }
    table_remarks(out, format, "\nnearest measured kernels:\n");
    if (format == TABLE_MARKDOWN)
        putc('\n', out);
    table_finish(table, out, table_style_of(format, out));
}

static void print_time(FILE *out, const struct kernel_answer *a)
{
    char seconds[READABLE_MAX], rate[READABLE_MAX];
    const struct kernel_model *model = a->time.model;
    double flops = kernel_flops(&a->shape), bytes = a->shape.kind == KERNEL_MEMORY ? a->shape.m : 0;
    fprintf(out, "%s, %s %s,", kernel_kind_names[a->shape.kind], kernel_type_names[a->shape.type],
            kernel_stage_names[a->shape.stage]);
    print_sizes(out, &a->shape);
    fprintf(out, " on %s\n\ntime            %s\n", a->gpu, readable_seconds(seconds, a->time.seconds));
    if (flops > 0)
        fprintf(out, "rate            %s, %.1f %% of the peak\n", readable_flops(rate, flops / a->time.seconds),
                100 * flops / a->time.seconds / model->peak);
    if (bytes > 0)
        fprintf(out, "rate            %.4g GB/s, %.1f %% of the bandwidth\n", bytes / a->time.seconds / 1e9,
                100 * bytes / a->time.seconds / model->bandwidth);
    fprintf(out, "model alone     %s\n", readable_seconds(seconds, a->time.modelled));
    fprintf(out, "source          %s%s, %u measured kernels in %s\n", model->source,
            model->user == KERNEL_INFERENCE ? ", an inference library's own" : "", a->time.rows->row_count, a->rows);
    fputs("measured range  ", out);
    print_range(out, a);
}

void kernel_text_write(FILE *out, const struct kernel_answer *a, enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    print_time(remarks, a);
    table_remarks_end(out, format, remarks, &lines);
    if (a->time.near_count || !table_is_read(format))
        print_near(out, a, format);
}

static void write_sizes(struct json_writer *json, enum kernel_kind kind, const double sizes[KERNEL_SIZES])
{
    const char *const *names = kernel_size_names(kind);
    for (unsigned i = 0; i < KERNEL_SIZES; i++)
        if (names[i])
            json_number(json, names[i], sizes[i]);
}

static void write_near(struct json_writer *json, const struct kernel_answer *a)
{
    json_array_begin(json, "nearest", true);
    for (unsigned i = 0; i < a->time.near_count; i++) {
        const struct kernel_row *row = a->time.near[i];
        double sizes[KERNEL_SIZES];
        for (unsigned k = 0; k < KERNEL_SIZES; k++)
            sizes[k] = round(rounded_exp2(row->size[k]));
        json_object_begin(json, NULL, false);
        write_sizes(json, a->shape.kind, sizes);
        json_number(json, "seconds", row->seconds);
        json_number(json, "over_model", rounded_exp(row->beside));
        json_object_end(json);
    }
    json_array_end(json);
}

void kernel_json_write(FILE *out, const struct kernel_answer *a)
{
    struct json_writer json = json_writer_init(out);
    const double sizes[KERNEL_SIZES] = {a->shape.groups, a->shape.m, a->shape.n, a->shape.k};
    json_object_begin(&json, NULL, true);
    json_text(&json, "kernel", kernel_kind_names[a->shape.kind]);
    json_text(&json, "gpu", a->gpu);
    json_text(&json, "type", kernel_type_names[a->shape.type]);
    json_text(&json, "stage", kernel_stage_names[a->shape.stage]);
    write_sizes(&json, a->shape.kind, sizes);
    json_number(&json, "seconds", a->time.seconds);
    json_number(&json, "model_seconds", a->time.modelled);
    json_number(&json, "flops", kernel_flops(&a->shape));
    json_text(&json, "source", a->time.model->source);
    json_text(&json, "user", kernel_user_names[a->time.model->user]);
    json_integer(&json, "measured", a->time.rows->row_count);
    json_flag(&json, "outside", a->time.outside != 0);
    write_near(&json, a);
    json_object_end(&json);
    fputc('\n', out);
}
