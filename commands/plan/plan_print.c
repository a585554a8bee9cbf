/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"
#include "base/table.h"
#include "commands/plan/plan_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What at least one way has: columns of others are left out of what people read. */
struct columns {
    bool layout, goodput, energy, carbon, band, contention;
};

static struct columns columns_of(const struct fleet *fleet)
{
    struct columns columns = {.layout = !fleet->member_count};
    for (size_t i = 0; i < fleet->way_count; i++) {
        const struct fleet_way *way = &fleet->ways[i];
        columns.goodput |= plan_course(fleet, way)->goodput > 0;
        columns.energy |= plan_course(fleet, way)->joules > 0;
        columns.carbon |= way->kilograms >= 0;
        columns.band |= plan_found(fleet, way)->band.rows > 0;
        columns.contention |= plan_found(fleet, way)->verified > 0;
    }
    return columns;
}

/* ---- the front ---- */

static struct table *begin_front(const struct columns *columns)
{
    struct table *table = table_create();
    table_columns(table, "<", ">days", ">money", ">GPUs", "<cluster", "<offer", NULL);
    if (columns->layout)
        table_columns(table, "<layout", "<schedule", ">iteration", ">MFU", ">memory", NULL);
    if (columns->goodput)
        table_column(table, "goodput", '>');
    if (columns->energy)
        table_column(table, "energy", '>');
    if (columns->carbon)
        table_column(table, "carbon", '>');
    if (columns->band)
        table_column(table, "8 of 10", '>');
    return table;
}

static void add_band(struct table *table, const struct fleet_found *found, double seconds)
{
    if (found->band.rows)
        table_cell(table, "%.3g to %.3g d", seconds * found->band.low / PLAN_DAY,
                   seconds * found->band.high / PLAN_DAY);
    else
        table_cell(table, "%s", "");
}

static void add_front(struct table *table, const struct fleet *fleet, const struct fleet_way *way,
                      const struct columns *columns)
{
    char text[READABLE_MAX], money[PLAN_MONEY_MAX];
    const struct fleet_question *question = plan_question(fleet, way);
    const struct fleet_found *found = plan_found(fleet, way);
    const struct fleet_course *course = plan_course(fleet, way);
    table_cell(table, "%s", way == fleet->best ? "*" : way->allowed ? "" : "-");
    table_cell(table, "%.4g", way->seconds / PLAN_DAY);
    table_cell(table, "%s", plan_sum_text(money, way->money));
    table_cell(table, "%u", question->gpus);
    table_cell(table, "%s", question->text);
    table_cell(table, "%s", plan_offer_of(fleet, way)->name);
    if (columns->layout) {
        table_cell(table, "%s", found->name);
        table_cell(table, "%s", found->schedule);
        table_cell(table, "%s", readable_seconds(text, fleet_iteration(found)));
        table_cell(table, "%s", found->mfu > 0 ? readable_percent(text, found->mfu) : "");
        table_cell(table, "%s", found->peak_bytes > 0 ? readable_binary_bytes(text, found->peak_bytes) : "");
    }
    if (columns->goodput)
        table_cell(table, "%s", course->goodput > 0 ? readable_percent(text, course->goodput) : "");
    if (columns->energy)
        table_cell(table, "%s", course->joules > 0 ? readable_watt_hours(text, course->joules) : "");
    if (columns->carbon && way->kilograms >= 0)
        table_cell(table, "%.4g t", way->kilograms / 1000);
    else if (columns->carbon)
        table_cell(table, "%s", "");
    if (columns->band)
        add_band(table, found, way->seconds);
}

static void print_front(FILE *out, const struct fleet *fleet, enum table_format format)
{
    struct columns columns = columns_of(fleet);
    struct table *table = begin_front(&columns);
    for (size_t i = 0; i < fleet->way_count; i++)
        if (fleet->ways[i].front || &fleet->ways[i] == fleet->best)
            add_front(table, fleet, &fleet->ways[i], &columns);
    table_finish(table, out, table_style_of(format, out));
}

/* ---- all clusters ---- */

static void add_number(struct table *table, double value, bool known)
{
    if (!known) {
        table_cell(table, "%s", "");
        return;
    }
    table_cell(table, "%.6g", value);
    table_value(table, value);
}

static struct table *begin_all(void)
{
    struct table *table = table_create();
    table_columns(table, "<status", "<cluster", ">GPUs", ">nodes", "<offer", ">days", ">money", "<front", "<allowed",
                  "<layout", "<schedule", ">iteration s", ">contention s", ">MFU", ">peak bytes", ">goodput",
                  ">energy J", ">carbon kg", ">band low", ">band high", ">bound s", "<date", "<source", "<reason",
                  NULL);
    return table;
}

/* `way` NULL: the cluster has none. */
static void add_all(struct table *table, const struct fleet *fleet, size_t i, const struct fleet_way *way)
{
    const struct fleet_question *question = &fleet->questions.list[i];
    const struct fleet_found *found = &fleet->found[i];
    const struct plan_offer *offer = way ? plan_offer_of(fleet, way) : NULL;
    const struct fleet_course *course = way ? plan_course(fleet, way) : NULL;
    table_cell(table, "%s", fleet_status_names[found->status]);
    table_cell(table, "%s", question->text);
    add_number(table, question->gpus, true);
    add_number(table, question->nodes, true);
    table_cell(table, "%s", offer ? offer->name : "");
    add_number(table, way ? way->seconds / PLAN_DAY : 0, way);
    add_number(table, way ? way->money : 0, way);
    table_cell(table, "%s", !way ? "" : way->front ? "true" : "false");
    table_cell(table, "%s", !way ? "" : way->allowed ? "true" : "false");
    table_cell(table, "%s", way ? found->name : "");
    table_cell(table, "%s", way ? found->schedule : "");
    add_number(table, found->iteration, way && found->iteration > 0);
    add_number(table, found->verified, way && found->verified > 0);
    add_number(table, found->mfu, way && found->mfu > 0);
    add_number(table, found->peak_bytes, way && found->peak_bytes > 0);
    add_number(table, course ? course->goodput : 0, course && course->goodput > 0);
    add_number(table, course ? course->joules : 0, course && course->joules > 0);
    add_number(table, way ? way->kilograms : 0, way && way->kilograms >= 0);
    add_number(table, found->band.low, way && found->band.rows);
    add_number(table, found->band.high, way && found->band.rows);
    add_number(table, found->bound, found->bound > 0);
    table_cell(table, "%s", offer && offer->date ? offer->date : "");
    table_cell(table, "%s", offer && offer->source ? offer->source : "");
    table_cell(table, "%s", found->status == FLEET_ILLEGAL ? found->reason : "");
}

static void print_all(FILE *out, const struct fleet *fleet)
{
    struct table *table = begin_all();
    for (size_t i = 0; i < fleet->way_count; i++)
        add_all(table, fleet, fleet->ways[i].question, &fleet->ways[i]);
    for (size_t i = 0; i < fleet->questions.count; i++)
        if (fleet->found[i].status != FLEET_FOUND)
            add_all(table, fleet, i, NULL);
    table_finish(table, out, (struct table_style){TABLE_CSV, 0});
}

/* ---- JSON ---- */

static void write_number(struct json_writer *json, const char *key, double value, bool known)
{
    if (known)
        json_number(json, key, value);
}

static void write_way(struct json_writer *json, const struct fleet *fleet, const struct fleet_way *way)
{
    const struct fleet_question *question = plan_question(fleet, way);
    const struct fleet_found *found = plan_found(fleet, way);
    const struct plan_offer *offer = plan_offer_of(fleet, way);
    const struct fleet_course *course = plan_course(fleet, way);
    json_object_begin(json, NULL, false);
    json_text(json, "cluster", question->text);
    json_text(json, "offer", offer->name);
    json_number(json, "gpus", question->gpus);
    json_number(json, "nodes", question->nodes);
    json_number(json, "days", way->seconds / PLAN_DAY);
    write_number(json, "days_low", course->low / PLAN_DAY, course->low > 0);
    write_number(json, "days_high", course->high / PLAN_DAY, course->high > 0);
    json_number(json, "money", way->money);
    json_flag(json, "front", way->front);
    json_flag(json, "allowed", way->allowed);
    if (!fleet->member_count) {
        json_text(json, "layout", found->name);
        json_text(json, "schedule", found->schedule);
        json_number(json, "iteration_s", found->iteration);
    }
    write_number(json, "verified_iteration_s", found->verified, found->verified > 0);
    write_number(json, "mfu", found->mfu, found->mfu > 0);
    write_number(json, "peak_bytes", found->peak_bytes, found->peak_bytes > 0);
    write_number(json, "goodput", course->goodput, course->goodput > 0);
    write_number(json, "energy_j", course->joules, course->joules > 0);
    write_number(json, "carbon_kg", way->kilograms, way->kilograms >= 0);
    write_number(json, "band_low", found->band.low, found->band.rows);
    write_number(json, "band_high", found->band.high, found->band.rows);
    json_object_end(json);
}

static void write_others(struct json_writer *json, const struct fleet *fleet)
{
    json_array_begin(json, "others", true);
    for (size_t i = 0; i < fleet->questions.count; i++) {
        const struct fleet_found *found = &fleet->found[i];
        if (found->status == FLEET_FOUND)
            continue;
        json_object_begin(json, NULL, false);
        json_text(json, "cluster", fleet->questions.list[i].text);
        json_number(json, "gpus", fleet->questions.list[i].gpus);
        json_text(json, "status", fleet_status_names[found->status]);
        write_number(json, "bound_s", found->bound, found->bound > 0);
        write_number(json, "least_bytes", found->least_bytes, found->least_bytes > 0);
        if (found->status == FLEET_ILLEGAL)
            json_text(json, "reason", found->reason);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_lines(struct json_writer *json, const char *key, const struct fleet *fleet,
                        void (*put)(FILE *out, const struct fleet *fleet))
{
    char *text = NULL, *rest;
    size_t size = 0;
    FILE *lines = table_remarks_begin(&text, &size);
    put(lines, fleet);
    fclose(lines);
    json_array_begin(json, key, true);
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        json_text(json, NULL, line);
    json_array_end(json);
    free(text);
}

static void print_json(FILE *out, const struct fleet *fleet, const struct plan_worths *worths)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "scenario", fleet->scenario->name);
    if (fleet->scenario->plan.currency)
        json_text(&json, "currency", fleet->scenario->plan.currency);
    write_lines(&json, "verdict", fleet, plan_verdict);
    write_lines(&json, "missing", fleet, plan_missing);
    json_array_begin(&json, "best", true);
    if (fleet->best)
        write_way(&json, fleet, fleet->best);
    json_array_end(&json);
    json_array_begin(&json, "ways", true);
    for (size_t i = 0; i < fleet->way_count; i++)
        write_way(&json, fleet, &fleet->ways[i]);
    json_array_end(&json);
    write_others(&json, fleet);
    plan_family_json(&json, fleet);
    plan_worth_json(&json, fleet, worths);
    plan_law_json(&json, fleet);
    json_object_end(&json);
    fputc('\n', out);
}

/* ---- all of it ---- */

static void print_remarks(FILE *out, const struct fleet *fleet, enum table_format format)
{
    char *lines;
    size_t size;
    FILE *remarks = table_remarks_begin(&lines, &size);
    fputc('\n', remarks);
    plan_verdict(remarks, fleet);
    plan_law(remarks, fleet);
    fputc('\n', remarks);
    plan_missing(remarks, fleet);
    table_remarks_end(out, format, remarks, &lines);
}

void plan_print(FILE *out, const struct fleet *fleet, const struct plan_worths *worths, enum table_format format)
{
    if (format == TABLE_CSV) {
        print_all(out, fleet);
        return;
    }
    if (format == TABLE_JSON) {
        print_json(out, fleet, worths);
        return;
    }
    if (fleet->way_count)
        print_front(out, fleet, format);
    print_remarks(out, fleet, format);
    if (fleet->best && fleet->member_count) {
        fputc('\n', out);
        plan_family_print(out, fleet, format);
    }
    if (worths->count)
        fputc('\n', out);
    if (worths->count)
        plan_worth_print(out, fleet, worths, format);
}
