/* SPDX-License-Identifier: Apache-2.0 */
/* What changes of the recommended cluster are worth. */
#include "analysis/output/html.h"
#include "base/diagnostics.h"
#include "base/table.h"
#include "commands/plan/plan_view.h"

#include <math.h>

/* Shares of the time and the money that a change saves; negative: it costs more. */
static double saved_time(const struct fleet *fleet, const struct fleet_worth *worth)
{
    return 1 - worth->seconds / fleet->best->seconds;
}

static double saved_money(const struct fleet *fleet, const struct fleet_worth *worth)
{
    return 1 - worth->money / fleet->best->money;
}

/* What one percent more of the property saves of the time, in the same layout. */
static double saved_by_percent(const struct fleet_worth *worth)
{
    static const double percent = 0.01, shown = 5e-5;
    return fabs(worth->slope * percent) < shown ? 0 : -worth->slope * percent;
}

void plan_worth_print(FILE *out, const struct fleet *fleet, const struct plan_worths *worths, enum table_format format)
{
    struct table *table = table_create();
    char text[READABLE_MAX], money[PLAN_MONEY_MAX];
    table_columns(table, "<change", ">1 % more saves", ">days", ">money", ">saves time", ">saves money", "<layout",
                  "<schedule", NULL);
    for (size_t i = 0; i < worths->count; i++) {
        const struct fleet_worth *worth = &worths->list[i];
        table_cell(table, "%s", worth->text);
        if (worth->reason) {
            table_cell(table, "not known");
            for (int k = 0; k < 6; k++)
                table_cell(table, "%s", "");
            continue;
        }
        table_cell(table, "%s", readable_percent(text, saved_by_percent(worth)));
        table_cell(table, "%.4g", worth->seconds / PLAN_DAY);
        table_cell(table, "%s", plan_sum_text(money, worth->money));
        table_cell(table, "%s", readable_percent(text, saved_time(fleet, worth)));
        table_cell(table, "%s", readable_percent(text, saved_money(fleet, worth)));
        table_cell(table, "%s", worth->best.name);
        table_cell(table, "%s", worth->best.schedule);
    }
    table_finish(table, out, table_style_of(format, out));
    for (size_t i = 0; i < worths->count; i++)
        if (worths->list[i].reason)
            diag_print(out, "%s is not known: %s\n", worths->list[i].text, worths->list[i].reason);
}

void plan_worth_json(struct json_writer *json, const struct fleet *fleet, const struct plan_worths *worths)
{
    json_array_begin(json, "what_if", true);
    for (size_t i = 0; i < worths->count; i++) {
        const struct fleet_worth *worth = &worths->list[i];
        json_object_begin(json, NULL, false);
        json_text(json, "change", worth->text);
        if (worth->reason) {
            json_text(json, "reason", worth->reason);
        } else {
            json_number(json, "slope", worth->slope);
            json_number(json, "days", worth->seconds / PLAN_DAY);
            json_number(json, "money", worth->money);
            json_number(json, "saves_time", saved_time(fleet, worth));
            json_number(json, "saves_money", saved_money(fleet, worth));
            json_text(json, "layout", worth->best.name);
            json_text(json, "schedule", worth->best.schedule);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

void plan_worth_html(FILE *out, const struct fleet *fleet, const struct plan_worths *worths)
{
    char text[READABLE_MAX];
    if (!worths->count)
        return;
    fputs("<h2>What other hardware would be worth</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr>"
          "<th>change</th><th class=\"n\">1 % more saves</th><th class=\"n\">days</th><th class=\"n\">saves time</th>"
          "<th class=\"n\">saves money</th><th>layout</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < worths->count; i++) {
        const struct fleet_worth *worth = &worths->list[i];
        fputs("<tr><td>", out);
        html_text(out, worth->text);
        fputs("</td>", out);
        if (worth->reason) {
            fputs("<td colspan=\"5\">not known: ", out);
            html_text(out, worth->reason);
            fputs("</td></tr>\n", out);
            continue;
        }
        fprintf(out, "<td class=\"n\">%s</td>", readable_percent(text, saved_by_percent(worth)));
        fprintf(out, "<td class=\"n\">%.4g</td>", worth->seconds / PLAN_DAY);
        fprintf(out, "<td class=\"n\">%s</td>", readable_percent(text, saved_time(fleet, worth)));
        fprintf(out, "<td class=\"n\">%s</td><td>", readable_percent(text, saved_money(fleet, worth)));
        html_text(out, worth->best.name);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n<p class=\"note\">The recommended cluster with one property changed, at the same "
          "price. One percent more is in the same layout; the other columns are of a search of their own.</p>\n",
          out);
}
