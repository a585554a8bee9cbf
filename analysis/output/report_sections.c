/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/report_sections.h"

#include "analysis/output/html.h"
#include "base/table.h"

#include <math.h>
#include <string.h>

/* ---- what it is about ---- */

static void entry(FILE *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    fprintf(out, "<dt>%s</dt><dd>", name);
    html_text(out, value);
    fputs("</dd>\n", out);
}

static void layout_text(const struct report *report, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (unsigned i = 0; report->mesh && i < report->mesh->name_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.20s %u", i ? " \xc3\x97 " : "",
                                 report->mesh->names[i].name, report->mesh->names[i].size);
    if (report->mesh && report->mesh->extra && used < size)
        used += (size_t)snprintf(text + used, size - used, ", servers %u", report->mesh->extra);
    if (report->micro_batches && used < size)
        snprintf(text + used, size - used, "; %u micro-batch%s per replica", report->micro_batches,
                 report->micro_batches == 1 ? "" : "es");
}

static void put_list(FILE *out, const char *name, const struct stagesim_texts *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (i == 0)
            fprintf(out, "<dt>%s</dt>", name);
        fputs("<dd>", out);
        html_text(out, list->texts[i]);
        fputs("</dd>\n", out);
    }
}

void report_imported(FILE *out, const struct report *report)
{
    const struct run_imported *imported = &report->run.imported;
    if (!imported->summary)
        return;
    fputs("<details id=\"imported\"><summary>What the import left open</summary>\n<dl>\n", out);
    entry(out, "from", imported->summary);
    put_list(out, "not modelled", &imported->not_modelled);
    put_list(out, "not known", &imported->not_known);
    put_list(out, "assumed", &imported->assumed);
    fputs("</dl></details>\n", out);
}

void report_about(FILE *out, const struct report *report)
{
    const struct run_description *run = &report->run;
    char layout[256], versions[128];
    layout_text(report, layout, sizeof layout);
    snprintf(versions, sizeof versions, "stagesim %s%s%.24s", STAGESIM_VERSION, run->simgrid ? ", SimGrid " : "",
             run->simgrid ? run->simgrid : "");
    fputs("<details><summary>Model, layout, platform, versions, inputs</summary>\n<dl>\n", out);
    entry(out, "model", run->model ? run->model : run->workload);
    entry(out, "layout", layout);
    entry(out, "schedule", run->schedule);
    entry(out, "precision", run->precision);
    entry(out, "framework", run->release);
    entry(out, "platform", run->platform_file);
    entry(out, "GPU", run->gpu);
    entry(out, "engine", run->engine);
    entry(out, "versions", versions);
    if (run->command) {
        fputs("<dt>command</dt><dd><code>", out);
        html_text(out, run->command);
        fputs("</code></dd>\n", out);
    }
    for (size_t i = 0; i < run->input_count; i++) {
        fputs(i ? "<dd><code>" : "<dt>inputs</dt><dd><code>", out);
        html_text(out, run->inputs[i]);
        fputs("</code></dd>\n", out);
    }
    fputs("</dl></details>\n", out);
}

/* ---- idle time ---- */

/* A smaller share of the iteration is what rounding leaves. */
static const double rounding = 1e-9;

void report_idle(FILE *out, const struct report *report)
{
    static const char *const helps[IDLE_PARTS] = {[IDLE_ORDER] = "more micro-batches, another schedule",
                                                  [IDLE_IMBALANCE] = "layers moved from busy stages to idle ones",
                                                  [IDLE_TRANSFER] = "a faster network, fewer bytes, more overlap",
                                                  [IDLE_CONTENTION] =
                                                      "another placement of ranks, messages at other times"};
    char text[READABLE_MAX];
    double most = 1e-12;
    if (!report->idle.known)
        return;
    for (int part = 0; part < IDLE_PARTS; part++)
        most = fmax(most, fabs(report->idle.shares[part]));
    fputs(
        "<h2>Why GPUs are idle</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>because of</th><th class=\"n\"><dfn "
        "title=\"Share of the iteration time, mean over ranks\">share of T</dfn></th><th class=\"n\">time</th><th></th>"
        "<th>what helps</th></tr></thead>\n<tbody>\n",
        out);
    for (int part = 0; part < IDLE_PARTS; part++) {
        double share = fabs(report->idle.shares[part]) < rounding ? 0 : report->idle.shares[part];
        fprintf(out, "<tr%s><th><dfn title=\"%s\">%s</dfn></th>", fabs(share) == most ? " class=\"best\"" : "",
                idle_definitions[part], idle_names[part]);
        fprintf(out, "<td class=\"n\">%s</td>", readable_percent(text, share));
        fprintf(out, "<td class=\"n\">%s</td><td>", readable_seconds(text, share * report->iteration));
        html_share_bar(out, fmax(0, share) / most);
        fprintf(out, "</td><td class=\"help\">%s</td></tr>\n", helps[part]);
    }
    fprintf(out, "<tr><th>together</th><td class=\"n\">%s</td>", readable_percent(text, report->bubble));
    fprintf(out, "<td class=\"n\">%s</td><td></td><td></td></tr>\n</tbody>\n</table></div>\n",
            readable_seconds(text, report->bubble * report->iteration));
    if (report->idle.alone.iteration <= 0)
        return;
    fprintf(out, "<p class=\"note\">An iteration would take %s", readable_seconds(text, report->idle.free.iteration));
    fprintf(out, " if data moved in no time, and %s if transfers did not slow each other down.</p>\n",
            readable_seconds(text, report->idle.alone.iteration));
}

/* ---- memory ---- */

struct part {
    const char *name, *definition;
    double bytes;
};

static void memory_rows(FILE *out, const struct part *parts, size_t count, double whole)
{
    char text[READABLE_MAX];
    for (size_t i = 0; i < count; i++) {
        if (parts[i].bytes <= 0)
            continue;
        fprintf(out, "<tr><th><dfn title=\"%s\">%s</dfn></th><td class=\"n\">%s</td>", parts[i].definition,
                parts[i].name, readable_binary_bytes(text, parts[i].bytes));
        fprintf(out, "<td class=\"n\">%s</td><td>", readable_percent(text, parts[i].bytes / whole));
        html_share_bar(out, parts[i].bytes / whole);
        fputs("</td></tr>\n", out);
    }
}

static void levers(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    if (!report->lever_count)
        return;
    fputs("<p class=\"note\">It would need less with", out);
    for (uint32_t i = 0; i < report->lever_count; i++) {
        fprintf(out, "%s <code>--set ", i ? "," : "");
        html_text(out, report->levers[i].setting);
        fprintf(out, "</code> (%s%s)", readable_binary_bytes(text, report->levers[i].peak_bytes),
                report->levers[i].fits ? ", fits" : "");
    }
    fputs(".</p>\n", out);
}

void report_memory(FILE *out, const struct report *report)
{
    const struct memory_parts *held = &report->parts;
    double gpu = report->capacity_bytes > 0 ? report->capacity_bytes / (1 - report->run.reserve) : 0;
    double used = held->parameters + held->gradients + held->optimizer + held->buffers + held->activations;
    if (report->peak_bytes <= 0 || used <= 0)
        return;
    const struct part parts[] = {
        {"weights", "Parameters, all copies and versions", held->parameters},
        {"gradients", "Of the weights, accumulated over micro-batches", held->gradients},
        {"optimizer", "Master weights and moments", held->optimizer},
        {"activations", "Stashed for the backward, at the peak", held->activations},
        {"buffers", "What does not depend on micro-batches", held->buffers},
        {"held back", "A share of the GPU's memory that no job can use: memory.reserve", gpu * report->run.reserve},
        {"free", "What is left", gpu - gpu * report->run.reserve - used}};
    char text[READABLE_MAX];
    fputs("<h2>Memory of the fullest GPU</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>for</th><th "
          "class=\"n\">bytes</th>"
          "<th class=\"n\">share</th><th></th></tr></thead>\n<tbody>\n",
          out);
    memory_rows(out, parts, sizeof parts / sizeof *parts, gpu > used ? gpu : used);
    if (gpu > 0)
        fprintf(out, "<tr><th>%s</th><td class=\"n\">%s</td><td></td><td></td></tr>\n", "the GPU has",
                readable_binary_bytes(text, gpu));
    fputs("</tbody>\n</table></div>\n", out);
    levers(out, report);
}

/* ---- links ---- */

void report_link_kinds(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    if (!report->link_kind_count)
        return;
    fputs("<h2>Links</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th>kind</th><th class=\"n\"><dfn "
          "title=\"Each direction by itself: used, and there\">links</dfn></th><th class=\"n\">each</th><th "
          "class=\"n\">bytes</th><th class=\"n\"><dfn title=\"Bytes / (T &times; bandwidth), mean over the links that "
          "are "
          "used\">utilization</dfn></th><th class=\"n\">busiest</th><th></th></tr></thead>\n<tbody>\n",
          out);
    for (uint32_t i = 0; i < report->link_kind_count; i++) {
        const struct link_kind *kind = &report->link_kinds[i];
        fprintf(out, "<tr%s><th class=\"kind\">", i ? "" : " class=\"best\"");
        html_text(out, kind->name);
        fprintf(out, "%s</th>", i ? "" : " <span class=\"badge\">the bottleneck</span>");
        fprintf(out, "<td class=\"n\" data-v=\"%u\">%u of %u</td>", kind->used, kind->used, kind->count);
        fprintf(out, "<td class=\"n\" data-v=\"%g\">%s/s</td>", kind->bandwidth,
                readable_decimal_bytes(text, kind->bandwidth));
        fprintf(out, "<td class=\"n\" data-v=\"%g\">%s</td>", kind->bytes, readable_decimal_bytes(text, kind->bytes));
        fprintf(out, "<td class=\"n\" data-v=\"%g\">%s</td>", kind->utilization,
                readable_percent(text, kind->utilization));
        fprintf(out, "<td class=\"n\" data-v=\"%g\">%s</td><td>", kind->utilization_max,
                readable_percent(text, kind->utilization_max));
        html_share_bar(out, kind->utilization);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n", out);
}
