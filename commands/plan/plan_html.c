/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/html.h"
#include "base/arena.h"
#include "base/rounded/rounded.h"
#include "base/table.h"
#include "commands/plan/plan_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILTERS_MAX = 40 };

/* Platforms in the order of the ways: what can be hidden. */
struct filters {
    const char *names[FILTERS_MAX];
    size_t count;
};

/* Those beyond the last have its number. */
static size_t filter_of(struct filters *filters, const char *name)
{
    size_t i = 0;
    while (i < filters->count && strcmp(filters->names[i], name) != 0)
        i++;
    if (i == filters->count && i < FILTERS_MAX)
        filters->names[filters->count++] = name;
    return i < FILTERS_MAX ? i : FILTERS_MAX - 1;
}

static const char *colour_of(size_t filter)
{
    static const char *const colours[] = {"#2f6fb3", "#c4572b", "#3c8f4a", "#8a56a8", "#b8860b",
                                          "#2a9d9d", "#c2427a", "#6b6b6b", "#7a9a01", "#4a4ac0"};
    return colours[filter % (sizeof colours / sizeof *colours)];
}

/* ---- the front, to be hovered over ---- */

enum { WIDTH = 900, HEIGHT = 460, LEFT = 110, BOTTOM = 50, TOP = 14, RIGHT = 20 };

struct extent {
    double least[2], most[2]; /* logarithms */
};

static double across(const struct extent *frame, const struct fleet_way *way)
{
    double at = (rounded_log10(way->seconds / PLAN_DAY) - frame->least[0]) / (frame->most[0] - frame->least[0]);
    return LEFT + at * (WIDTH - LEFT - RIGHT);
}

static double down(const struct extent *frame, const struct fleet_way *way)
{
    double at = (rounded_log10(way->money) - frame->least[1]) / (frame->most[1] - frame->least[1]);
    return HEIGHT - BOTTOM - at * (HEIGHT - BOTTOM - TOP);
}

static struct extent extent_of(const struct fleet *fleet)
{
    static const double margin = 0.04;
    struct extent frame = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    for (size_t i = 0; i < fleet->way_count; i++) {
        double at[2] = {rounded_log10(fleet->ways[i].seconds / PLAN_DAY), rounded_log10(fleet->ways[i].money)};
        for (int k = 0; k < 2; k++) {
            frame.least[k] = fmin(frame.least[k], at[k] - margin);
            frame.most[k] = fmax(frame.most[k], at[k] + margin);
        }
    }
    return frame;
}

/* Lines at 1, 2 and 5 times powers of ten; over less than a decade at more of them. */
static void put_axis(FILE *out, const struct extent *frame, int which)
{
    static const double few[] = {1, 2, 5}, many[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8};
    bool narrow = frame->most[which] - frame->least[which] < 1;
    const double *steps = narrow ? many : few;
    int count = narrow ? (int)(sizeof many / sizeof *many) : (int)(sizeof few / sizeof *few);
    char text[PLAN_MONEY_MAX];
    for (int power = (int)floor(frame->least[which]); power <= (int)ceil(frame->most[which]); power++)
        for (int k = 0; k < count; k++) {
            double value = rounded_log10(steps[k]) + power;
            double share = (value - frame->least[which]) / (frame->most[which] - frame->least[which]);
            if (share < 0 || share > 1)
                continue;
            double x = LEFT + share * (WIDTH - LEFT - RIGHT), y = HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
            if (which == 0)
                fprintf(out,
                        "<path d=\"M%.1f %dV%d\" class=\"grid\"/><text x=\"%.1f\" y=\"%d\" "
                        "text-anchor=\"middle\">%.4g</text>\n",
                        x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18, steps[k] * rounded_pow(10, power));
            else
                fprintf(out,
                        "<path d=\"M%d %.1fH%d\" class=\"grid\"/><text x=\"%d\" y=\"%.1f\" "
                        "text-anchor=\"end\">%s</text>\n",
                        LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4,
                        plan_sum_text(text, steps[k] * rounded_pow(10, power)));
        }
}

/* What a point says under the pointer. */
static void put_title(FILE *out, const struct fleet *fleet, const struct fleet_way *way)
{
    char money[PLAN_MONEY_MAX], text[READABLE_MAX];
    const struct fleet_found *found = plan_found(fleet, way);
    const struct fleet_question *question = plan_question(fleet, way);
    fputs("<title>", out);
    html_text(out, question->text);
    fprintf(out, ", %u GPUs, ", question->gpus);
    html_text(out, plan_offer_of(fleet, way)->name);
    fprintf(out, "\n%.4g days, ", way->seconds / PLAN_DAY);
    html_text(out, plan_money_text(money, fleet, way->money));
    fputs("\n", out);
    html_text(out, found->name);
    if (found->mfu > 0)
        fprintf(out, "\nMFU %s", readable_percent(text, found->mfu));
    if (found->peak_bytes > 0)
        fprintf(out, ", memory %s", readable_binary_bytes(text, found->peak_bytes));
    if (found->band.rows)
        fprintf(out, "\n8 of 10 cases: %.3g to %.3g days", way->seconds * found->band.low / PLAN_DAY,
                way->seconds * found->band.high / PLAN_DAY);
    fputs("</title>", out);
}

static void put_points(FILE *out, const struct fleet *fleet, const struct extent *frame, struct filters *filters)
{
    const char *move = "M";
    fputs("<path class=\"front\" d=\"", out);
    for (size_t i = 0; i < fleet->way_count; i++)
        if (fleet->ways[i].front) {
            fprintf(out, "%s%.1f %.1f", move, across(frame, &fleet->ways[i]), down(frame, &fleet->ways[i]));
            move = "L";
        }
    fputs("\"/>\n", out);
    for (size_t i = 0; i < fleet->way_count; i++) {
        const struct fleet_way *way = &fleet->ways[i];
        size_t filter = filter_of(filters, plan_question(fleet, way)->platform);
        fprintf(out, "<circle class=\"p%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\" fill-opacity=\"%s\"%s>",
                filter, across(frame, way), down(frame, way), way == fleet->best ? 8 : 5, colour_of(filter),
                way->front ? "1" : "0.35", way == fleet->best ? " stroke=\"#000\" stroke-width=\"2\"" : "");
        put_title(out, fleet, way);
        fputs("</circle>\n", out);
    }
}

static void put_chart(FILE *out, const struct fleet *fleet, struct filters *filters)
{
    struct extent frame = extent_of(fleet);
    fputs("<h2>Days and money</h2>\n<style>.plan text{font-size:12px;fill:currentColor}.plan .grid{stroke:#8884;"
          "fill:none}.plan .front{stroke:#888;fill:none;stroke-dasharray:5 4}\n",
          out);
    for (size_t i = 0; i < filters->count; i++)
        fprintf(out, "#f%zu:not(:checked)~svg .p%zu{display:none}\n", i, i);
    fputs("</style>\n<div>\n", out);
    for (size_t i = 0; i < filters->count; i++) {
        fprintf(out, "<input type=\"checkbox\" id=\"f%zu\" checked aria-label=\"show ", i);
        html_text(out, filters->names[i]);
        fprintf(out,
                "\"><label for=\"f%zu\"> <i style=\"display:inline-block;width:10px;height:10px;border-radius:5px;"
                "background:%s\"></i> ",
                i, colour_of(i));
        html_text(out, filters->names[i]);
        fputs("</label>\n", out);
    }
    fprintf(out,
            "<svg class=\"plan\" viewBox=\"0 0 %d %d\" style=\"width:100%%;height:auto\" role=\"img\" "
            "aria-label=\"days and money of every cluster\">\n",
            WIDTH, HEIGHT);
    put_axis(out, &frame, 0);
    put_axis(out, &frame, 1);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">days</text><text x=\"%d\" y=\"%d\">", WIDTH / 2,
            HEIGHT - 8, 8, TOP);
    html_text(out, fleet->scenario->plan.currency ? fleet->scenario->plan.currency : "money");
    fputs("</text>\n", out);
    put_points(out, fleet, &frame, filters);
    fputs(
        "</svg>\n</div>\n<p class=\"note\">Full points are the front: nothing else is sooner and cheaper. The pointer "
        "over a point says what it is; a tick taken away hides a platform.</p>\n",
        out);
}

/* ---- the table ---- */

static void put_cell(FILE *out, const char *text, double value)
{
    fprintf(out, "<td class=\"n\" data-v=\"%.17g\">%s</td>", value, text);
}

static void put_text(FILE *out, const char *text)
{
    fputs("<td>", out);
    html_text(out, text);
    fputs("</td>", out);
}

static void put_row(FILE *out, const struct fleet *fleet, const struct fleet_way *way)
{
    char text[READABLE_MAX + PLAN_MONEY_MAX];
    const struct fleet_question *question = plan_question(fleet, way);
    const struct fleet_found *found = plan_found(fleet, way);
    const struct fleet_course *course = plan_course(fleet, way);
    fprintf(out, "<tr%s>", way == fleet->best ? " class=\"best\"" : "");
    put_text(out, question->text);
    put_text(out, plan_offer_of(fleet, way)->name);
    snprintf(text, sizeof text, "%u", question->gpus);
    put_cell(out, text, question->gpus);
    snprintf(text, sizeof text, "%.4g", way->seconds / PLAN_DAY);
    put_cell(out, text, way->seconds);
    put_cell(out, plan_money_text(text, fleet, way->money), way->money);
    put_text(out, way->front ? "front" : "");
    put_text(out, way->allowed ? "yes" : "no");
    put_text(out, found->name);
    put_text(out, found->schedule);
    put_cell(out, fleet_iteration(found) > 0 ? readable_seconds(text, fleet_iteration(found)) : "",
             fleet_iteration(found));
    put_cell(out, found->mfu > 0 ? readable_percent(text, found->mfu) : "", found->mfu);
    put_cell(out, found->peak_bytes > 0 ? readable_binary_bytes(text, found->peak_bytes) : "", found->peak_bytes);
    put_cell(out, course->goodput > 0 ? readable_percent(text, course->goodput) : "", course->goodput);
    put_cell(out, course->joules > 0 ? readable_watt_hours(text, course->joules) : "", course->joules);
    snprintf(text, sizeof text, "%.4g t", way->kilograms / 1000);
    put_cell(out, way->kilograms >= 0 ? text : "", fmax(0, way->kilograms));
    fputs("</tr>\n", out);
}

static void put_table(FILE *out, const struct fleet *fleet)
{
    fputs(
        "<h2>All that were searched</h2>\n<div class=\"wide\"><table class=\"sort tight\">\n<thead><tr><th>cluster</th>"
        "<th>offer</th><th class=\"n\">GPUs</th><th class=\"n\">days</th><th class=\"n\">money</th><th>front</th>"
        "<th>within limits</th><th>layout</th><th>schedule</th><th class=\"n\">iteration</th><th class=\"n\">MFU</th>"
        "<th class=\"n\">memory</th><th class=\"n\">goodput</th><th class=\"n\">energy</th><th class=\"n\">carbon</th>"
        "</tr></thead>\n<tbody>\n",
        out);
    for (size_t i = 0; i < fleet->way_count; i++)
        put_row(out, fleet, &fleet->ways[i]);
    fputs("</tbody>\n</table></div>\n", out);
}

/* ---- prices ---- */

static void put_prices(FILE *out, const struct fleet *fleet)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    const struct plan_offer *offers = settings->offers.rows;
    if (!settings->offers.count)
        return;
    fputs("<h2>Prices</h2>\n<div class=\"wide\"><table class=\"tight\">\n<thead><tr><th>platform</th><th>offer</th>"
          "<th class=\"n\">price</th><th>date</th><th>source</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < settings->offers.count; i++) {
        const struct plan_offer *offer = &offers[i];
        char text[PLAN_MONEY_MAX];
        double price = offer->gpu_hour > 0    ? offer->gpu_hour
                       : offer->node_hour > 0 ? offer->node_hour
                                              : offer->purchase;
        fputs("<tr>", out);
        put_text(out, offer->platform);
        put_text(out, offer->name);
        fprintf(out, "<td class=\"n\">%s a %s</td>", plan_money_text(text, fleet, price),
                offer->gpu_hour > 0    ? "GPU and hour"
                : offer->node_hour > 0 ? "node and hour"
                                       : "node");
        put_text(out, offer->date);
        put_text(out, offer->source);
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n", out);
}

/* Lines as a paragraph of that class, or each as one of its own. */
static void put_lines(FILE *out, const char *class, bool each, const struct fleet *fleet,
                      void (*put)(FILE *out, const struct fleet *fleet))
{
    char *text = NULL, *rest;
    size_t size = 0;
    FILE *lines = table_remarks_begin(&text, &size);
    put(lines, fleet);
    fclose(lines);
    const char *between = "";
    fprintf(out, "<p class=\"%s\">", class);
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        fputs(between, out);
        html_text(out, line);
        between = each ? "<br>\n" : "\n";
    }
    fputs("</p>\n", out);
    free(text);
}

bool plan_html(FILE *out, const struct fleet *fleet, const struct plan_worths *worths, struct fault *fault)
{
    struct arena *arena = arena_create();
    struct filters filters = {.count = 0};
    (void)fault;
    html_begin(out, arena_print(arena, "%.100s: which cluster", fleet->scenario->name),
               arena_print(arena, "stagesim plan, %zu clusters", fleet->questions.count));
    arena_destroy(arena);
    put_lines(out, "verdict", false, fleet, plan_verdict);
    if (fleet->scenario->plan.law.count)
        put_lines(out, "note", true, fleet, plan_law);
    for (size_t i = 0; i < fleet->way_count; i++)
        filter_of(&filters, plan_question(fleet, &fleet->ways[i])->platform);
    put_chart(out, fleet, &filters);
    plan_family_html(out, fleet);
    plan_worth_html(out, fleet, worths);
    put_table(out, fleet);
    put_prices(out, fleet);
    fputs("<h2>What is not known</h2>\n", out);
    put_lines(out, "note", true, fleet, plan_missing);
    html_end(out);
    return true;
}
