/* SPDX-License-Identifier: Apache-2.0 */
/* What failed in a queue, for people and for programs. */
#include "base/arena.h"
#include "base/csv.h"
#include "base/table.h"
#include "base/text_writer.h"
#include "cluster/answers/queue_output.h"

#include <stdlib.h>

/* What a component of the plan did. */
struct tally {
    uint32_t failures, stops;
    double away; /* seconds of nodes, as drawn */
};

/* By component; the caller frees it. */
static struct tally *count(const struct queue_view *view)
{
    const struct queue_run *run = view->run;
    const struct training_plan *plan = run->request->failures->cluster;
    struct tally *tallies = array_zeroed(plan->component_count + 1, sizeof *tallies);
    for (size_t i = 0; i < run->outage_count; i++) {
        const struct queue_outage *outage = &run->outages[i];
        struct tally *tally = &tallies[outage->component - plan->components];
        tally->failures++;
        tally->stops += outage->job_count;
        for (uint32_t k = 0; k < outage->count && outage->repairs; k++)
            tally->away += outage->repairs[k];
    }
    return tallies;
}

bool queue_fails(const struct queue_view *view)
{
    return view->queue->training && view->queue->training->fails;
}

void queue_failures_print(FILE *out, const struct queue_view *view)
{
    const struct queue_figures *figures = view->figures;
    const struct queue_failures *failures = view->run->request->failures;
    char text[READABLE_MAX];
    if (!failures)
        return;
    if (queue_fails(view))
        fprintf(out, "%zu failures stopped jobs %u times, %u of them waited for nodes again; %u spare node%s\n",
                view->run->outage_count, figures->stops, figures->requeues, failures->spares,
                failures->spares == 1 ? "" : "s");
    fputs("nodes' time: ", out);
    for (enum queue_part part = 0; part < QUEUE_PARTS; part++)
        fprintf(out, "%s%s %s", part ? ", " : "", queue_part_titles[part],
                readable_percent(text, figures->parts[part]));
    fputc('\n', out);
}

static void put(struct text_writer *writer, double value)
{
    text_char(writer, ',');
    text_number(writer, value);
}

static void put_nodes(struct text_writer *writer, const struct queue_outage *outage)
{
    text_char(writer, ',');
    text_integer(writer, outage->first);
    if (outage->count > 1) {
        text_char(writer, '-');
        text_integer(writer, outage->first + outage->count - 1);
    }
}

void queue_failures_csv(FILE *out, const struct queue_view *view)
{
    const struct queue_run *run = view->run;
    struct arena *arena = arena_create();
    struct text_writer *writer = text_writer_create(out);
    text_string(writer, "time_s,what,nodes,detection_s,replacement_s,restart_s,repair_s,jobs\n");
    for (size_t i = 0; i < run->outage_count; i++) {
        const struct queue_outage *outage = &run->outages[i];
        text_number(writer, outage->time);
        text_char(writer, ',');
        text_string(writer, csv_cell(outage->component->name, arena));
        put_nodes(writer, outage);
        put(writer, outage->detection);
        put(writer, outage->replacement);
        put(writer, outage->back);
        text_char(writer, ',');
        for (uint32_t k = 0; k < outage->count && outage->repairs; k++) {
            text_string(writer, k ? " " : "");
            text_number(writer, outage->repairs[k]);
        }
        const char *jobs = "";
        for (uint32_t k = 0; k < outage->job_count; k++)
            jobs = arena_print(arena, "%s%s%s", jobs, k ? " " : "", run->request->jobs[outage->jobs[k]].name);
        text_char(writer, ',');
        text_string(writer, csv_cell(jobs, arena));
        text_char(writer, '\n');
    }
    text_writer_destroy(writer);
    arena_destroy(arena);
}

void queue_failures_json(struct json_writer *json, const struct queue_view *view)
{
    const struct queue_failures *failures = view->run->request->failures;
    if (!queue_fails(view))
        return;
    struct tally *tallies = count(view);
    json_object_begin(json, "failures", true);
    json_integer(json, "count", view->run->outage_count);
    json_integer(json, "stops", view->figures->stops);
    json_integer(json, "requeues", view->figures->requeues);
    json_integer(json, "spares", failures->spares);
    json_array_begin(json, "components", true);
    for (size_t i = 0; i < failures->cluster->component_count; i++) {
        json_object_begin(json, NULL, false);
        json_text(json, "name", failures->cluster->components[i].name);
        json_integer(json, "count", tallies[i].failures);
        json_integer(json, "stops", tallies[i].stops);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
    free(tallies);
}

static struct table *table_of_parts(const struct queue_figures *figures)
{
    struct table *table = table_create();
    table_columns(table, "<part", ">share", NULL);
    for (enum queue_part part = 0; part < QUEUE_PARTS; part++) {
        table_cell(table, "%s", queue_part_titles[part]);
        table_percent(table, figures->parts[part]);
    }
    return table;
}

void queue_failures_page(struct queue_page *page, const struct queue_view *view)
{
    const struct queue_failures *failures = view->run->request->failures;
    if (!failures)
        return;
    queue_page_table(page, "What the nodes' time goes into", table_of_parts(view->figures))->sorts = false;
    if (!queue_fails(view))
        return;
    struct tally *tallies = count(view);
    struct table *table = table_create();
    table_columns(table, "<component", ">failures", ">stopped jobs", ">node hours of repair", NULL);
    for (size_t i = 0; i < failures->cluster->component_count; i++) {
        table_cell(table, "%s", failures->cluster->components[i].name);
        table_cell(table, "%u", tallies[i].failures);
        table_cell(table, "%u", tallies[i].stops);
        table_cell(table, "%.1f", tallies[i].away / 3600);
    }
    queue_page_table(page, "What failed", table);
    free(tallies);
}
