/* SPDX-License-Identifier: Apache-2.0 */
/* What each of several jobs has of the recommended cluster, and loses there. */
#include "analysis/output/html.h"
#include "base/table.h"
#include "commands/plan/plan_view.h"
#include "studies/fleet/family.h"

#include <math.h>

/* Shares by which it takes longer and costs more than alone on its own best cluster; negative: less. */
static double more(double shared, double alone)
{
    static const double rounded = 1e-12;
    double share = shared / alone - 1;
    return fabs(share) < rounded ? 0 : share;
}

static double later(const struct fleet_member *member)
{
    return more(member->shared.seconds, member->alone.seconds);
}

static double dearer(const struct fleet_member *member)
{
    return more(member->shared.money, member->alone.money);
}

static const struct fleet_found *layout_of(const struct fleet *fleet, const struct fleet_member *member)
{
    return &member->found[fleet->best->question];
}

/* Those that something is said of. */
static size_t count_of(const struct fleet *fleet)
{
    return fleet->best ? fleet->member_count : 0;
}

static const char *signed_percent(char text[READABLE_MAX], double share)
{
    snprintf(text, READABLE_MAX, "%+.2f %%", 100 * share);
    return text;
}

void plan_family_print(FILE *out, const struct fleet *fleet, enum table_format format)
{
    struct table *table = table_create();
    char text[READABLE_MAX], money[PLAN_MONEY_MAX];
    table_columns(table, "<job", ">trainings", ">days", ">money", "<layout", "<schedule", "<alone best on", "<offer",
                  ">days", ">money", ">later by", ">dearer by", NULL);
    for (size_t i = 0; i < count_of(fleet); i++) {
        const struct fleet_member *member = &fleet->members[i];
        const struct fleet_found *found = layout_of(fleet, member);
        table_cell(table, "%s", member->name);
        table_cell(table, "%.4g", member->weight);
        table_cell(table, "%.4g", member->shared.seconds / PLAN_DAY);
        table_cell(table, "%s", plan_sum_text(money, member->shared.money));
        table_cell(table, "%s", found->name);
        table_cell(table, "%s", found->schedule);
        table_cell(table, "%s", plan_question(fleet, &member->alone)->text);
        table_cell(table, "%s", plan_offer_of(fleet, &member->alone)->name);
        table_cell(table, "%.4g", member->alone.seconds / PLAN_DAY);
        table_cell(table, "%s", plan_sum_text(money, member->alone.money));
        table_cell(table, "%s", signed_percent(text, later(member)));
        table_cell(table, "%s", signed_percent(text, dearer(member)));
    }
    table_finish(table, out, table_style_of(format, out));
}

static void add_number(struct table *table, double value)
{
    table_cell(table, "%.6g", value);
    table_value(table, value);
}

void plan_family_csv(FILE *out, const struct fleet *fleet)
{
    struct table *table = table_create();
    table_columns(table, "<job", ">trainings", ">days", ">money", "<layout", "<schedule", ">iteration s",
                  "<alone cluster", "<alone offer", ">alone days", ">alone money", ">later", ">dearer", NULL);
    for (size_t i = 0; i < count_of(fleet); i++) {
        const struct fleet_member *member = &fleet->members[i];
        const struct fleet_found *found = layout_of(fleet, member);
        table_cell(table, "%s", member->name);
        add_number(table, member->weight);
        add_number(table, member->shared.seconds / PLAN_DAY);
        add_number(table, member->shared.money);
        table_cell(table, "%s", found->name);
        table_cell(table, "%s", found->schedule);
        add_number(table, fleet_iteration(found));
        table_cell(table, "%s", plan_question(fleet, &member->alone)->text);
        table_cell(table, "%s", plan_offer_of(fleet, &member->alone)->name);
        add_number(table, member->alone.seconds / PLAN_DAY);
        add_number(table, member->alone.money);
        add_number(table, later(member));
        add_number(table, dearer(member));
    }
    table_finish(table, out, (struct table_style){TABLE_CSV, 0});
}

void plan_family_json(struct json_writer *json, const struct fleet *fleet)
{
    if (!fleet->member_count)
        return;
    json_array_begin(json, "jobs", true);
    for (size_t i = 0; i < count_of(fleet); i++) {
        const struct fleet_member *member = &fleet->members[i];
        const struct fleet_found *found = layout_of(fleet, member);
        json_object_begin(json, NULL, false);
        json_text(json, "job", member->name);
        json_number(json, "trainings", member->weight);
        json_number(json, "days", member->shared.seconds / PLAN_DAY);
        json_number(json, "money", member->shared.money);
        json_text(json, "layout", found->name);
        json_text(json, "schedule", found->schedule);
        json_number(json, "iteration_s", fleet_iteration(found));
        json_text(json, "alone_cluster", plan_question(fleet, &member->alone)->text);
        json_text(json, "alone_offer", plan_offer_of(fleet, &member->alone)->name);
        json_number(json, "alone_days", member->alone.seconds / PLAN_DAY);
        json_number(json, "alone_money", member->alone.money);
        json_number(json, "later", later(member));
        json_number(json, "dearer", dearer(member));
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_text(FILE *out, const char *text)
{
    fputs("<td>", out);
    html_text(out, text);
    fputs("</td>", out);
}

void plan_family_html(FILE *out, const struct fleet *fleet)
{
    char text[READABLE_MAX], money[PLAN_MONEY_MAX];
    if (!count_of(fleet))
        return;
    fputs("<h2>The jobs on the recommended cluster</h2>\n<div class=\"wide\"><table class=\"sort\">\n<thead><tr>"
          "<th>job</th><th class=\"n\">trainings</th><th class=\"n\">days</th><th class=\"n\">money</th><th>layout</th>"
          "<th>alone best on</th><th class=\"n\">days</th><th class=\"n\">money</th><th class=\"n\">later by</th>"
          "<th class=\"n\">dearer by</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < count_of(fleet); i++) {
        const struct fleet_member *member = &fleet->members[i];
        fputs("<tr>", out);
        put_text(out, member->name);
        fprintf(out, "<td class=\"n\">%.4g</td><td class=\"n\">%.4g</td><td class=\"n\">%s</td>", member->weight,
                member->shared.seconds / PLAN_DAY, plan_sum_text(money, member->shared.money));
        put_text(out, layout_of(fleet, member)->name);
        put_text(out, plan_question(fleet, &member->alone)->text);
        fprintf(out, "<td class=\"n\">%.4g</td><td class=\"n\">%s</td>", member->alone.seconds / PLAN_DAY,
                plan_sum_text(money, member->alone.money));
        fprintf(out, "<td class=\"n\">%s</td>", signed_percent(text, later(member)));
        fprintf(out, "<td class=\"n\">%s</td></tr>\n", signed_percent(text, dearer(member)));
    }
    fputs("</tbody>\n</table></div>\n<p class=\"note\">Jobs run one after the other on all GPUs; the money is divided "
          "by their days. Alone: on the cluster that is best for this job, by the rule that recommends one for all."
          "</p>\n",
          out);
}
