/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "analysis/output/report_sections.h"
#include "base/arena.h"
#include "base/table.h"
#include "simulator/tails/tails_text.h"
#include "training/forecast_text.h"

#include <math.h>
#include <string.h>

/* A price for people: "15.5 million USD". */
static void put_money(FILE *out, double amount, const char *currency)
{
    struct arena *arena = arena_create();
    html_text(out, forecast_money(amount, currency, arena));
    arena_destroy(arena);
}

/* A count for people: "15 T". */
static void put_tokens(FILE *out, double tokens)
{
    static const struct {
        double scale;
        const char *name;
    } scales[] = {{1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1, ""}};
    size_t i = 0;
    while (i < 3 && tokens < scales[i].scale)
        i++;
    fprintf(out, "%.4g%s", tokens / scales[i].scale, scales[i].name);
}

static void put_what(FILE *out, const struct report *report)
{
    const struct run_description *run = &report->run;
    html_text(out, run->model ? run->model : run->scenario_name ? run->scenario_name : run->workload);
    fprintf(out, " on %u ", report->ranks);
    if (run->gpu)
        html_text(out, run->gpu);
    else
        fprintf(out, "GPU%s", readable_plural(report->ranks));
}

/* How much memory such jobs were measured to need. */
static void put_outlook(FILE *out, const struct report *report)
{
    char low[READABLE_MAX], high[READABLE_MAX], jobs[BAND_JOBS_MAX];
    const struct memory_outlook *outlook = &report->outlook;
    if (!outlook->jobs)
        return;
    fprintf(out, " (%s to %s in 8 of 10 cases, ", readable_binary_bytes(low, outlook->low),
            readable_binary_bytes(high, outlook->high));
    memory_band_say_sure(out, outlook->sure);
    fputs(", from ", out);
    html_text(out, band_jobs_text(&report->run.memory.band, jobs));
    fputc(')', out);
}

static void put_memory(FILE *out, const struct report *report)
{
    char peak[READABLE_MAX], other[READABLE_MAX];
    if (report->peak_bytes <= 0 || report->capacity_bytes <= 0)
        return;
    if (report->fits)
        fprintf(out, ", <b>fits</b> with %s to spare",
                readable_binary_bytes(peak, fmax(0, report->capacity_bytes - report->peak_bytes)));
    else
        fprintf(out, ", <b>does not fit</b>: a GPU needs %s of %s", readable_binary_bytes(peak, report->peak_bytes),
                readable_binary_bytes(other, report->capacity_bytes));
    put_outlook(out, report);
}

/* What a transfer is for, in words. */
static const char *transfer_words(const struct critical_transfer *transfer)
{
    static const char *const words[][2] = {
        {"tensor", "tensor-parallel collectives"},      {"context", "context-parallel exchanges"},
        {"expert", "tokens on their way to experts"},   {"gradient-sync", "gradient synchronisation"},
        {"parameter-gather", "gathers of parameters"},  {"activation", "activations between stages"},
        {"gradient", "gradients between stages"},       {"weights", "weights between workers"},
        {"gradient-share", "gradients between workers"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i][0], transfer->kind))
            return words[i][1];
    return transfer->collective ? "collectives" : "messages";
}

static void put_idle(FILE *out, const struct report *report)
{
    static const char *const reasons[IDLE_PARTS] = {[IDLE_ORDER] =
                                                        "the order of the schedule (filling, draining, its own waits)",
                                                    [IDLE_IMBALANCE] = "stages of unequal work",
                                                    [IDLE_TRANSFER] = "moving data",
                                                    [IDLE_CONTENTION] = "transfers that slow each other down"};
    char text[READABLE_MAX];
    int most = 0;
    fprintf(out, "GPUs are idle for %s of the time", readable_percent(text, report->bubble));
    for (int part = 1; part < IDLE_PARTS; part++)
        most = report->idle.shares[part] > report->idle.shares[most] ? part : most;
    if (report->idle.known && report->bubble > 0.001) {
        double share = report->idle.shares[most] / report->bubble;
        fprintf(out, ", %s because of %s",
                share > 0.9   ? "nearly all of it"
                : share > 0.5 ? "mostly"
                              : "most of all",
                reasons[most]);
        if (most >= IDLE_TRANSFER && report->critical_transfer.kind)
            fprintf(out, ", first of all %s", transfer_words(&report->critical_transfer));
    }
    if (report->link_kind_count && report->link_kinds[0].utilization_max > 0) {
        fputs("; the busiest links are ", out);
        html_text(out, report->link_kinds[0].name);
        fprintf(out, " (%s of their time)", readable_percent(text, report->link_kinds[0].utilization_max));
    }
    fputs(". ", out);
}

static void put_forecast(FILE *out, const struct report *report)
{
    struct arena *arena = arena_create();
    if (report->forecast.known) {
        fputc(' ', out);
        html_text(out, forecast_sentence(&report->forecast, report->run.currency, arena));
        fputc('.', out);
    }
    arena_destroy(arena);
}

/* How much steps vary. */
static void put_tails(FILE *out, const struct report *report)
{
    struct arena *arena = arena_create();
    if (report->tails.known)
        fprintf(out, " %s.", tails_sentence(&report->tails, arena));
    arena_destroy(arena);
}

static void put_training(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    if (report->training_s <= 0) {
        put_forecast(out, report);
        return;
    }
    put_tokens(out, report->run.figures.tokens);
    double days = report->training_s / 86400;
    fprintf(out, days >= 100 ? " tokens take <b>%.0f days</b>" : " tokens take <b>%.3g days</b>", days);
    if (report->energy >= 0 && report->iteration > 0)
        fprintf(out, ", %s", readable_watt_hours(text, report->energy * (report->training_s / report->iteration)));
    if (report->training_cost > 0) {
        fputs(" and <b>", out);
        put_money(out, report->training_cost, report->run.currency);
        fputs("</b>", out);
    }
    fputs(".", out);
    put_forecast(out, report);
}

/* Where measured times of such jobs lay. */
static void put_band(FILE *out, const struct report *report)
{
    char low[READABLE_MAX], high[READABLE_MAX], jobs[BAND_JOBS_MAX];
    const struct band *band = &report->run.band;
    if (!band->rows)
        return;
    fprintf(out, " (%s to %s in 8 of 10 cases, from ", readable_seconds(low, report->iteration * band->low),
            readable_seconds(high, report->iteration * band->high));
    html_text(out, band_jobs_text(band, jobs));
    fputc(')', out);
}

/* How far the best layout is, and how to get there. */
static void put_nearest(FILE *out, const struct nearest *nearest)
{
    struct arena *arena = arena_create();
    if (nearest->layouts) {
        fputs(" The layout is, without contention, ", out);
        html_text(out, nearest_sentence(nearest, arena));
        fputs(": <code>", out);
        html_text(out, nearest->command);
        fputs("</code>.", out);
    }
    arena_destroy(arena);
}

static void put_imported(FILE *out, const char *summary)
{
    if (!summary)
        return;
    fputs("Imported from ", out);
    html_text(out, summary);
    fputs(" (<a href=\"#imported\">which</a>). ", out);
}

void report_verdict(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    fputs("<p class=\"verdict\">", out);
    put_what(out, report);
    fprintf(out, ": <b>%s an iteration</b>", readable_seconds(text, report->iteration));
    put_band(out, report);
    if (report->mfu > 0)
        fprintf(out, ", %s MFU", readable_percent(text, report->mfu));
    put_memory(out, report);
    fputs(". ", out);
    if (report->run.calibration)
        fprintf(out, "Calibrated with %s. ", report->run.calibration);
    put_imported(out, report->run.imported.summary);
    put_idle(out, report);
    put_tails(out, report);
    put_training(out, report);
    put_nearest(out, &report->run.nearest);
    fputs("</p>\n", out);
}

/* ---- the training ---- */

static void row_begin(FILE *out, const char *name)
{
    fprintf(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">", name);
}

static void row_end(FILE *out, const char *definition)
{
    fprintf(out, "</td><td class=\"d\">%s</td></tr>\n", definition);
}

void report_training(FILE *out, const struct report *report)
{
    char text[READABLE_MAX];
    const struct run_description *run = &report->run;
    if (report->training_s <= 0 && report->million_tokens_cost <= 0)
        return;
    fputs("<h2>The whole training</h2>\n<div class=\"wide\"><table class=\"f\">\n<tbody>\n", out);
    if (report->training_s > 0) {
        row_begin(out, "Time");
        fprintf(out, "%.4g days", report->training_s / 86400);
        row_end(out,
                report->forecast.known
                    ? "Tokens of the whole training over tokens per second"
                    : "Tokens of the whole training over tokens per second; no failures, checkpoints or evaluation");
        row_begin(out, "Tokens");
        put_tokens(out, run->figures.tokens);
        row_end(out, "As the scenario says: <code>transformer.tokens</code>");
    }
    if (report->training_s > 0 && report->energy >= 0 && report->iteration > 0) {
        row_begin(out, "Energy");
        fputs(readable_watt_hours(text, report->energy * (report->training_s / report->iteration)), out);
        row_end(out,
                "Hosts of all ranks; full watts while a rank computes, idle watts otherwise; no switches, cooling");
    }
    if (report->training_s > 0 && report->power.carbon > 0) {
        row_begin(out, "Carbon dioxide");
        fprintf(out, "%.4g kg", report->power.carbon);
        row_end(out, "That energy, with the PUE of the scenario, times the carbon intensity of its electricity");
    }
    if (report->training_cost > 0) {
        row_begin(out, "Cost");
        put_money(out, report->training_cost, run->currency);
        row_end(out, "Price of a GPU for an hour times GPUs times hours");
    }
    if (report->million_tokens_cost > 0) {
        row_begin(out, "Cost of a million tokens");
        put_money(out, report->million_tokens_cost, run->currency);
        row_end(out, "The same for a million tokens");
    }
    if (run->figures.price > 0) {
        row_begin(out, "Price of a GPU for an hour");
        put_money(out, run->figures.price, run->currency);
        row_end(out, "As the scenario says: <code>transformer.price</code>, in <code>transformer.currency</code>");
    }
    fputs("</tbody>\n</table></div>\n", out);
}
