/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/layouts/division_output.h"

#include "base/json_writer.h"
#include "studies/division/division_rows.h"

#include <math.h>
#include <stdlib.h>

static const char *const type_names[PARTITION_TYPES] = {"I", "II", "III"};

/* ---- tables ---- */

static void add_level_columns(struct table *table, const struct division_study *study)
{
    table_column(table, "layer", '<');
    for (uint32_t level = 0; level < study->levels; level++) {
        char title[TABLE_CELL_MAX];
        snprintf(title, sizeof title, "level %u", level);
        table_column(table, title, '<');
    }
}

static void print_types(FILE *out, const struct division_study *study, const struct partition *partition,
                        enum table_format format)
{
    struct table *table = table_create();
    add_level_columns(table, study);
    for (uint32_t layer = 0; layer < study->layer_count; layer++) {
        table_cell(table, "%s", study->layers[layer]);
        for (uint32_t level = 0; level < study->levels; level++)
            table_cell(table, "%s", type_names[partition->level[level].types[layer]]);
    }
    table_finish(table, out, table_style_of(format, out));
}

static void cell_seconds(struct table *table, double seconds)
{
    char buffer[READABLE_MAX];
    table_cell(table, "%s", isnan(seconds) ? "" : readable_seconds(buffer, seconds));
    if (!isnan(seconds))
        table_value(table, seconds);
}

static void cell_ratio(struct table *table, double ratio)
{
    if (isnan(ratio)) {
        table_cell(table, "%s", "");
        return;
    }
    table_cell(table, "%.2f", ratio);
    table_value(table, ratio);
}

static void add_figure_columns(struct table *table, const struct division_study *study)
{
    static const char *const titles[] = {"predicted", "analytic",         "analytic speed-up",
                                         "simgrid",   "simgrid speed-up", "bubble"};
    table_columns(table, "<method", ">share", NULL);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], '>');
    for (uint32_t kind = 0; kind < study->kind_count; kind++) {
        char title[TABLE_CELL_MAX];
        snprintf(title, sizeof title, "computing %.64s", study->kinds[kind]);
        table_column(table, title, '>');
    }
}

/* Of all devices of a kind on level 0; of one of two groups where there is one kind. */
static double share_of_kind(const struct division_study *study, const struct partition *partition, uint32_t kind)
{
    double groups = study->kind_count > 1 ? (double)study->counts[kind] * study->ways[0] / study->device_count : 1;
    return groups * partition->level[0].shares[kind];
}

static void add_figures(struct table *table, const struct division_study *study, unsigned method)
{
    const struct division *division = &study->methods[method], *data = &study->methods[PARTITION_DATA];
    double analytic = data->found ? data->analytic : NAN, simgrid = data->found ? data->simgrid : NAN;
    table_cell(table, "%s", division_names[method]);
    double share = share_of_kind(study, &division->partition, 0);
    table_cell(table, "%.4f", share);
    table_value(table, share);
    cell_seconds(table, division->predicted);
    cell_seconds(table, division->analytic);
    cell_ratio(table, analytic / division->analytic);
    cell_seconds(table, division->simgrid);
    cell_ratio(table, simgrid / division->simgrid);
    table_percent(table, division->bubble);
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        cell_seconds(table, division->computing[kind]);
}

static void print_figures(FILE *out, const struct division_study *study, enum table_format format)
{
    struct table *table = table_create();
    add_figure_columns(table, study);
    for (unsigned method = 0; method < DIVISION_METHODS; method++)
        if (study->methods[method].found)
            add_figures(table, study, method);
    table_finish(table, out, table_style_of(format, out));
}

unsigned division_fastest(const struct division_study *study)
{
    unsigned fastest = DIVISION_METHODS;
    for (unsigned i = 0; i < DIVISION_METHODS; i++)
        if (study->methods[i].found && !isnan(study->methods[i].simgrid) &&
            (fastest == DIVISION_METHODS || study->methods[i].simgrid < study->methods[fastest].simgrid))
            fastest = i;
    return fastest;
}

void division_print_slower(FILE *out, const char *before, const struct division_study *study, unsigned method)
{
    char own[READABLE_MAX], other[READABLE_MAX];
    unsigned fastest = division_fastest(study);
    if (fastest < DIVISION_METHODS && study->methods[fastest].simgrid < study->methods[method].simgrid)
        fprintf(out, "%s%s is slower on SimGrid than %s: %s for %s\n", before, division_names[method],
                division_names[fastest], readable_seconds(own, study->methods[method].simgrid),
                readable_seconds(other, study->methods[fastest].simgrid));
}

static void print_remarks(FILE *out, const struct division_study *study, unsigned method)
{
    const struct partition *partition = &study->methods[method].partition;
    if (study->kind_count > 1) {
        for (uint32_t kind = 0; kind < study->kind_count; kind++)
            fprintf(out, "%s%.2f %%%s to %u x %s", kind ? ", " : "level 0 gives ",
                    100 * share_of_kind(study, partition, kind), kind ? "" : " of each layer", study->counts[kind],
                    study->kinds[kind]);
        fputs(!partition->balanced     ? "\n"
              : study->kind_count == 2 ? ", with which both take equally long\n"
                                       : ", with which all take equally long\n",
              out);
    } else
        fprintf(out, "every level %s the layers among %u x %s\n",
                study->ways[study->levels - 1] == 2 ? "halves" : "divides", study->device_count, study->kinds[0]);
    division_print_slower(out, "", study, method);
}

/* ---- json ---- */

static void json_level(struct json_writer *json, const struct division_study *study,
                       const struct partition_level *level)
{
    json_object_begin(json, NULL, false);
    json_number(json, "share", level->shares[0]);
    json_array_begin(json, "shares", false);
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        json_number(json, NULL, level->shares[kind]);
    json_array_end(json);
    json_array_begin(json, "types", false);
    for (uint32_t layer = 0; layer < study->layer_count; layer++)
        json_text(json, NULL, type_names[level->types[layer]]);
    json_array_end(json);
    json_array_begin(json, "communication_s", false);
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        json_number(json, NULL, level->seconds[kind]);
    json_array_end(json);
    json_object_end(json);
}

static void json_division(struct json_writer *json, const struct division_study *study, unsigned method)
{
    const struct division *division = &study->methods[method];
    json_object_begin(json, NULL, true);
    json_text(json, "method", division_names[method]);
    json_flag(json, "balanced", division->partition.balanced);
    json_number(json, "predicted_s", division->predicted);
    json_number(json, "analytic_s", division->analytic);
    json_number(json, "simgrid_s", division->simgrid);
    json_number(json, "bubble", division->bubble);
    json_array_begin(json, "kind_shares", false);
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        json_number(json, NULL, share_of_kind(study, &division->partition, kind));
    json_array_end(json);
    json_array_begin(json, "computing_s", false);
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        json_number(json, NULL, division->computing[kind]);
    json_array_end(json);
    json_array_begin(json, "levels", true);
    for (uint32_t level = 0; level < study->levels; level++)
        json_level(json, study, &division->partition.level[level]);
    json_array_end(json);
    json_object_end(json);
}

static void print_json(FILE *out, const struct division_study *study, unsigned method)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_integer(&json, "schema", 1);
    json_text(&json, "method", division_names[method]);
    unsigned fastest = division_fastest(study);
    if (fastest < DIVISION_METHODS)
        json_text(&json, "fastest_on_simgrid", division_names[fastest]);
    json_array_begin(&json, "devices", false);
    for (uint32_t kind = 0; kind < study->kind_count; kind++)
        json_text(&json, NULL, study->kinds[kind]);
    json_array_end(&json);
    json_array_begin(&json, "layers", false);
    for (uint32_t layer = 0; layer < study->layer_count; layer++)
        json_text(&json, NULL, study->layers[layer]);
    json_array_end(&json);
    json_array_begin(&json, "divisions", true);
    for (unsigned i = 0; i < DIVISION_METHODS; i++)
        if (study->methods[i].found)
            json_division(&json, study, i);
    json_array_end(&json);
    json_object_end(&json);
    fputc('\n', out);
}

/* ---- all ---- */

void division_print(FILE *out, const struct division_study *study, unsigned method, enum table_format format)
{
    char *lines = NULL;
    size_t size = 0;
    if (format == TABLE_JSON) {
        print_json(out, study, method);
        return;
    }
    if (table_is_read(format)) {
        print_types(out, study, &study->methods[method].partition, format);
        table_remarks(out, format, "\n");
        FILE *remarks = table_remarks_begin(&lines, &size);
        print_remarks(remarks, study, method);
        table_remarks_end(out, format, remarks, &lines);
        table_remarks(out, format, "\n");
    }
    print_figures(out, study, format);
}

void division_write(FILE *out, const struct division_study *study, unsigned method)
{
    const struct partition *partition = &study->methods[method].partition;
    fprintf(out, "# %u ranks divided by stagesim layouts --method %s\n", study->device_count, division_names[method]);
    division_print_slower(out, "# ", study, method);
    fputs("layers:\n", out);
    for (uint32_t layer = 0; layer < study->layer_count; layer++) {
        fputs("- ", out);
        division_write_row(out, study, partition, layer);
        fputc('\n', out);
    }
}
