/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/report_html.h"

#include "analysis/output/html.h"
#include "analysis/output/page_timeline.h"
#include "analysis/output/report_sections.h"
#include "analysis/pictures/picture_chart.h"
#include "base/arena.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS_MOST = 512, WORKERS_OPEN = 24, CURVES_MOST = 8 };

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

static void head(FILE *out, const struct report *report)
{
    const struct run_description *run = &report->run;
    char title[192], subtitle[384], mesh[160] = "";
    size_t used = 0;
    snprintf(title, sizeof title, "%.80s%s%.80s", run->scenario_name ? run->scenario_name : "",
             run->schedule ? ": " : "", run->schedule ? run->schedule : "");
    for (unsigned i = 0; report->mesh && i < report->mesh->name_count && used < sizeof mesh; i++)
        used += (size_t)snprintf(mesh + used, sizeof mesh - used, "%s%.20s %u", i ? " \xc3\x97 " : " (",
                                 report->mesh->names[i].name, report->mesh->names[i].size);
    if (report->mesh && report->mesh->extra && used < sizeof mesh)
        snprintf(mesh + used, sizeof mesh - used, ", servers %u", report->mesh->extra);
    snprintf(subtitle, sizeof subtitle,
             "Workload %.60s on %.80s, %u rank%s%s%s, %u micro-batch%s per replica, %.20s engine", run->workload,
             base_name(run->platform_file), report->ranks, readable_plural(report->ranks), mesh, *mesh ? ")" : "",
             report->micro_batches, report->micro_batches == 1 ? "" : "es", run->engine);
    html_begin(out, title, subtitle);
    if (run->asynchronous)
        fputs("<p class=\"warn\">This schedule updates weights while micro-batches are in flight: it is not equivalent "
              "to synchronous "
              "training. The iteration time is the interval between iterations in steady state.</p>\n",
              out);
}

static void tiles(FILE *out, const struct report *report)
{
    char text[READABLE_MAX + 16];
    fputs("<div class=\"tiles\">\n", out);
    html_tile(out, readable_seconds(text, report->iteration), "iteration time");
    html_tile(out, readable_percent(text, report->bubble), "bubble ratio");
    if (report->samples_per_s > 0) {
        snprintf(text, sizeof text, "%.4g /s", report->samples_per_s);
        html_tile(out, text, "samples");
    }
    if (report->mfu > 0)
        html_tile(out, readable_percent(text, report->mfu), "model flops utilization");
    if (report->peak_bytes > 0)
        html_tile(out, readable_binary_bytes(text, report->peak_bytes),
                  report->capacity_bytes > 0 && !report->fits ? "peak memory, does not fit" : "peak memory of a rank");
    snprintf(text, sizeof text, "%.4g", report->peak_in_flight);
    html_tile(out, text, "micro-batches in flight");
    fputs("</div>\n", out);
}

static void timeline_figure(FILE *out, const struct gantt *gantt)
{
    fputs("<h2>Timeline</h2>\n<div class=\"timelines\">\n", out);
    page_timeline_styles(out, &gantt, 1);
    page_timeline(out, gantt, gantt->end, NULL);
    fputs("</div>\n", out);
    page_timeline_legend(out, &gantt, 1);
    fputs("<p class=\"note\">The workers of the replica on which the critical path spends most time.</p>\n", out);
}

/* ---- figures ---- */

static void figure(FILE *out, const char *name, const char *definition, const char *value)
{
    fprintf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td><td class=\"d\">%s</td></tr>\n", name, value,
            definition);
}

static void group(FILE *out, const char *name)
{
    fprintf(out, "<tr><td class=\"g\" colspan=\"3\">%s</td></tr>\n", name);
}

static void number(FILE *out, const char *name, const char *definition, double value, const char *unit)
{
    char text[64];
    snprintf(text, sizeof text, "%.6g%s", value, unit);
    if (isfinite(value))
        figure(out, name, definition, text);
}

static void time_figures(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    figure(out, "Iteration time T",
           "From the start of an iteration's first operation on any rank to the end of its last; where iterations "
           "overlap, the interval "
           "between the ends of consecutive iterations in steady state",
           readable_seconds(text, report->iteration));
    figure(out, "Makespan", "Everything that was simulated", readable_seconds(text, report->makespan));
    if (report->samples_per_s > 0)
        number(out, "Throughput", "Global batch divided by T", report->samples_per_s, " samples/s");
    if (report->tokens_per_s > 0)
        number(out, "Tokens", "Samples per second times the sequence length", report->tokens_per_s, " tokens/s");
    if (report->model_flops_per_s_per_gpu > 0)
        figure(out, "Model flop/s per GPU",
               "Model flops, recomputation not counted, divided by T and the number of ranks",
               readable_flops(text, report->model_flops_per_s_per_gpu));
    if (report->mfu > 0)
        figure(out, "MFU", "Model flops / (T &times; ranks &times; peak of the precision in use)",
               readable_percent(text, report->mfu));
    if (report->hfu > 0)
        figure(out, "HFU", "The same with recomputed flops counted", readable_percent(text, report->hfu));
}

static void bubble_figures(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    figure(out, "Bubble ratio", "1 &minus; mean over ranks of busy time / T", readable_percent(text, report->bubble));
    for (int cause = 0; cause < CAUSES; cause++) {
        char name[48];
        snprintf(name, sizeof name, "of it %s", cause_names[cause]);
        figure(out, name, html_cause_definition(cause), readable_percent(text, report->causes[cause]));
    }
    figure(out, "Least bubble of a rank", "1 &minus; busy time / T of the busiest rank",
           readable_percent(text, report->bubble_min));
    figure(out, "Largest bubble of a rank", "1 &minus; busy time / T of the least busy rank",
           readable_percent(text, report->bubble_max));
    number(out, "Over ideal", "T / mean busy time &minus; 1", report->over_ideal, "");
    figure(out, "Largest bubble within a rank's span",
           "Largest over ranks of 1 &minus; busy time / (last end &minus; first start of its computations): the "
           "zero-bubble papers' "
           "convention",
           readable_percent(text, report->span_max));
}

static void resource_figures(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    figure(out, "Exposed communication",
           "A communication stream has data moving and the rank does not compute; mean over ranks",
           readable_seconds(text, report->exposed));
    figure(out, "Overlapped communication", "Data moving while the rank computes; mean over ranks",
           readable_seconds(text, report->overlapped));
    figure(out, "Bytes sent", "Bytes that leave a rank, messages and collectives, sum over ranks",
           readable_decimal_bytes(text, report->sent_bytes));
    number(
        out, "Peak in flight",
        "Largest sum of stashed activations on a rank, in units of one micro-batch's activations of one worker's share",
        report->peak_in_flight, "");
    if (report->peak_bytes > 0)
        figure(out, "Peak memory",
               "Weights, gradients, optimizer state, stash and buffers; largest over time and ranks",
               readable_binary_bytes(text, report->peak_bytes));
    if (report->capacity_bytes > 0 && report->peak_bytes > 0)
        figure(out, "Memory of a host", "As the platform says", readable_binary_bytes(text, report->capacity_bytes));
    if (report->energy >= 0)
        figure(out, "Energy",
               "All ranks' hosts, per iteration: full watts while a rank computes, idle watts for the rest of T",
               readable_joules(text, report->energy));
}

static void power_figures(FILE *out, const struct report *report)
{
    char text[READABLE_MAX], value[64];
    const struct power_figures *power = &report->power;
    if (power->clock <= 0)
        return;
    group(out, "Power");
    if (power->budget > 0)
        figure(out, "Budget", "All devices of the platform together", readable_watts(text, power->budget));
    if (power->cap > 0)
        figure(out, "Cap of a GPU", "As the scenario says, or its share of the budget where that is less",
               readable_watts(text, power->cap));
    number(out, "Clock",
           power->table
               ? "Share of the speed without a cap, by the scenario's table"
               : "Share of the full clock at which GPUs draw the cap, by the curve W&#8320; + (W&#8321; &minus; "
                 "W&#8320;) x<sup>&alpha;</sup>: an assumption",
           power->clock, "");
    figure(out, "All computing", "What the GPUs draw if all compute at once", readable_watts(text, power->peak));
    if (report->iteration > 0)
        figure(out, "Mean power", "Energy over T", readable_watts(text, report->energy / report->iteration));
    if (report->link_energy > 0)
        figure(out, "Energy of links", "Idle watts for all of T, and more while they carry something",
               readable_joules(text, report->link_energy));
    if (power->measured > 0)
        figure(out, "Energy by SimGrid", "Of the GPUs, measured by SimGrid's own plug-in",
               readable_joules(text, power->measured));
    if (power->carbon <= 0)
        return;
    snprintf(value, sizeof value, "%.6g kg", power->carbon);
    figure(out, "Carbon dioxide",
           report->training_s > 0 ? "Energy of the whole training &times; PUE &times; intensity"
                                  : "Energy of the simulated iterations &times; PUE &times; intensity",
           value);
    if (power->carbon_per_token > 0) {
        snprintf(value, sizeof value, "%.6g kg", power->carbon_per_token);
        figure(out, "Carbon dioxide per token", "That over the tokens", value);
    }
    number(out, "Intensity", "Grams for a kilowatt hour, the mean over the time", power->intensity, " g/kWh");
    number(out, "PUE", "Power of the data centre over that of its devices", power->pue, "");
}

static void tower_figures(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    double waits;
    if (!(report->run.figures.tower_seconds > 0))
        return;
    const struct worker_report *waiting = report_longest_waiting(report, &waits);
    group(out, "Towers");
    figure(out, "On a rank", "What towers compute in an iteration on a rank that has them, the mean of replicas",
           readable_seconds(text, report->run.figures.tower_seconds));
    figure(out, "On the replica with most", "The same where samples have most images, or most sound",
           readable_seconds(text, report->run.figures.tower_most));
    if (waiting)
        figure(out, "Longest wait of a worker", "For messages and collectives, in an iteration",
               readable_seconds(text, waits));
}

static void critical_figures(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    if (!report->has_critical_path)
        return;
    group(out, "Critical path");
    figure(out, "Length", "The chain of operations that determines the iteration time",
           readable_seconds(text, report->critical_length));
    figure(out, "of it computing", "Time of the computations on it", readable_seconds(text, report->critical_compute));
    figure(out, "of it messages", "Time in which it waits for messages",
           readable_seconds(text, report->critical_receive));
    figure(out, "of it collectives", "Time of the collectives on it",
           readable_seconds(text, report->critical_collective));
    if (report->critical_length <= 0)
        return;
    static const char gain[] = "How much shorter the iteration becomes, to first order";
    figure(out, "1 % less time to compute", gain,
           readable_percent(text, report->sensitive_compute / report->critical_length / 100));
    figure(out, "1 % less time per byte", gain,
           readable_percent(text, report->sensitive_bandwidth / report->critical_length / 100));
    figure(out, "1 % less latency", gain,
           readable_percent(text, report->sensitive_latency / report->critical_length / 100));
}

static void figures(FILE *out, const struct report *report)
{
    fputs("<h2>Figures</h2>\n<div class=\"wide\"><table class=\"f\">\n<tbody>\n", out);
    group(out, "Time");
    time_figures(out, report);
    group(out, "Idle time");
    bubble_figures(out, report);
    group(out, "Communication and resources");
    resource_figures(out, report);
    power_figures(out, report);
    tower_figures(out, report);
    critical_figures(out, report);
    fputs("</tbody>\n</table></div>\n", out);
}

/* ---- workers and links ---- */

static void worker_row(FILE *out, const struct report *report, const struct worker_report *worker, double whole)
{
    char text[READABLE_MAX];
    fprintf(out, "<tr><td class=\"n\">%u</td><td class=\"host\">", worker->position);
    html_text(out, worker->host ? worker->host : "");
    fprintf(out, "</td><td class=\"n\" data-v=\"%g\">%s</td>", worker->busy, readable_seconds(text, worker->busy));
    fprintf(out, "<td class=\"n\" data-v=\"%g\">%s</td><td>", worker->bubble, readable_percent(text, worker->bubble));
    html_cause_bar(out, worker->causes, whole);
    fprintf(out, "</td><td class=\"n\">%.4g</td>", worker->peak_in_flight);
    if (report->peak_bytes > 0)
        fprintf(out, "<td class=\"n\" data-v=\"%g\">%s</td>", worker->peak_bytes,
                readable_binary_bytes(text, worker->peak_bytes));
    if (report->run.staleness)
        fprintf(out, "<td class=\"n\">%u</td>", report->run.staleness[worker->position]);
    fputs("</tr>\n", out);
}

static void workers(FILE *out, const struct report *report)
{
    double whole = 0;
    for (uint32_t i = 0; i < report->worker_count; i++)
        whole = fmax(whole, report->workers[i].bubble);
    fputs("<h2>Workers</h2>\n", out);
    bool many = report->worker_count > WORKERS_OPEN;
    if (many)
        fprintf(out, "<details><summary>Each of %u workers</summary>\n", report->worker_count);
    fputs("<div class=\"wide\"><table class=\"sort\">\n<thead><tr><th "
          "class=\"n\">worker</th><th>host</th><th "
          "class=\"n\">busy</th>"
          "<th class=\"n\">bubble</th><th>why it is idle</th><th class=\"n\">in flight</th>",
          out);
    if (report->peak_bytes > 0)
        fputs("<th class=\"n\">peak memory</th>", out);
    if (report->run.staleness)
        fputs("<th class=\"n\"><dfn title=\"Updates between the weights used and the newest\">staleness</dfn></th>",
              out);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (uint32_t i = 0; i < report->worker_count && i < WORKERS_MOST; i++)
        worker_row(out, report, &report->workers[i], whole);
    fputs("</tbody>\n</table></div>\n", out);
    html_cause_legend(out);
    fputs(many ? "</details>\n" : "", out);
    if (report->worker_count > WORKERS_MOST)
        fprintf(out, "<p class=\"note\">The first %d of %u workers; summary.json has all.</p>\n", WORKERS_MOST,
                report->worker_count);
}

static void links(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    if (report->link_count == 0)
        return;
    fputs("<details><summary>The busiest links one by one</summary>\n<div class=\"wide\"><table "
          "class=\"sort\">\n<thead><tr><th>link</th><th class=\"n\">bytes</th><th "
          "class=\"n\">"
          "<dfn title=\"Bytes / (T &times; bandwidth)\">utilization</dfn></th><th></th></tr></thead>\n<tbody>\n",
          out);
    for (uint32_t i = 0; i < report->link_count; i++) {
        const struct link_report *link = &report->links[i];
        fputs("<tr><td>", out);
        html_text(out, link->name);
        fprintf(out, "</td><td class=\"n\" data-v=\"%g\">%s</td>", link->bytes,
                readable_decimal_bytes(text, link->bytes));
        fprintf(out, "<td class=\"n\" data-v=\"%g\">%s</td><td>", link->utilization,
                readable_percent(text, link->utilization));
        html_share_bar(out, link->utilization);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody>\n</table></div></details>\n", out);
}

/* ---- memory over time ---- */

/* The curves of some rows, evenly chosen; arrays of all of them in one block each. */
struct curves {
    struct chart_series series[CURVES_MOST];
    char names[CURVES_MOST][64];
    size_t count;
    double *x, *y;
};

static struct curves collect_curves(const struct gantt *gantt, bool bytes)
{
    struct curves curves = {0};
    size_t x_capacity = 0, y_capacity = 0, rows = gantt->row_count;
    curves.x = array_grow(NULL, &x_capacity, gantt->level_count + 1, sizeof *curves.x);
    curves.y = array_grow(NULL, &y_capacity, gantt->level_count + 1, sizeof *curves.y);
    size_t shown = rows < CURVES_MOST ? rows : CURVES_MOST, next = 0;
    for (size_t i = 0; i < gantt->level_count; i++) {
        const struct gantt_level *level = &gantt->levels[i];
        bool begins = i == 0 || gantt->levels[i - 1].row != level->row;
        if (begins && next < shown && level->row == (shown > 1 ? next * (rows - 1) / (shown - 1) : 0)) {
            snprintf(curves.names[next], sizeof curves.names[next], "worker %s", gantt->rows[level->row].label);
            curves.series[curves.count++] = (struct chart_series){NULL, CHART_STEPS, curves.x + i, curves.y + i, 0};
            next++;
        }
        curves.x[i] = level->time;
        curves.y[i] = bytes ? level->bytes : level->in_flight;
        bool chosen = curves.count > 0 && level->row == (shown > 1 ? (next - 1) * (rows - 1) / (shown - 1) : 0);
        if (chosen)
            curves.series[curves.count - 1].count++;
    }
    return curves;
}

/* Whether the workload says how many bytes activations take. */
static bool knows_activations(const struct gantt *gantt)
{
    for (size_t i = 1; i < gantt->level_count; i++) {
        if (gantt->levels[i].row == gantt->levels[i - 1].row && gantt->levels[i].bytes != gantt->levels[i - 1].bytes)
            return true;
    }
    return false;
}

static bool memory_figure(FILE *out, const struct report *report, const struct gantt *gantt, struct fault *fault)
{
    bool bytes = knows_activations(gantt);
    if (gantt->level_count == 0)
        return true;
    struct curves curves = collect_curves(gantt, bytes);
    for (size_t i = 0; i < curves.count; i++)
        curves.series[i].name = curves.names[i];
    struct chart chart = {.title = bytes ? "Memory over time" : "Activations in flight", .width = 1080, .height = 330};
    chart.x = (struct chart_axis){"time", CHART_SECONDS, false};
    chart.y =
        (struct chart_axis){bytes ? "memory of a rank" : "micro-batches", bytes ? CHART_BYTES : CHART_NUMBER, false};
    chart.series = curves.series;
    chart.series_count = curves.count;
    if (bytes && report->capacity_bytes > 0 && report->peak_bytes > 0.5 * report->capacity_bytes) {
        chart.limit = report->capacity_bytes;
        chart.limit_name = "memory of the host";
    }
    fputs("<h2>Memory</h2>\n", out);
    bool done = html_no_picture(out);
    if (!done) {
        fputs("<figure class=\"paper\">\n", out);
        done = picture_chart(&chart, CANVAS_SVG, &(struct picture_form){.prefix = "memory"}, out, fault);
        fputs("</figure>\n", out);
    }
    free(curves.x);
    free(curves.y);
    return done;
}

bool report_html(FILE *out, const struct report *report, const struct gantt *gantt, struct fault *fault)
{
    head(out, report);
    report_verdict(out, report);
    tiles(out, report);
    report_about(out, report);
    report_imported(out, report);
    timeline_figure(out, gantt);
    report_idle(out, report);
    workers(out, report);
    report_memory(out, report);
    bool done = memory_figure(out, report, gantt, fault);
    report_training(out, report);
    report_link_kinds(out, report);
    links(out, report);
    figures(out, report);
    html_end(out);
    return done;
}
