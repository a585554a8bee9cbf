/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"
#include "commands/platform/platform_text.h"
#include "platforms/presets/presets.h"

static void peak_text(char *text, size_t size, const struct device_model *model)
{
    snprintf(text, size, "%.10g Tf %s", model->peak[model->precision], precision_name(model->precision));
}

/* A rate in GB/s, or a dash where there is no such pair. */
static void print_rate(FILE *out, double rate)
{
    if (rate > 0)
        fprintf(out, "%9.6g  ", rate);
    else
        fprintf(out, "%9s  ", "-");
}

void preset_list_text(FILE *out)
{
    struct diag diag = {.out = stderr};
    size_t count;
    const struct preset *const *presets = preset_table(&count, &diag);
    fprintf(out, "%-16s %4s  %-15s %-8s %-14s %-29s %9s  %9s  %-20s %9s  %s\n", "preset", "GPUs", "device", "memory",
            "peak", "links in a node", "pair GB/s", "ring GB/s", "network", "GB/s", "fabric");
    for (size_t i = 0; i < count; i++) {
        const struct preset *preset = presets[i];
        const struct device_model *model = preset->plan.device;
        const struct preset_rates rates = preset_rates(preset);
        char peak[32];
        peak_text(peak, sizeof peak, model);
        fprintf(out, "%-16s %4u  %-15s %-8s %-14s %-29s ", preset->name, preset->devices, model->name,
                model->memory ? model->memory : "-", peak, preset->links);
        print_rate(out, rates.peer);
        print_rate(out, rates.ring);
        fprintf(out, "%-20s ", preset->network);
        print_rate(out, rates.network);
        fprintf(out, "%s\n", preset->fabric.name);
    }
    fputs("\nGPUs: devices of a node. Rates are those of one transfer: within a pair, each of a ring over the node in "
          "order, and from\n"
          "a device to another node. `stagesim platform generate PRESET --nodes N` writes the platform, with the "
          "source of each figure.\n",
          out);
}

static void rate_cell(struct table *table, double rate)
{
    if (rate > 0)
        table_cell(table, "%.6g", rate);
    else
        table_cell(table, "%s", "");
    if (rate > 0)
        table_value(table, rate);
}

void preset_list_table(FILE *out, enum table_format format)
{
    static const char *const titles[] = {"preset",    "GPUs",      "device",  "memory",       "peak",  "links",
                                         "pair GB/s", "ring GB/s", "network", "network GB/s", "fabric"};
    static const char aligns[] = "<><<><>><><";
    struct diag diag = {.out = stderr};
    size_t count;
    const struct preset *const *presets = preset_table(&count, &diag);
    struct table *table = table_create();
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_column(table, titles[i], aligns[i]);
    for (size_t i = 0; i < count; i++) {
        const struct preset *preset = presets[i];
        const struct device_model *model = preset->plan.device;
        const struct preset_rates rates = preset_rates(preset);
        char peak[32];
        peak_text(peak, sizeof peak, model);
        table_cell(table, "%s", preset->name);
        table_cell(table, "%u", preset->devices);
        table_value(table, preset->devices);
        table_cell(table, "%s", model->name);
        table_cell(table, "%s", model->memory ? model->memory : "");
        table_cell(table, "%s", peak);
        table_cell(table, "%s", preset->links);
        rate_cell(table, rates.peer);
        rate_cell(table, rates.ring);
        table_cell(table, "%s", preset->network);
        rate_cell(table, rates.network);
        table_cell(table, "%s", preset->fabric.name);
    }
    table_finish(table, out, (struct table_style){format, 0});
}

static void write_rates(struct json_writer *json, struct preset_rates rates)
{
    if (rates.peer > 0)
        json_number(json, "pair_bytes_per_s", rates.peer * 1e9);
    if (rates.ring > 0)
        json_number(json, "ring_bytes_per_s", rates.ring * 1e9);
    if (rates.network > 0)
        json_number(json, "network_bytes_per_s", rates.network * 1e9);
}

void preset_list_json(FILE *out)
{
    struct diag diag = {.out = stderr};
    size_t count;
    const struct preset *const *presets = preset_table(&count, &diag);
    struct json_writer json = json_writer_init(out);
    json_array_begin(&json, NULL, true);
    for (size_t i = 0; i < count; i++) {
        const struct preset *preset = presets[i];
        const struct device_model *model = preset->plan.device;
        const struct preset_rates rates = preset_rates(preset);
        json_object_begin(&json, NULL, true);
        json_text(&json, "name", preset->name);
        json_text(&json, "summary", preset->summary);
        json_integer(&json, "gpus_per_node", preset->devices);
        json_text(&json, "device", model->name);
        if (model->memory)
            json_text(&json, "memory", model->memory);
        json_text(&json, "precision", precision_name(model->precision));
        json_number(&json, "peak_flops_per_s", model->peak[model->precision] * 1e12);
        json_text(&json, "links", preset->links);
        json_text(&json, "network", preset->network);
        json_text(&json, "fabric", preset->fabric.name);
        write_rates(&json, rates);
        json_object_end(&json);
    }
    json_array_end(&json);
    fputc('\n', out);
}
