/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/idle_output.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/text_writer.h"

#include <math.h>

const char *const idle_table_names[IDLE_TABLES + 1] = {"decisions.csv", "sizes.csv", "jobs.csv", NULL};

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- for people ---- */

static void add_columns(struct table *table, const char *const *titles)
{
    for (size_t i = 0; titles[i]; i++)
        table_column(table, titles[i], i ? '>' : '<');
}

static void integer_cell(struct table *table, uint64_t value)
{
    table_cell(table, "%llu", (unsigned long long)value);
    table_value(table, (double)value);
}

static void print_policies(FILE *out, const struct idle_study *study, enum table_format format)
{
    static const char *const titles[] = {"method",      "forward",    "decisions",   "rescales",
                                         "preemptions", "idle nodes", "nodes used",  "work",
                                         "dedicated",   "efficiency", "of the best", NULL};
    struct table *table = table_create();
    char text[READABLE_MAX];
    add_columns(table, titles);
    for (size_t i = 0; i < study->nodes->policy_count; i++) {
        const struct idle_policy *policy = &study->nodes->policies[i];
        const struct replay *replay = study->replays[i];
        table_cell(table, "%s", policy->chooser->name);
        table_cell(table, "%s", policy->chooser->forward ? readable_seconds(text, policy->forward) : "");
        if (policy->chooser->forward)
            table_value(table, policy->forward);
        integer_cell(table, replay->decision_count);
        integer_cell(table, replay->rescales);
        integer_cell(table, replay->preemptions);
        table_cell(table, "%.2f", replay->idle_time / replay->duration);
        table_value(table, replay->idle_time / replay->duration);
        table_percent(table, share(replay->used_time, replay->idle_time));
        table_ratio(table, replay->work);
        table_ratio(table, replay->dedicated);
        table_percent(table, replay_efficiency(replay));
        table_percent(table, replay_attainment(replay));
    }
    table_finish(table, out, table_style_of(format, stdout));
}

static void job_row(struct table *table, const struct idle_job *job, const struct job_figures *figures, double duration)
{
    char text[READABLE_MAX];
    bool began = isfinite(figures->began);
    double here = began ? (isfinite(figures->ended) ? figures->ended : duration) - figures->began : 0;
    table_cell(table, "%s", job->name);
    table_cell(table, "%s", began ? readable_seconds(text, figures->began) : "-");
    table_cell(table, "%s", isfinite(figures->ended) ? readable_seconds(text, figures->ended) : "-");
    table_cell(table, "%.2f", share(figures->node_time, here));
    table_cell(table, "%.4g", figures->samples);
    table_percent(table, share(figures->samples, figures->dedicated));
    table_percent(table, share(figures->samples, figures->gross));
    integer_cell(table, figures->grown);
    integer_cell(table, figures->shrunk);
    integer_cell(table, figures->preempted);
}

static void print_jobs(FILE *out, const struct idle_study *study)
{
    enum { JOBS_SHOWN = 20 };
    static const char *const titles[] = {"job",  "began", "ended",  "nodes",     "samples", "efficiency",
                                         "kept", "grown", "shrunk", "preempted", NULL};
    struct table *table = table_create();
    add_columns(table, titles);
    for (size_t i = 0; i < study->job_count && i < JOBS_SHOWN; i++)
        job_row(table, &study->jobs[i], &study->replays[0]->jobs[i], study->replays[0]->duration);
    table_finish(table, out, table_style_of(TABLE_TEXT, stdout));
    if (study->job_count > JOBS_SHOWN)
        fprintf(out, "and %zu more in jobs.csv\n", study->job_count - JOBS_SHOWN);
}

void idle_print(FILE *out, const struct idle_study *study, const char *name, enum table_format format)
{
    const struct replay *first = study->replays[0];
    if (format != TABLE_TEXT) {
        print_policies(out, study, format);
        return;
    }
    struct arena *arena = arena_create();
    diag_print(out, "%s: %u nodes, %.2f idle on average in %s; %zu elastic job%s%s, work in %s\n", name,
               study->log->node_count, first->idle_time / first->duration, idle_duration(first->duration, arena),
               study->job_count, readable_plural(study->job_count), idle_waiting(study, arena), idle_work_unit(study));
    if (study->simulated)
        fprintf(out, "%zu sizes of jobs were simulated for their throughput\n", study->simulated);
    print_policies(out, study, format);
    fprintf(out, "\njobs, %s:\n", idle_policy_name(&study->nodes->policies[0], arena));
    print_jobs(out, study);
    arena_destroy(arena);
}

/* ---- summary.json ---- */

/* What has not happened is left out. */
static void moment(struct json_writer *json, const char *key, double seconds)
{
    json_number(json, key, isfinite(seconds) ? seconds : NAN);
}

static void write_job(struct json_writer *json, const struct idle_job *job, const struct job_figures *figures)
{
    json_object_begin(json, NULL, false);
    json_text(json, "name", job->name);
    moment(json, "began_s", figures->began);
    moment(json, "ended_s", figures->ended);
    json_number(json, "samples", figures->samples);
    json_number(json, "gross_samples", figures->gross);
    json_number(json, "dedicated_samples", figures->dedicated);
    json_number(json, "efficiency", share(figures->samples, figures->dedicated));
    json_number(json, "node_s", figures->node_time);
    json_number(json, "profiling_s", figures->profiling);
    json_integer(json, "grown", figures->grown);
    json_integer(json, "shrunk", figures->shrunk);
    json_integer(json, "preemptions", figures->preempted);
    json_integer(json, "nodes_lost", figures->nodes_lost);
    json_object_end(json);
}

static void write_policy(struct json_writer *json, const struct idle_study *study, size_t i)
{
    const struct idle_policy *policy = &study->nodes->policies[i];
    const struct replay *replay = study->replays[i];
    json_object_begin(json, NULL, true);
    json_text(json, "method", policy->chooser->name);
    json_text(json, "objective", objective_names[policy->objective]);
    if (policy->chooser->forward)
        json_number(json, "forward_s", policy->forward);
    json_integer(json, "decisions", replay->decision_count);
    json_integer(json, "rescales", replay->rescales);
    json_integer(json, "preemptions", replay->preemptions);
    json_integer(json, "finished_jobs", replay->finished);
    json_number(json, "used_node_s", replay->used_time);
    json_number(json, "work", replay->work);
    json_number(json, "gross_work", replay->gross);
    json_number(json, "dedicated_work", replay->dedicated);
    json_number(json, "best_work", replay->best);
    json_number(json, "efficiency", replay_efficiency(replay));
    json_number(json, "of_best", replay_attainment(replay));
    json_array_begin(json, "jobs", true);
    for (size_t job = 0; job < study->job_count; job++)
        write_job(json, &study->jobs[job], &replay->jobs[job]);
    json_array_end(json);
    json_object_end(json);
}

/* What no result depends on. */
static void write_simulation(struct json_writer *json, const struct idle_study *study)
{
    double seconds = 0, decisions = 0;
    for (size_t i = 0; i < study->nodes->policy_count; i++) {
        seconds += study->seconds[i];
        decisions += (double)study->replays[i]->decision_count;
    }
    json_object_begin(json, "simulation", false);
    json_number(json, "cpu_s", seconds);
    json_number(json, "ms_per_decision", 1000 * share(seconds, decisions));
    json_object_end(json);
}

void idle_summary_write(FILE *out, const struct idle_study *study, const struct scenario *scenario)
{
    struct json_writer json = json_writer_init(out);
    const struct replay *first = study->replays[0];
    json_object_begin(&json, NULL, true);
    json_text(&json, "stagesim", STAGESIM_VERSION);
    json_object_begin(&json, "scenario", true);
    json_text(&json, "name", scenario->name);
    json_text(&json, "file", scenario->file);
    json_text(&json, "kind", scenario->kind->key);
    json_object_end(&json);
    json_integer(&json, "nodes", study->log->node_count);
    json_number(&json, "duration_s", first->duration);
    json_number(&json, "idle_node_s", first->idle_time);
    json_number(&json, "mean_idle_nodes", first->idle_time / first->duration);
    json_integer(&json, "simulated_sizes", study->simulated);
    json_integer(&json, "running_most", study->nodes->policies[0].running);
    json_array_begin(&json, "policies", true);
    for (size_t i = 0; i < study->nodes->policy_count; i++)
        write_policy(&json, study, i);
    json_array_end(&json);
    write_simulation(&json, study);
    json_object_end(&json);
}

/* ---- CSV ---- */

/* method and forward_s: what every row begins with. */
static void begin_row(struct text_writer *text, const struct idle_policy *policy)
{
    text_string(text, policy->chooser->name);
    text_char(text, ',');
    if (policy->chooser->forward)
        text_number(text, policy->forward);
}

static void number(struct text_writer *text, double value)
{
    text_char(text, ',');
    if (isfinite(value))
        text_number(text, value);
}

static void integer(struct text_writer *text, uint64_t value)
{
    text_char(text, ',');
    text_integer(text, value);
}

void idle_decisions_write(FILE *out, const struct idle_study *study)
{
    struct text_writer *text = text_writer_create(out);
    text_string(text, "method,forward_s,time_s,left,joined,idle,used,running,grown,shrunk,rate,best_rate,lost\n");
    for (size_t i = 0; i < study->nodes->policy_count; i++)
        for (size_t k = 0; k < study->replays[i]->decision_count; k++) {
            const struct replay_decision *decision = &study->replays[i]->decisions[k];
            begin_row(text, &study->nodes->policies[i]);
            number(text, decision->time);
            integer(text, decision->left);
            integer(text, decision->joined);
            integer(text, decision->idle);
            integer(text, decision->used);
            integer(text, decision->running);
            integer(text, decision->grown);
            integer(text, decision->shrunk);
            number(text, decision->rate);
            number(text, decision->best);
            number(text, decision->lost);
            text_char(text, '\n');
        }
    text_writer_destroy(text);
}

void idle_sizes_write(FILE *out, const struct idle_study *study)
{
    struct arena *arena = arena_create();
    struct text_writer *text = text_writer_create(out);
    text_string(text, "method,forward_s,time_s,job,before,after,cause\n");
    for (size_t i = 0; i < study->nodes->policy_count; i++)
        for (size_t k = 0; k < study->replays[i]->change_count; k++) {
            const struct size_change *change = &study->replays[i]->changes[k];
            begin_row(text, &study->nodes->policies[i]);
            number(text, change->time);
            text_char(text, ',');
            text_string(text, csv_cell(study->jobs[change->job].name, arena));
            integer(text, change->before);
            integer(text, change->after);
            text_char(text, ',');
            text_string(text, size_cause_names[change->cause]);
            text_char(text, '\n');
        }
    text_writer_destroy(text);
    arena_destroy(arena);
}

void idle_jobs_write(FILE *out, const struct idle_study *study)
{
    struct arena *arena = arena_create();
    struct text_writer *text = text_writer_create(out);
    text_string(text, "method,forward_s,job,submit_s,began_s,ended_s,samples,gross_samples,dedicated_samples,node_s,"
                      "profiling_s,grown,shrunk,preemptions,nodes_lost\n");
    for (size_t i = 0; i < study->nodes->policy_count; i++)
        for (size_t k = 0; k < study->job_count; k++) {
            const struct job_figures *figures = &study->replays[i]->jobs[k];
            begin_row(text, &study->nodes->policies[i]);
            text_char(text, ',');
            text_string(text, csv_cell(study->jobs[k].name, arena));
            number(text, study->jobs[k].submit);
            number(text, figures->began);
            number(text, figures->ended);
            number(text, figures->samples);
            number(text, figures->gross);
            number(text, figures->dedicated);
            number(text, figures->node_time);
            number(text, figures->profiling);
            integer(text, figures->grown);
            integer(text, figures->shrunk);
            integer(text, figures->preempted);
            integer(text, figures->nodes_lost);
            text_char(text, '\n');
        }
    text_writer_destroy(text);
    arena_destroy(arena);
}

/* ---- all files ---- */

bool idle_files_write(const struct run_files *files, const struct idle_study *study, const struct idle_view *view,
                      const struct scenario *scenario, struct fault *fault)
{
    static void (*const writers[IDLE_TABLES])(FILE *, const struct idle_study *) = {idle_decisions_write,
                                                                                    idle_sizes_write, idle_jobs_write};
    idle_summary_write(files->summary, study, scenario);
    for (int i = 0; i < IDLE_TABLES; i++)
        if (files->tables[i])
            writers[i](files->tables[i], study);
    if (files->paje)
        idle_paje_write(files->paje, study);
    if (files->chrome)
        idle_chrome_write(files->chrome, study, scenario->name);
    if (files->saved)
        idle_view_write(files->saved, view);
    return idle_view_draw(files, view, fault);
}
