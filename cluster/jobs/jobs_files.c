/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/operations_csv.h"
#include "analysis/output/traces/chrome_trace.h"
#include "analysis/output/traces/paje.h"
#include "analysis/output/traces/perfetto.h"
#include "base/arena.h"
#include "base/files/gzip.h"
#include "base/json_writer.h"
#include "cluster/jobs/jobs_view.h"

#include <stdlib.h>

/* ---- summary.json ---- */

static void write_job(struct json_writer *json, const struct jobs_figures *figures, const struct job_figures *job)
{
    json_object_begin(json, NULL, true);
    json_text(json, "name", job->run.described->name);
    json_integer(json, "ranks", job->run.part->host_count);
    json_integer(json, "simulated_ranks", job->ranks);
    json_number(json, "start_s", job->run.start);
    json_number(json, "end_s", job->run.start + job->duration);
    json_integer(json, "iterations", job->iterations);
    json_integer(json, "simulated_iterations", job->run.iterations);
    json_number(json, "iteration_alone_s", job->alone);
    json_number(json, "iteration_s", job->together);
    json_number(json, "slow_down", job->together / job->alone);
    json_number(json, "iteration_shortest_s", job->shortest);
    json_number(json, "iteration_longest_s", job->longest);
    json_number(json, "bubble_ratio", job->report->bubble);
    json_text(json, "shares_links_with", figures->jobs[job->component].run.described->name);
    if (job->repeats) {
        json_number(json, "cycle_start_s", job->cycle.start);
        json_number(json, "cycle_s", job->cycle.length);
        json_integer(json, "cycle_repeats", job->repeats);
    }
    json_array_begin(json, "hosts", false);
    for (uint32_t i = 0; i < job->run.part->host_count; i++)
        json_text(json, NULL, job->run.part->hosts[i].name);
    json_array_end(json);
    json_array_begin(json, "shared_links", true);
    for (uint32_t i = 0; i < job->meeting_count; i++) {
        json_object_begin(json, NULL, false);
        json_text(json, "link", job->meetings[i].link);
        json_text(json, "with", figures->jobs[job->meetings[i].other].run.described->name);
        json_number(json, "share", job->meetings[i].share);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

static void write_links(struct json_writer *json, const struct jobs_figures *figures)
{
    json_array_begin(json, "links", true);
    for (uint32_t i = 0; i < figures->link_count && i < CLUSTER_LINKS_MAX; i++) {
        json_object_begin(json, NULL, false);
        json_text(json, "name", figures->links[i].name);
        json_integer(json, "jobs", figures->links[i].jobs);
        json_number(json, "busy", figures->links[i].busy);
        json_number(json, "contended", figures->links[i].contended);
        json_object_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "link_kinds", true);
    for (uint32_t i = 0; i < figures->kind_count; i++) {
        const struct cluster_link_kind *kind = &figures->kinds[i];
        json_object_begin(json, NULL, false);
        json_text(json, "name", kind->name);
        json_integer(json, "used", kind->used);
        json_integer(json, "by_several_jobs", kind->several);
        json_number(json, "busy", kind->busy);
        json_number(json, "contended", kind->contended);
        json_number(json, "contended_max", kind->contended_max);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_pairs(struct json_writer *json, const struct jobs_figures *figures)
{
    json_object_begin(json, "interference", true);
    for (uint32_t i = 0; i < figures->count; i++) {
        json_object_begin(json, figures->jobs[i].run.described->name, false);
        for (uint32_t k = 0; k < figures->count; k++)
            if (i != k)
                json_number(json, figures->jobs[k].run.described->name, figures->slow[(size_t)i * figures->count + k]);
        json_object_end(json);
    }
    json_object_end(json);
}

static void write_leads(struct json_writer *json, const struct jobs_figures *figures)
{
    const struct leads_error *error = &figures->leads_error;
    json_object_begin(json, "even_leads", false);
    json_integer(json, "ranks", figures->even_ranks);
    json_integer(json, "checked_jobs", error->jobs);
    if (error->jobs) {
        json_number(json, "error_mean", error->mean);
        json_number(json, "error_max", error->most);
    }
    json_object_end(json);
}

void jobs_summary_write(FILE *out, const struct jobs_figures *figures, const struct jobs_description *description)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "stagesim", STAGESIM_VERSION);
    json_text(&json, "cluster", description->scenario->name);
    json_text(&json, "platform", description->scenario->platform_name);
    json_text(&json, "engine", description->engine->name);
    json_number(&json, "makespan_s", figures->makespan);
    json_integer(&json, "components", figures->components);
    json_integer(&json, "simulated_components", figures->simulated_components);
    json_integer(&json, "simulations", figures->runs);
    json_integer(&json, "ranks", figures->ranks);
    json_integer(&json, "simulated_ranks", figures->simulated_ranks);
    if (figures->unfolded)
        json_text(&json, "fold_reason", figures->unfolded);
    if (figures->even_ranks)
        write_leads(&json, figures);
    json_array_begin(&json, "jobs", true);
    for (uint32_t i = 0; i < figures->count; i++)
        write_job(&json, figures, &figures->jobs[i]);
    json_array_end(&json);
    write_links(&json, figures);
    if (figures->slow)
        write_pairs(&json, figures);
    json_object_end(&json);
    putc('\n', out);
}

/* ---- all files ---- */

/* Which jobs fit into one trace is known when all of them are there. */
static bool allow(const struct run_files *files, const struct trace_job *jobs, uint32_t count, struct arena *arena,
                  struct fault *fault)
{
    const struct program **programs = arena_array(arena, count, sizeof *programs);
    for (uint32_t i = 0; i < count; i++)
        programs[i] = jobs[i].source.timeline->program;
    fault->refused = !run_files_allow(files, NULL, programs, count, fault);
    return !fault->refused;
}

static bool write_traces(const struct run_files *files, const struct jobs_figures *figures, bool all_replicas,
                         struct fault *fault)
{
    struct platform *whole = figures->jobs[0].run.whole;
    struct arena *arena = arena_create();
    struct trace_job *jobs = arena_array(arena, figures->count, sizeof *jobs);
    for (uint32_t i = 0; i < figures->count; i++) {
        const struct job_run *run = &figures->jobs[i].run;
        jobs[i] = (struct trace_job){
            {run->timeline, whole, run->hosts, all_replicas, NULL}, run->described->name, run->start};
    }
    if (!allow(files, jobs, figures->count, arena, fault)) {
        arena_destroy(arena);
        return false;
    }
    if (files->tables[0])
        operations_csv_write_jobs(files->tables[0], jobs, figures->count);
    if (files->paje)
        paje_write_jobs(files->paje, jobs, figures->count);
    if (files->chrome)
        chrome_trace_write_jobs(files->chrome, jobs, figures->count);
    if (files->perfetto)
        perfetto_write_jobs(files->perfetto, jobs, figures->count);
    FILE *packed = files->chrome_gzip ? gzip_open(files->chrome_gzip) : NULL;
    if (packed)
        chrome_trace_write_jobs(packed, jobs, figures->count);
    bool done = !files->chrome_gzip || (packed && !ferror(packed));
    done = (!packed || fclose(packed) == 0) && done;
    bool replayed = run_files_replay(files, jobs, figures->count, fault);
    arena_destroy(arena);
    return (done || fault_set(fault, "timeline.chrome.json.gz could not be written")) && replayed;
}

bool jobs_files_write(const struct run_files *files, const struct jobs_figures *figures,
                      const struct jobs_description *description, const struct jobs_view *view, struct fault *fault)
{
    jobs_summary_write(files->summary, figures, description);
    jobs_view_write(files->saved, view);
    return write_traces(files, figures, description->scenario->all_replicas, fault) &&
           jobs_view_draw(files, view, fault);
}
