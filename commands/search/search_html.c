/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/search_html.h"

#include "analysis/output/html.h"
#include "base/arena.h"
#include "base/table.h"
#include "commands/search/search_picture.h"
#include "commands/search/search_view.h"
#include "studies/search/training.h"

#include <string.h>

typedef unsigned long long number;

/* ---- the verdict ---- */

/* "data 16, tensor 1, ...". */
static void put_layout(FILE *out, const struct search *search, uint32_t place)
{
    struct arena *arena = arena_create();
    const char *values[DIMENSIONS], *separator = "";
    search_space_values(&search->space, search->ranked[search->best[place]], values, arena);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++) {
        if (!search->space.shown[i] || !values[i])
            continue;
        fprintf(out, "%s%s <b>", separator, search_dimension_name(i));
        html_text(out, values[i]);
        fputs("</b>", out);
        separator = ", ";
    }
    arena_destroy(arena);
}

static void put_verdict(FILE *out, const struct search *search, uint32_t top)
{
    const struct search_result *first = search_best(search, 0);
    const char *asynchronous = search_asynchronous(search, top);
    char text[READABLE_MAX];
    fprintf(out, "<p class=\"verdict\">%s of %llu layouts on %s GPUs takes %s%s: ", search_first_words(search),
            (number)search->space.count, search->space.gpus_text, readable_seconds(text, search_time(first)),
            first->verified.iteration > 0 ? " with contention, on SimGrid" : " without contention");
    put_layout(out, search, 0);
    fputc('.', out);
    if (search->best_count > 1) {
        fputs(" It is ", out);
        search_verdict(out, search);
        fputc('.', out);
    }
    if (search->scenario->calibration) {
        fputs(" Calibrated with ", out);
        html_text(out, search->scenario->calibration);
        fputc('.', out);
    }
    if (search->scenario->imported) {
        fputs(" Imported from ", out);
        html_text(out, search->scenario->imported->summary);
        fputs("; <code>about.json</code> has all of it.", out);
    }
    fputs("</p>\n", out);
    if (search->stopped)
        fprintf(out,
                "<p class=\"warn\">The search was stopped early: %llu candidates were not looked at, %llu not timed. "
                "This is the best so far.</p>\n",
                (number)search->untried, (number)search->waiting);
    if (asynchronous)
        fprintf(out,
                "<p class=\"warn\">%s is asynchronous: it trains on stale weights and is not equivalent to synchronous "
                "training.</p>\n",
                asynchronous);
}

/* What a whole training with the layout comes to. */
static void put_training_tiles(FILE *out, const struct search *search, const struct search_result *first)
{
    char text[READABLE_MAX + 16];
    const struct search_training *training = search_training_shown(first);
    if (search->objective < OBJECTIVE_DAYS || !(training->seconds > 0))
        return;
    snprintf(text, sizeof text, "%.4g days", training->seconds / 86400);
    html_tile(out, text, "training, median");
    snprintf(text, sizeof text, "%.4g", training->price);
    if (training->price > 0)
        html_tile(out, text, "price of the training");
    html_tile(out, readable_percent(text, training->goodput), "goodput");
}

static void put_tiles(FILE *out, const struct search *search)
{
    const struct search_result *first = search_best(search, 0);
    char text[READABLE_MAX + 16];
    fputs("<div class=\"tiles\">\n", out);
    html_tile(out, readable_seconds(text, search_time(first)), "iteration time");
    put_training_tiles(out, search, first);
    if (search_counts_energy(search))
        html_tile(out, readable_joules(text, first->verified.iteration > 0 ? first->verified.energy : first->energy),
                  "energy of an iteration");
    if (search_quantile_name(search)) {
        char name[32];
        snprintf(name, sizeof name, "%s of steps that vary", search_quantile_name(search));
        html_tile(out, readable_seconds(text, search_step_shown(first)), name);
    }
    snprintf(text, sizeof text, "%.4g /s", search_at_time(first, first->samples_per_s));
    html_tile(out, text, "samples");
    if (first->mfu > 0)
        html_tile(out, readable_percent(text, search_at_time(first, first->mfu)), "model flops utilization");
    html_tile(out, readable_percent(text, search_bubble(first)), "bubble ratio");
    if (search_is_exposed_known(search, 0))
        html_tile(out, readable_percent(text, search->exposed[0]), "exposed communication");
    if (first->peak_bytes > 0)
        html_tile(out, readable_binary_bytes(text, first->peak_bytes), "peak memory of a GPU");
    struct memory_outlook outlook = search_outlook(search, first);
    if (outlook.jobs && outlook.sure >= 0) {
        snprintf(text, sizeof text, "%.0f of 100", memory_band_hundredths(outlook.sure));
        html_tile(out, text, "such jobs in which it fits");
    }
    fputs("</div>\n", out);
}

/* ---- the best ---- */

/* A name that may be broken behind its _. */
static const char *head_of(enum search_dimension dimension, char *text, size_t size)
{
    const char *name = search_dimension_name(dimension), *second = strchr(name, '_');
    if (second)
        snprintf(text, size, "%.*s<wbr>%s", (int)(second + 1 - name), name, second + 1);
    else
        snprintf(text, size, "%s", name);
    return text;
}

static void put_heads(FILE *out, const struct search *search, bool verified)
{
    char name[64];
    fputs("<h2>The best</h2>\n<style>.tight th,.tight td{padding:5px 6px;font-size:13px}</style>\n"
          "<div class=\"wide\"><table class=\"sort tight\">\n<thead><tr><th class=\"n\">rank</th>",
          out);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (search->space.shown[i])
            fprintf(out, "<th%s>%s</th>", search_dimension_is_number(search, i) ? " class=\"n\"" : "",
                    head_of(i, name, sizeof name));
    fprintf(out, "<th class=\"n\">iteration</th>%s", verified ? "<th class=\"n\">analytic</th>" : "");
    if (search_counts_energy(search))
        fputs("<th class=\"n\">energy</th>", out);
    if (search_quantile_name(search))
        fprintf(out, "<th class=\"n\">%s</th>", search_quantile_name(search));
    if (search_trains(search->scenario))
        fputs("<th class=\"n\">days</th><th class=\"n\">price</th><th class=\"n\">goodput</th>", out);
    fputs("<th class=\"n\">samples/s</th><th class=\"n\">MFU</th><th class=\"n\">bubble</th>"
          "<th class=\"n\">exposed</th><th class=\"n\">memory</th></tr></thead>\n<tbody>\n",
          out);
}

static void put_cell(FILE *out, const char *text, double value)
{
    fprintf(out, "<td class=\"n\" data-v=\"%.17g\">%s</td>", value, text);
}

/* What the objective asks for, beside the iteration. */
static void put_objective(FILE *out, const struct search *search, const struct search_result *result)
{
    char text[READABLE_MAX];
    double energy = result->verified.iteration > 0 ? result->verified.energy : result->energy;
    const struct search_training *training = search_training_shown(result);
    if (search_counts_energy(search))
        put_cell(out, readable_joules(text, energy), energy);
    if (search_quantile_name(search))
        put_cell(out, readable_seconds(text, search_step_shown(result)), search_step_shown(result));
    if (!search_trains(search->scenario))
        return;
    snprintf(text, sizeof text, "%.4g", training->seconds / 86400);
    put_cell(out, training->seconds > 0 ? text : "", training->seconds);
    snprintf(text, sizeof text, "%.4g", training->price);
    put_cell(out, training->price > 0 ? text : "", training->price);
    put_cell(out, training->seconds > 0 ? readable_percent(text, training->goodput) : "", training->goodput);
}

static void put_figures(FILE *out, const struct search *search, uint32_t place, bool verified)
{
    const struct search_result *result = search_best(search, place);
    char text[READABLE_MAX];
    put_cell(out, readable_seconds(text, search_time(result)), search_time(result));
    if (verified)
        put_cell(out, readable_seconds(text, result->iteration), result->iteration);
    put_objective(out, search, result);
    snprintf(text, sizeof text, "%.4g", search_at_time(result, result->samples_per_s));
    put_cell(out, text, search_at_time(result, result->samples_per_s));
    put_cell(out, result->mfu > 0 ? readable_percent(text, search_at_time(result, result->mfu)) : "",
             search_at_time(result, result->mfu));
    put_cell(out, readable_percent(text, search_bubble(result)), search_bubble(result));
    bool known = search_is_exposed_known(search, place);
    put_cell(out, known ? readable_percent(text, search->exposed[place]) : "", known ? search->exposed[place] : 0);
    put_cell(out, readable_binary_bytes(text, result->peak_bytes), result->peak_bytes);
}

static void put_row(FILE *out, const struct search *search, uint32_t place, bool verified)
{
    struct arena *arena = arena_create();
    const char *values[DIMENSIONS];
    search_space_values(&search->space, search->ranked[search->best[place]], values, arena);
    fprintf(out, "<tr%s><td class=\"n\">%u</td>", place == 0 ? " class=\"best\"" : "", place + 1);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++) {
        if (!search->space.shown[i])
            continue;
        fputs(search_dimension_is_number(search, i) ? "<td class=\"n\">" : "<td>", out);
        html_text(out, values[i] ? values[i] : "");
        fputs("</td>", out);
    }
    put_figures(out, search, place, verified);
    fputs("</tr>\n", out);
    arena_destroy(arena);
}

static void put_best(FILE *out, const struct search *search, uint32_t top)
{
    bool verified = search_best(search, 0)->verified.iteration > 0;
    put_heads(out, search, verified);
    for (uint32_t place = 0; place < top && place < search->best_count; place++)
        put_row(out, search, place, verified);
    fputs("</tbody>\n</table></div>\n<p class=\"note\">Bubble and exposed communication are shares of the iteration, "
          "means over ranks; where a layout was not simulated with contention, of that on the analytic engine.</p>\n",
          out);
}

/* ---- what became of all ---- */

static void put_count(FILE *out, number count, const char *what)
{
    fprintf(out, "<tr><td class=\"n\">%llu</td><td>%s</td></tr>\n", count, what);
}

static void put_counts(FILE *out, const struct search *search)
{
    char text[160];
    fputs("<h2>All candidates</h2>\n<div class=\"wide\"><table>\n<tbody>\n", out);
    put_count(out, search->ranked_count, "fit and were timed");
    put_count(out, search->passed[SEARCH_BY_WORK],
              "fit; their own work takes longer than the best, and a faster one needs no more memory");
    put_count(out, search->passed[SEARCH_BY_ORDER], "fit; the order of their schedule takes longer, likewise");
    snprintf(text, sizeof text, "do not fit in memory, of which %.4g %% is held back", 100 * search->scenario->reserve);
    put_count(out, search->unfit, text);
    put_count(out, search->illegal, "are illegal");
    if (search->untried || search->waiting) {
        put_count(out, search->untried, "were not looked at");
        put_count(out, search->waiting, "were not timed");
    }
    fputs("</tbody>\n</table></div>\n", out);
    if (!search->reason_count)
        return;
    fputs("<h2>Why layouts are illegal</h2>\n<div class=\"wide\"><table>\n<thead><tr><th class=\"n\">layouts</th>"
          "<th>an example</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < search->reason_count; i++) {
        fprintf(out, "<tr><td class=\"n\">%llu</td><td>", (number)search->reasons[i].count);
        html_text(out, search->reasons[i].text);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n", out);
}

static bool draw_chart(FILE *out, const struct picture_form *form, void *user, struct fault *fault)
{
    return search_picture(out, user, CANVAS_SVG, form, fault);
}

bool search_html(FILE *out, const struct search *search, uint32_t top, struct fault *fault)
{
    struct arena *arena = arena_create();
    html_begin(out, arena_print(arena, "%.100s: the best layouts", search->scenario->name),
               arena_print(arena, "stagesim search, %s GPUs of %.200s", search->space.gpus_text,
                           search->scenario->platform.text));
    arena_destroy(arena);
    put_verdict(out, search, top);
    put_tiles(out, search);
    put_best(out, search, top);
    fputs("<h2>Time and memory</h2>\n", out);
    struct search shown = *search;
    bool done = html_chart(out, draw_chart, &shown, "search", "slim", false, fault);
    put_counts(out, search);
    html_end(out);
    return done;
}
