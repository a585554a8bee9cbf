/* SPDX-License-Identifier: Apache-2.0 */
/* What a queue comes to by size and by user, and over many months. */
#include "base/table.h"
#include "cluster/answers/queue_output.h"

/* Users with fewer node hours are not printed; files have all. */
enum { USERS_MAX_PRINTED = 20 };

static bool is_time(enum month_figure figure)
{
    return figure == MONTH_WAIT || figure == MONTH_COMPLETION || figure == MONTH_MAKESPAN;
}

static bool is_share(enum month_figure figure)
{
    return figure == MONTH_ALLOCATED || figure == MONTH_BUSY || figure == MONTH_USEFUL;
}

static void put_value(struct table *table, enum month_figure figure, double value)
{
    if (figure == MONTH_ENERGY)
        queue_energy_cell(table, value);
    else if (is_time(figure))
        table_seconds(table, value);
    else if (is_share(figure))
        table_percent(table, value);
    else
        table_ratio(table, value);
}

static bool is_known(enum month_figure figure, const struct queue_energy *energy)
{
    return figure == MONTH_ENERGY   ? energy->known
           : figure == MONTH_CARBON ? energy->carbon
           : figure == MONTH_COST   ? energy->priced
                                    : true;
}

static struct table *table_of_months(const struct queue_months *months, const struct queue_energy *energy)
{
    struct table *table = table_create();
    table_columns(table, "<figure", ">10 %", ">median", ">90 %", NULL);
    for (enum month_figure i = 0; i < MONTH_FIGURES; i++) {
        if (!is_known(i, energy))
            continue;
        table_cell(table, "%s", month_figure_titles[i]);
        put_value(table, i, months->figures[i].low);
        put_value(table, i, months->figures[i].middle);
        put_value(table, i, months->figures[i].high);
    }
    return table;
}

static struct table *table_of_groups(const struct queue_view *view, const struct queue_groups *groups,
                                     const char *title, size_t most)
{
    const struct queue_energy *energy = &view->figures->energy;
    struct table *table = table_create();
    table_column(table, title, '<');
    table_columns(table, ">jobs", ">waiting", ">median", ">95 %", ">bounded slowdown", ">node hours", ">useful", NULL);
    queue_energy_columns(table, energy);
    for (size_t i = 0; i < groups->count && i < most; i++) {
        const struct queue_group *group = &groups->groups[i];
        table_cell(table, "%s", group->name);
        table_cell(table, "%u", group->jobs);
        table_seconds(table, group->wait);
        table_seconds(table, group->wait_p50);
        table_seconds(table, group->wait_p95);
        table_ratio(table, group->slowdown);
        table_cell(table, "%.1f", group->node_hours);
        table_percent(table, group->useful);
        queue_energy_cells(table, energy, group->joules, group->grams, group->cost);
    }
    return table;
}

static void print(FILE *out, struct table *table, const char *heading, enum table_format format)
{
    table_remarks(out, format, "\n");
    table_remarks(out, format, heading);
    table_remarks(out, format, "\n");
    table_finish(table, out, table_style_of(format, out));
}

void queue_answers_print(FILE *out, const struct queue_view *view, enum table_format format)
{
    char heading[80];
    if (!table_is_read(format))
        return;
    print(out, table_of_groups(view, &view->by_size, "size", SIZE_MAX), "By the size of jobs\n", format);
    if (view->by_user.count)
        print(out, table_of_groups(view, &view->by_user, "user", USERS_MAX_PRINTED), "By user\n", format);
    snprintf(heading, sizeof heading, "In %u months%s\n", view->months.runs,
             view->queue->month ? "" : " of other failures");
    if (view->months.runs > 1)
        print(out, table_of_months(&view->months, &view->figures->energy), heading, format);
}

/* ---- for programs ---- */

static void put_groups(struct json_writer *json, const char *key, const struct queue_groups *groups,
                       const struct queue_energy *energy)
{
    json_array_begin(json, key, true);
    for (size_t i = 0; i < groups->count; i++) {
        const struct queue_group *group = &groups->groups[i];
        json_object_begin(json, NULL, false);
        json_text(json, "name", group->name);
        json_integer(json, "jobs", group->jobs);
        json_number(json, "wait_s", group->wait);
        json_number(json, "wait_median_s", group->wait_p50);
        json_number(json, "wait_p95_s", group->wait_p95);
        json_number(json, "bounded_slowdown", group->slowdown);
        json_number(json, "slowdown", group->slowdown_plain);
        json_number(json, "node_hours", group->node_hours);
        json_number(json, "useful", group->useful);
        json_integer(json, "stops", group->stops);
        queue_energy_json(json, energy, group->joules, group->grams, group->cost);
        json_object_end(json);
    }
    json_array_end(json);
}

void queue_answers_json(struct json_writer *json, const struct queue_view *view)
{
    put_groups(json, "by_size", &view->by_size, &view->figures->energy);
    if (view->by_user.count)
        put_groups(json, "by_user", &view->by_user, &view->figures->energy);
    if (view->months.runs < 2)
        return;
    json_object_begin(json, "months", true);
    json_integer(json, "runs", view->months.runs);
    for (enum month_figure i = 0; i < MONTH_FIGURES; i++) {
        if (!is_known(i, &view->figures->energy))
            continue;
        json_object_begin(json, month_figure_names[i], false);
        json_number(json, "p10", view->months.figures[i].low);
        json_number(json, "p50", view->months.figures[i].middle);
        json_number(json, "p90", view->months.figures[i].high);
        json_object_end(json);
    }
    json_object_end(json);
}

/* ---- the page ---- */

void queue_answers_page(struct queue_page *page, const struct queue_view *view)
{
    queue_page_table(page, "By the size of jobs", table_of_groups(view, &view->by_size, "size", SIZE_MAX));
    if (view->by_user.count)
        queue_page_table(page, "By user", table_of_groups(view, &view->by_user, "user", SIZE_MAX));
    if (view->months.runs > 1)
        queue_page_table(page, "Months", table_of_months(&view->months, &view->figures->energy));
}
