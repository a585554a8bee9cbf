/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/csv.h"
#include "base/json_writer.h"
#include "base/number_text.h"
#include "base/table.h"
#include "base/text_writer.h"
#include "cluster/answers/queue_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *queue_type_name(const struct queue_view *view, uint32_t type)
{
    return type == UINT32_MAX ? "as logged" : view->queue->types[type].name;
}

const char *queue_evaluations(char *text, size_t size, const struct queue_view *view)
{
    const struct throughput_counts *counts = &view->counts;
    unsigned long long asked = counts->asked, evaluated = counts->evaluated;
    if (asked == 0)
        snprintf(text, size, "all jobs run as long as the log says");
    else
        snprintf(text, size, "%llu throughputs asked for, %llu layouts evaluated (engine %s), %llu known from before",
                 asked, evaluated, view->scenario->engine == ENGINE_ANALYTIC ? "analytic" : "simgrid",
                 asked - evaluated);
    return text;
}

/* ---- for people ---- */

void queue_figure_cell(struct table *table, enum queue_figure figure, double value)
{
    char text[READABLE_MAX];
    if (figure == QUEUE_WAIT || figure == QUEUE_COMPLETION)
        table_cell(table, "%s", readable_seconds(text, value));
    else
        table_cell(table, "%.4g", value);
    table_value(table, value);
}

/* What jobs make of the nodes' time, and of what use free nodes are. */
static void print_use(FILE *out, const struct queue_view *view)
{
    const struct queue_figures *figures = view->figures;
    char running[READABLE_MAX], useful[READABLE_MAX], lost[READABLE_MAX], useless[READABLE_MAX];
    fprintf(out, "running %s, useful %s; free while jobs wait %s; fragmentation %s of free nodes' time",
            readable_percent(running, figures->running), readable_percent(useful, figures->parts[PART_USEFUL]),
            readable_percent(lost, figures->fragments.waiting), readable_percent(useless, figures->fragments.cluster));
    if (!isnan(figures->fragments.blocks))
        fprintf(out, ", %s by blocks", readable_percent(useless, figures->fragments.blocks));
    fputc('\n', out);
}

static void print_remarks(FILE *out, const struct queue_view *view, enum table_format format)
{
    const struct queue_figures *figures = view->figures;
    char text[READABLE_MAX], share[READABLE_MAX], busy[READABLE_MAX], line[256], *lines = NULL;
    size_t size = 0;
    FILE *remarks = table_remarks_begin(&lines, &size);
    diag_print(remarks, "%s: %u jobs on %u nodes of %s, %s\n", view->scenario->name, view->run->request->job_count,
               view->run->request->nodes, view->scenario->platform_name,
               queue_policy_title(view->queue->options.policy));
    fprintf(remarks, "makespan %s, %s of the nodes' time given to jobs, %s busy, at most %u jobs waiting\n",
            readable_seconds(text, figures->makespan), readable_percent(share, figures->allocated),
            readable_percent(busy, figures->busy), figures->longest);
    print_use(remarks, view);
    if (figures->changes)
        fprintf(remarks, "%u %s\n", figures->changes, queue_policy_changes(view->queue->options.policy));
    if (view->queue->options.migrate)
        fprintf(remarks, "jobs moved to better nodes %u times\n", figures->moves);
    if (view->queue->log->passed_over)
        fprintf(remarks, "%zu jobs of the log passed over: they never ran, or had not ended\n",
                view->queue->log->passed_over);
    fprintf(remarks, "%s\n", queue_evaluations(line, sizeof line, view));
    queue_contention_print(remarks, view);
    queue_failures_print(remarks, view);
    queue_energy_print(remarks, view);
    fputc('\n', remarks);
    table_remarks_end(out, format, remarks, &lines);
}

struct table *queue_means_table(const struct queue_view *view)
{
    struct table *table = table_create();
    table_columns(table, "<figure", ">mean", ">median", ">95 %", ">most", ">weighted mean", NULL);
    for (enum queue_figure i = 0; i < QUEUE_FIGURES; i++) {
        const struct queue_mean *mean = &view->figures->means[i];
        table_cell(table, "%s", queue_figure_titles[i]);
        queue_figure_cell(table, i, mean->mean);
        queue_figure_cell(table, i, mean->median);
        queue_figure_cell(table, i, mean->p95);
        queue_figure_cell(table, i, mean->most);
        queue_figure_cell(table, i, mean->weighted);
    }
    return table;
}

void queue_print(FILE *out, const struct queue_view *view, enum table_format format)
{
    print_remarks(out, view, format);
    table_finish(queue_means_table(view), out, table_style_of(format, out));
    queue_answers_print(out, view, format);
    queue_alternatives_print(out, view, format);
}

/* ---- files ---- */

const char *queue_node_text(char *text, size_t size, const uint32_t *nodes, uint32_t count)
{
    size_t used = 0;
    *text = '\0';
    for (uint32_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && nodes[last + 1] == nodes[last] + 1; last++) {}
        char run[32];
        snprintf(run, sizeof run, last > i ? "%s%u-%u" : "%s%u", i ? " " : "", nodes[i], nodes[last]);
        if (used + strlen(run) + 4 >= size) {
            memcpy(text + used, "...", 4);
            return text;
        }
        used += (size_t)snprintf(text + used, size - used, "%s", run);
    }
    return text;
}

static void put(struct text_writer *writer, double value)
{
    text_char(writer, ',');
    text_number(writer, value);
}

static void put_stops(struct text_writer *writer, const struct queue_record *record)
{
    text_char(writer, ',');
    text_integer(writer, record->stops);
    text_char(writer, ',');
    text_integer(writer, record->requeues);
    put(writer, record->saving);
    put(writer, record->lost);
}

static void put_energy_titles(struct text_writer *writer, const struct queue_energy *energy)
{
    text_string(writer, energy->known ? ",energy_j" : "");
    text_string(writer, energy->carbon ? ",carbon_g" : "");
    text_string(writer, energy->priced ? ",price" : "");
}

static void put_energy(struct text_writer *writer, const struct queue_view *view, uint32_t job)
{
    const struct queue_energy *energy = &view->figures->energy;
    if (energy->known)
        put(writer, view->run->records[job].joules);
    if (energy->carbon)
        put(writer, view->run->records[job].grams);
    if (energy->priced)
        put(writer, energy->costs[job]);
}

void queue_jobs_csv(FILE *out, const struct queue_view *view)
{
    const struct queue_run *run = view->run;
    struct arena *arena = arena_create();
    struct text_writer *writer = text_writer_create(out);
    text_string(writer, "job,type,nodes,submit_s,start_s,end_s,alone_s");
    for (int i = 0; i < QUEUE_FIGURES; i++) {
        text_char(writer, ',');
        text_string(writer, queue_figure_names[i]);
    }
    bool fails = run->request->failures != NULL;
    text_string(writer, fails ? ",changes,stops,requeues,saving_s,lost_s" : ",changes");
    put_energy_titles(writer, &view->figures->energy);
    text_string(writer, view->queue->options.migrate ? ",moves\n" : "\n");
    for (uint32_t job = 0; job < run->request->job_count; job++) {
        const struct queue_job *asked = &run->request->jobs[job];
        text_string(writer, csv_cell(asked->name, arena));
        text_char(writer, ',');
        text_string(writer, asked->kind == UINT32_MAX ? "" : csv_cell(queue_type_name(view, asked->kind), arena));
        text_char(writer, ',');
        text_integer(writer, asked->nodes);
        put(writer, asked->submit);
        put(writer, run->records[job].start);
        put(writer, run->records[job].end);
        put(writer, asked->alone);
        for (int i = 0; i < QUEUE_FIGURES; i++)
            put(writer, view->figures->values[i][job]);
        text_char(writer, ',');
        text_integer(writer, run->records[job].changes);
        if (fails)
            put_stops(writer, &run->records[job]);
        put_energy(writer, view, job);
        if (view->queue->options.migrate)
            put(writer, run->records[job].moves);
        text_char(writer, '\n');
    }
    text_writer_destroy(writer);
    arena_destroy(arena);
}

void queue_spans_csv(FILE *out, const struct queue_view *view)
{
    const struct queue_run *run = view->run;
    struct arena *arena = arena_create();
    struct text_writer *writer = text_writer_create(out);
    bool watts = view->figures->energy.known;
    text_string(writer, watts ? "job,from_s,to_s,stalled_s,nodes,energy_j\n" : "job,from_s,to_s,stalled_s,nodes\n");
    for (size_t i = 0; i < run->span_count; i++) {
        const struct queue_span *span = &run->spans[i];
        size_t size = 12 * (size_t)span->count + 16;
        char *nodes = array_zeroed(size, 1);
        text_string(writer, csv_cell(run->request->jobs[span->job].name, arena));
        put(writer, span->from);
        put(writer, span->to);
        put(writer, span->stalled);
        text_char(writer, ',');
        text_string(writer, queue_node_text(nodes, size, span->nodes, span->count));
        if (watts)
            put(writer, span->joules);
        text_char(writer, '\n');
        free(nodes);
    }
    text_writer_destroy(writer);
    arena_destroy(arena);
}

/* How the log says that jobs ended: shares of those of which it does. */
static void put_statuses(struct json_writer *json, const struct queue_view *view)
{
    uint32_t counts[ARRIVAL_STATUSES] = {0}, known = 0;
    for (uint32_t job = 0; job < view->run->request->job_count; job++) {
        enum arrival_status status = view->queue->log->arrivals[job].status;
        counts[status]++;
        known += status != STATUS_UNKNOWN;
    }
    if (!known)
        return;
    json_object_begin(json, "ended", false);
    for (enum arrival_status status = STATUS_DONE; status < ARRIVAL_STATUSES; status++)
        json_number(json, arrival_status_names[status], (double)counts[status] / known);
    json_object_end(json);
}

void queue_json(FILE *out, const struct queue_view *view)
{
    const struct queue_figures *figures = view->figures;
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "kind", "queue");
    json_object_begin(&json, "scenario", false);
    json_text(&json, "name", view->scenario->name);
    json_object_end(&json);
    json_text(&json, "platform", view->scenario->platform_name);
    json_text(&json, "policy", queue_policy_name(view->queue->options.policy));
    json_text(&json, "placement", node_choice_names[view->queue->options.placement]);
    json_integer(&json, "nodes", view->run->request->nodes);
    json_integer(&json, "jobs", view->run->request->job_count);
    json_integer(&json, "passed_over", view->queue->log->passed_over);
    put_statuses(&json, view);
    json_number(&json, "makespan_s", figures->makespan);
    json_number(&json, "allocated", figures->allocated);
    json_number(&json, "busy", figures->busy);
    json_number(&json, "running", figures->running);
    json_number(&json, "node_hours", figures->node_hours);
    json_number(&json, "loss_of_capacity", figures->fragments.waiting);
    json_number(&json, "fragmentation", figures->fragments.cluster);
    if (!isnan(figures->fragments.blocks))
        json_number(&json, "block_fragmentation", figures->fragments.blocks);
    json_integer(&json, "most_waiting", figures->longest);
    json_integer(&json, "changes", figures->changes);
    if (view->queue->options.migrate)
        json_integer(&json, "moves", figures->moves);
    json_object_begin(&json, "node_time", false);
    for (enum queue_part part = 0; part < QUEUE_PARTS; part++)
        json_number(&json, queue_part_names[part], figures->parts[part]);
    json_object_end(&json);
    queue_month_json(&json, view);
    queue_failures_json(&json, view);
    queue_answers_json(&json, view);
    queue_alternatives_json(&json, view);
    json_object_begin(&json, "throughputs", false);
    json_integer(&json, "asked", view->counts.asked);
    json_integer(&json, "evaluated", view->counts.evaluated);
    json_integer(&json, "same_nodes", view->counts.same_nodes);
    json_object_end(&json);
    queue_contention_json(&json, view);
    for (enum queue_figure i = 0; i < QUEUE_FIGURES; i++) {
        const struct queue_mean *mean = &figures->means[i];
        json_object_begin(&json, queue_figure_names[i], false);
        json_number(&json, "mean", mean->mean);
        json_number(&json, "median", mean->median);
        json_number(&json, "p95", mean->p95);
        json_number(&json, "most", mean->most);
        json_number(&json, "weighted", mean->weighted);
        json_object_end(&json);
    }
    json_object_end(&json);
}
