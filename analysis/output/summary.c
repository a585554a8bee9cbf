/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/summary.h"

#include "analysis/output/contention_print.h"
#include "analysis/output/summary_others.h"
#include "base/json_writer.h"
#include "simulator/tails/tails_text.h"
#include "training/forecast_text.h"

static void write_mesh(struct json_writer *json, const struct mesh *mesh)
{
    json_object_begin(json, "mesh", false);
    for (unsigned i = 0; i < mesh->name_count; i++)
        json_integer(json, mesh->names[i].name, mesh->names[i].size);
    if (mesh->extra)
        json_integer(json, "servers", mesh->extra);
    json_object_end(json);
}

static void write_text(struct json_writer *json, const char *key, const char *text)
{
    if (text)
        json_text(json, key, text);
}

/* A figure that may not apply. */
static void write_positive(struct json_writer *json, const char *key, double value)
{
    if (value > 0)
        json_number(json, key, value);
}

/* A list on lines of its own, where there is one. */
static void write_texts(struct json_writer *json, const char *key, const char *const *texts, size_t count)
{
    if (count)
        json_array_begin(json, key, true);
    for (size_t i = 0; i < count; i++)
        json_text(json, NULL, texts[i]);
    if (count)
        json_array_end(json);
}

static void write_imported(struct json_writer *json, const struct run_imported *imported)
{
    if (!imported->summary)
        return;
    json_object_begin(json, "imported", true);
    json_text(json, "summary", imported->summary);
    write_texts(json, "not_modelled", imported->not_modelled.texts, imported->not_modelled.count);
    write_texts(json, "not_known", imported->not_known.texts, imported->not_known.count);
    write_texts(json, "assumed", imported->assumed.texts, imported->assumed.count);
    json_object_end(json);
}

static void write_scenario(struct json_writer *json, const struct report *report)
{
    const struct run_description *run = &report->run;
    json_object_begin(json, "scenario", true);
    write_text(json, "name", run->scenario_name);
    write_text(json, "file", run->scenario_file);
    write_text(json, "platform", run->platform_file);
    write_text(json, "workload", run->workload);
    write_text(json, "schedule", run->schedule);
    write_text(json, "engine", run->engine);
    json_integer(json, "ranks", report->ranks);
    write_mesh(json, report->mesh);
    if (report->pipeline_workers) {
        json_integer(json, "pipeline_workers", report->pipeline_workers);
        json_integer(json, "stages", report->stages);
        write_text(json, "pipeline_layout", run->figures.pipeline_layout);
    }
    write_positive(json, "kernels", run->figures.kernels);
    if (run->figures.kernels)
        json_integer(json, "kernels_outside", run->figures.kernels_outside);
    write_text(json, "choices", run->figures.choices);
    if (report->micro_batches)
        json_integer(json, "micro_batches", report->micro_batches);
    write_positive(json, "micro_batch_size", run->micro_batch_size);
    json_flag(json, "synchronous", !run->asynchronous);
    write_text(json, "model", run->model);
    write_text(json, "precision", run->precision);
    write_text(json, "gpu", run->gpu);
    write_text(json, "framework", run->release);
    write_text(json, "calibration", run->calibration);
    write_imported(json, &run->imported);
    write_texts(json, "notes", run->notes, run->note_count);
    json_object_end(json);
}

static void write_training(struct json_writer *json, const struct report *report)
{
    if (report->training_s <= 0 && report->million_tokens_cost <= 0)
        return;
    json_object_begin(json, "training", false);
    write_positive(json, "tokens", report->training_s > 0 ? report->run.figures.tokens : 0);
    write_positive(json, "days", report->training_s / 86400);
    write_positive(json, "cost", report->training_cost);
    write_positive(json, "cost_per_million_tokens", report->million_tokens_cost);
    write_positive(json, "price_per_gpu_hour", report->run.figures.price);
    write_text(json, "currency", report->run.currency);
    json_object_end(json);
}

static void write_band(struct json_writer *json, const struct report *report)
{
    const struct band *band = &report->run.band;
    if (!band->rows)
        return;
    json_object_begin(json, "band", false);
    json_number(json, "low_s", report->iteration * band->low);
    json_number(json, "high_s", report->iteration * band->high);
    json_number(json, "share", 0.8);
    json_integer(json, band->own ? "own_runs" : "published_jobs", band->rows);
    write_text(json, "alike", *band->likes ? band->likes : NULL);
    write_text(json, "lacks", *band->lacks ? band->lacks : NULL);
    json_object_end(json);
}

static void write_outlook(struct json_writer *json, const struct report *report)
{
    const struct memory_outlook *outlook = &report->outlook;
    const struct band *band = &report->run.memory.band;
    if (!outlook->jobs)
        return;
    json_object_begin(json, "band", false);
    json_number(json, "low_bytes", outlook->low);
    json_number(json, "high_bytes", outlook->high);
    json_number(json, "share", 0.8);
    if (outlook->sure >= 0)
        json_number(json, "fits_share", outlook->sure);
    json_integer(json, band->own ? "own_runs" : "published_jobs", outlook->jobs);
    write_text(json, "alike", *band->likes ? band->likes : NULL);
    write_text(json, "lacks", *band->lacks ? band->lacks : NULL);
    json_object_end(json);
}

static void write_time(struct json_writer *json, const struct report *report)
{
    json_object_begin(json, "time", false);
    json_number(json, "iteration_s", report->iteration);
    write_band(json, report);
    json_number(json, "makespan_s", report->makespan);
    json_integer(json, "iterations", report->iterations);
    if (report->run.settle)
        json_flag(json, "settled", report->settled);
    write_positive(json, "shortest_iteration_s", report->shortest_iteration);
    write_positive(json, "longest_iteration_s", report->longest_iteration);
    write_positive(json, "period", report->period);
    if (report->independent)
        json_flag(json, "independent", true);
    if (report->steady_state)
        json_flag(json, "steady_state", true);
    if (report->cycle_iterations) {
        json_integer(json, "cycle_iterations", report->cycle_iterations);
        json_number(json, "cycle_start_s", report->cycle_start);
        json_number(json, "cycle_length_s", report->cycle_length);
    }
    if (report->window_end > report->window_start) {
        json_number(json, "window_start_s", report->window_start);
        json_number(json, "window_end_s", report->window_end);
    }
    json_object_end(json);
    tails_write(json, &report->tails);
    if (report->samples_per_s <= 0 && report->model_flops_per_s_per_gpu <= 0)
        return;
    json_object_begin(json, "throughput", false);
    write_positive(json, "samples_per_s", report->samples_per_s);
    write_positive(json, "tokens_per_s", report->tokens_per_s);
    write_positive(json, "model_flops_per_s_per_gpu", report->model_flops_per_s_per_gpu);
    write_positive(json, "mfu", report->mfu);
    write_positive(json, "hfu", report->hfu);
    json_object_end(json);
    summary_limits_write(json, report);
    summary_towers_write(json, report);
    write_training(json, report);
    forecast_write(json, &report->forecast);
}

static void write_causes(struct json_writer *json, const double *causes)
{
    json_object_begin(json, "causes", false);
    for (int i = 0; i < CAUSES; i++)
        json_number(json, cause_names[i], causes[i]);
    json_object_end(json);
}

static void write_bubble(struct json_writer *json, const struct report *report)
{
    json_object_begin(json, "bubble", true);
    json_number(json, "ratio", report->bubble);
    json_number(json, "min", report->bubble_min);
    json_number(json, "max", report->bubble_max);
    json_number(json, "over_ideal", report->over_ideal);
    json_number(json, "span_max", report->span_max);
    write_causes(json, report->causes);
    json_object_end(json);
}

static void write_idle_run(struct json_writer *json, const char *name, const struct idle_run *run)
{
    json_object_begin(json, name, false);
    json_number(json, "iteration_s", run->iteration);
    json_number(json, "busy_s", run->busy);
    json_number(json, "busy_max_s", run->busy_max);
    json_object_end(json);
}

static void write_idle(struct json_writer *json, const struct report *report)
{
    if (!report->idle.known)
        return;
    json_object_begin(json, "idle", true);
    for (int i = 0; i < IDLE_PARTS; i++)
        json_number(json, idle_names[i], report->idle.shares[i]);
    write_idle_run(json, "transfers_free", &report->idle.free);
    write_idle_run(json, "transfers_alone", &report->idle.alone);
    json_object_end(json);
}

static void write_memory_parts(struct json_writer *json, const struct report *report)
{
    double bytes;
    json_object_begin(json, "parts", false);
    json_number(json, "parameters_bytes", report->parts.parameters);
    json_number(json, "gradients_bytes", report->parts.gradients);
    json_number(json, "optimizer_bytes", report->parts.optimizer);
    json_number(json, "buffers_bytes", report->parts.buffers);
    json_number(json, "activations_bytes", report->parts.activations);
    json_object_end(json);
    json_text(json, "dominant", memory_dominant(&report->parts, &bytes));
    if (!report->lever_count)
        return;
    json_array_begin(json, "levers", false);
    for (unsigned i = 0; i < report->lever_count; i++) {
        const struct lever *lever = &report->levers[i];
        json_object_begin(json, NULL, false);
        json_text(json, "setting", lever->setting);
        json_number(json, "peak_bytes", lever->peak_bytes);
        json_flag(json, "fits", lever->fits);
        json_object_end(json);
    }
    json_array_end(json);
}

/* Of the workers listed; a rank of another replica may have more. */
static double largest_stash(const struct report *report)
{
    double largest = 0;
    for (uint32_t i = 0; i < report->worker_count; i++)
        largest = report->workers[i].peak_in_flight > largest ? report->workers[i].peak_in_flight : largest;
    return largest;
}

static void write_collectives(struct json_writer *json, const struct report *report)
{
    if (!report->collective_count)
        return;
    json_array_begin(json, "collectives", true);
    for (size_t i = 0; i < report->collective_count; i++) {
        const struct collective_use *use = &report->collectives[i];
        json_object_begin(json, NULL, false);
        json_text(json, "collective", use->collective);
        json_integer(json, "ranks", use->ranks);
        json_text(json, "algorithm", use->algorithm);
        write_text(json, "protocol", use->protocol);
        json_number(json, "count", use->count);
        json_number(json, "least_bytes", use->least_bytes);
        json_number(json, "most_bytes", use->most_bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_power(struct json_writer *json, const struct power_figures *power)
{
    if (power->clock <= 0)
        return;
    json_object_begin(json, "power", false);
    write_positive(json, "cap_w", power->cap);
    write_positive(json, "budget_w", power->budget);
    json_number(json, "clock", power->clock);
    if (power->clock < 1 && power->compute_bound >= 0)
        json_number(json, "compute_bound", power->compute_bound);
    json_number(json, "most_w", power->peak);
    json_flag(json, "table", power->table);
    json_number(json, "pue", power->pue);
    json_object_end(json);
    if (power->carbon <= 0)
        return;
    json_object_begin(json, "carbon", false);
    json_number(json, "kg", power->carbon);
    write_positive(json, "kg_per_token", power->carbon_per_token);
    json_number(json, "intensity_g_per_kwh", power->intensity);
    json_object_end(json);
}

static void write_resources(struct json_writer *json, const struct report *report)
{
    json_object_begin(json, "communication", false);
    json_number(json, "exposed_s", report->exposed);
    json_number(json, "overlapped_s", report->overlapped);
    json_number(json, "sent_bytes", report->sent_bytes);
    json_object_end(json);
    if (report->peak_in_flight != largest_stash(report)) {
        json_object_begin(json, "stash", false);
        json_number(json, "peak_in_flight", report->peak_in_flight);
        json_object_end(json);
    }
    write_collectives(json, report);
    if (report->peak_bytes > 0) {
        json_object_begin(json, "memory", false);
        json_number(json, "peak_bytes", report->peak_bytes);
        write_positive(json, "capacity_bytes", report->capacity_bytes);
        write_positive(json, "reserve_ratio", report->run.reserve);
        if (report->capacity_bytes > 0)
            json_flag(json, "fits", report->fits);
        write_positive(json, "beside_bytes", report->run.memory.beside);
        write_outlook(json, report);
        write_memory_parts(json, report);
        json_object_end(json);
    }
    if (report->energy >= 0) {
        json_object_begin(json, "energy", false);
        json_number(json, "total_j", report->energy);
        write_positive(json, "links_j", report->link_energy);
        write_positive(json, "simgrid_j", report->power.measured);
        json_object_end(json);
    }
    write_power(json, &report->power);
}

static void write_critical_path(struct json_writer *json, const struct report *report)
{
    if (!report->has_critical_path)
        return;
    json_object_begin(json, "critical_path", false);
    json_number(json, "length_s", report->critical_length);
    json_number(json, "compute_s", report->critical_compute);
    json_number(json, "receive_s", report->critical_receive);
    json_number(json, "collective_s", report->critical_collective);
    write_positive(json, "delay_s", report->critical_delay);
    if (report->critical_transfer.kind) {
        json_text(json, "most_kind", report->critical_transfer.kind);
        json_flag(json, "most_collective", report->critical_transfer.collective);
        json_number(json, "most_s", report->critical_transfer.seconds);
    }
    json_object_end(json);
}

/* Shares of T: by how many per cent it falls per per cent that each is faster. */
static void write_sensitivity(struct json_writer *json, const struct report *report)
{
    if (!report->has_critical_path || report->critical_length <= 0)
        return;
    json_object_begin(json, "sensitivity", false);
    json_number(json, "compute_s", report->sensitive_compute);
    json_number(json, "bandwidth_s", report->sensitive_bandwidth);
    json_number(json, "latency_s", report->sensitive_latency);
    json_number(json, "compute", report->sensitive_compute / report->critical_length);
    json_number(json, "bandwidth", report->sensitive_bandwidth / report->critical_length);
    json_number(json, "latency", report->sensitive_latency / report->critical_length);
    json_object_end(json);
}

static void write_workers(struct json_writer *json, const struct report *report)
{
    json_array_begin(json, "workers", true);
    for (uint32_t i = 0; i < report->worker_count; i++) {
        const struct worker_report *worker = &report->workers[i];
        json_object_begin(json, NULL, false);
        json_integer(json, "position", worker->position);
        json_integer(json, "rank", worker->rank);
        if (worker->simulated_rank != worker->rank)
            json_integer(json, "simulated_rank", worker->simulated_rank);
        json_text(json, "host", worker->host);
        json_number(json, "busy_s", worker->busy);
        json_number(json, "span_s", worker->span);
        json_number(json, "bubble", worker->bubble);
        json_number(json, "peak_in_flight", worker->peak_in_flight);
        write_positive(json, "peak_bytes", worker->peak_bytes);
        if (report->run.staleness)
            json_integer(json, "staleness", report->run.staleness[worker->position]);
        write_causes(json, worker->causes);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_links(struct json_writer *json, const struct report *report)
{
    if (!report->link_count)
        return;
    json_array_begin(json, "links", true);
    for (uint32_t i = 0; i < report->link_count; i++) {
        json_object_begin(json, NULL, false);
        json_text(json, "name", report->links[i].name);
        json_number(json, "bytes", report->links[i].bytes);
        json_number(json, "utilization", report->links[i].utilization);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_link_kinds(struct json_writer *json, const struct report *report)
{
    if (!report->link_kind_count)
        return;
    json_array_begin(json, "link_kinds", true);
    for (uint32_t i = 0; i < report->link_kind_count; i++) {
        const struct link_kind *kind = &report->link_kinds[i];
        json_object_begin(json, NULL, false);
        json_text(json, "name", kind->name);
        json_integer(json, "count", kind->count);
        json_integer(json, "used", kind->used);
        json_number(json, "bandwidth_bytes_per_s", kind->bandwidth);
        json_number(json, "bytes", kind->bytes);
        json_number(json, "utilization", kind->utilization);
        json_number(json, "utilization_max", kind->utilization_max);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_simulation(struct json_writer *json, const struct report *report)
{
    json_object_begin(json, "simulation", false);
    json_number(json, "wall_s", report->wall);
    json_integer(json, "activities", report->activities);
    json_number(json, "activities_per_s", report->activities_per_s);
    json_number(json, "peak_rss_bytes", report->peak_rss_bytes);
    if (report->platform_loader)
        json_text(json, "platform_loader", report->platform_loader);
    if (report->platform_loader_reason)
        json_text(json, "platform_loader_reason", report->platform_loader_reason);
    write_text(json, "simgrid", report->run.simgrid);
    write_text(json, "command", report->run.command);
    if (report->run.input_count) {
        json_array_begin(json, "inputs", false);
        for (size_t i = 0; i < report->run.input_count; i++)
            json_text(json, NULL, report->run.inputs[i]);
        json_array_end(json);
    }
    json_object_end(json);
}

/* What was simulated, and what is represented by it. */
static void write_folding(struct json_writer *json, const struct report *report)
{
    bool reason = report->run.fold_reason && *report->run.fold_reason;
    if (!report->represented_ranks && !reason)
        return;
    json_object_begin(json, "folding", false);
    json_integer(json, "simulated_ranks", report->ranks - report->represented_ranks);
    json_integer(json, "represented_ranks", report->represented_ranks);
    if (report->run.folded_replicas > 1)
        json_integer(json, "replicas", report->run.folded_replicas);
    if (report->run.fold_classes)
        json_integer(json, "classes", report->run.fold_classes);
    if (report->run.fold_classes_but_latency)
        json_integer(json, "classes_but_for_latencies", report->run.fold_classes_but_latency);
    if (reason)
        json_text(json, "reason", report->run.fold_reason);
    json_object_end(json);
}

void summary_write(FILE *out, const struct report *report)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_integer(&json, "schema", 1);
    json_text(&json, "stagesim", STAGESIM_VERSION);
    write_scenario(&json, report);
    write_time(&json, report);
    write_bubble(&json, report);
    write_idle(&json, report);
    write_resources(&json, report);
    write_critical_path(&json, report);
    write_sensitivity(&json, report);
    if (report->contention)
        contention_write(&json, report);
    write_workers(&json, report);
    write_links(&json, report);
    write_link_kinds(&json, report);
    write_folding(&json, report);
    summary_steady_write(&json, &report->run.steady);
    summary_nearest_write(&json, &report->run.nearest);
    write_simulation(&json, report);
    json_object_end(&json);
}
