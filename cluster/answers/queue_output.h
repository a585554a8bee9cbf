/* SPDX-License-Identifier: Apache-2.0 */
/* What a queue shows: tables, files, pictures. */
#ifndef STAGESIM_QUEUE_OUTPUT_H
#define STAGESIM_QUEUE_OUTPUT_H

#include "base/json_writer.h"
#include "base/table.h"
#include "base/tables/table_write.h"
#include "cluster/answers/queue_page.h"
#include "cluster/queue/queue_alternatives.h"
#include "cluster/queue/queue_scenario.h"
#include "cluster/queue/slowing.h"
#include "cluster/queue/throughput.h"
#include "cluster/scheduling/figures.h"
#include "cluster/scheduling/groups.h"
#include "cluster/scheduling/months.h"

/* All of a run; borrowed. */
struct queue_view {
    const struct scenario *scenario;
    const struct queue_scenario *queue;
    const struct queue_run *run;
    const struct queue_figures *figures;
    struct throughput_counts counts;
    struct queue_groups by_size, by_user;
    struct queue_months months;             /* runs of at most 1: there is but one */
    struct queue_alternatives alternatives; /* count 0: were not asked for */
    struct set_counts sets;
};

/* Whether nodes may fail. */
bool queue_fails(const struct queue_view *view);

/* What people read. */
void queue_print(FILE *out, const struct queue_view *view, enum table_format format);
/* "720 jobs in 3 layouts": how many evaluations the throughputs took; returns text. */
const char *queue_evaluations(char *text, size_t size, const struct queue_view *view);
/* "gpt", or "from the log". */
const char *queue_type_name(const struct queue_view *view, uint32_t type);

/* A line for each job. Errors stay on the stream, as of all writers. */
void queue_jobs_csv(FILE *out, const struct queue_view *view);
/* A line for each time that a job had nodes. */
void queue_spans_csv(FILE *out, const struct queue_view *view);
/* A line for each failure that met nodes. */
void queue_failures_csv(FILE *out, const struct queue_view *view);
void queue_json(FILE *out, const struct queue_view *view);
/* Containers for nodes, states for jobs, variables for what waits and what is in use. */
void queue_paje(FILE *out, const struct queue_view *view);
void queue_chrome(FILE *out, const struct queue_view *view);

/* What the page shows of it (queue_page.h). */
struct table *queue_means_table(const struct queue_view *view);
void queue_figure_cell(struct table *table, enum queue_figure figure, double value);

/* What failed, how often, and what that did. */
void queue_failures_json(struct json_writer *json, const struct queue_view *view);
void queue_failures_page(struct queue_page *page, const struct queue_view *view);
/* Two lines for people. */
void queue_failures_print(FILE *out, const struct queue_view *view);

/* Energy, carbon and price, as far as they are known. */
void queue_energy_json(struct json_writer *json, const struct queue_energy *energy, double joules, double grams,
                       double cost);
/* The same as columns of tables. */
void queue_energy_columns(struct table *table, const struct queue_energy *energy);
void queue_energy_cell(struct table *table, double joules);
void queue_energy_cells(struct table *table, const struct queue_energy *energy, double joules, double grams,
                        double cost);
/* The same of the whole cluster, with what was drawn for nothing. */
void queue_month_json(struct json_writer *json, const struct queue_view *view);
/* A line for people; nothing where nothing is known. */
void queue_energy_print(FILE *out, const struct queue_view *view);
void queue_energy_tiles(struct queue_page *page, const struct queue_view *view, struct arena *arena);

/* What sets of jobs came to, and how: where jobs slow each other down. */
void queue_contention_print(FILE *out, const struct queue_view *view);
void queue_contention_json(struct json_writer *json, const struct queue_view *view);

/* By size and by user, and over many months; all but the text for formats that people read. */
void queue_answers_print(FILE *out, const struct queue_view *view, enum table_format format);
void queue_answers_json(struct json_writer *json, const struct queue_view *view);
void queue_answers_page(struct queue_page *page, const struct queue_view *view);

/* What others would bring; nothing where it was not asked for. */
void queue_alternatives_print(FILE *out, const struct queue_view *view, enum table_format format);
void queue_alternatives_json(struct json_writer *json, const struct queue_view *view);
void queue_alternatives_page(struct queue_page *page, const struct queue_view *view, struct arena *arena);

/* For each kind of jobs, what draws one iteration of it. */
void queue_zoom_page(struct queue_page *page, const struct queue_view *view, struct arena *arena);

/* "0-3 8": runs of nodes; returns text, cut with "..." where it is longer. */
const char *queue_node_text(char *text, size_t size, const uint32_t *nodes, uint32_t count);

#endif
