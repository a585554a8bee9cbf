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
    size_t count;
    const struct preset *presets = preset_table(&count);
    fprintf(out, "%-16s %4s  %-15s %-8s %-14s %-29s %9s  %9s  %-20s %9s  %s\n", "preset", "GPUs", "device", "memory",
            "peak", "links in a node", "pair GB/s", "ring GB/s", "network", "GB/s", "fabric");
    for (size_t i = 0; i < count; i++) {
        const struct preset *preset = &presets[i];
        const struct device_model *model = device_find(preset->device);
        char peak[32];
        peak_text(peak, sizeof peak, model);
        fprintf(out, "%-16s %4u  %-15s %-8s %-14s %-29s ", preset->name, preset->devices, model->name,
                model->memory ? model->memory : "-", peak, preset->links);
        print_rate(out, preset->peer_rate);
        print_rate(out, preset->ring_rate);
        fprintf(out, "%-20s ", preset->network);
        print_rate(out, preset->network_rate);
        fprintf(out, "%s\n", preset->fabric.name);
    }
    fputs("\nGPUs: devices of a node. Rates are those of one transfer: within a pair, each of a ring over the node in "
          "order, and from\n"
          "a device to another node. `stagesim platform generate PRESET --nodes N` writes the platform, with the "
          "source of each figure.\n",
          out);
}

static void write_rates(struct json_writer *json, const struct preset *preset)
{
    if (preset->peer_rate > 0)
        json_number(json, "pair_bytes_per_s", preset->peer_rate * 1e9);
    if (preset->ring_rate > 0)
        json_number(json, "ring_bytes_per_s", preset->ring_rate * 1e9);
    if (preset->network_rate > 0)
        json_number(json, "network_bytes_per_s", preset->network_rate * 1e9);
}

void preset_list_json(FILE *out)
{
    size_t count;
    const struct preset *presets = preset_table(&count);
    struct json_writer json = json_writer_init(out);
    json_array_begin(&json, NULL, true);
    for (size_t i = 0; i < count; i++) {
        const struct preset *preset = &presets[i];
        const struct device_model *model = device_find(preset->device);
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
        write_rates(&json, preset);
        json_object_end(&json);
    }
    json_array_end(&json);
    fputc('\n', out);
}
