/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/saved/saved_summary.h"

#include "analysis/output/saved/saved_member.h"
#include "base/arena.h"
#include "base/document.h"
#include "simulator/tails/tails_text.h"
#include "training/forecast_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_SIZE_MAX = 256 << 20 };

static const struct document_kind summary_kind = {
    NODE_MAP, FILE_SIZE_MAX, "the summary of a run, as `stagesim run -o DIR` writes it", "one file is one summary"};

#define REPORT(path, type, required, name)                                                                             \
    {                                                                                                                  \
        path, type, required, offsetof(struct report, name)                                                            \
    }
#define WORKER(path, type, required, name)                                                                             \
    {                                                                                                                  \
        path, type, required, offsetof(struct worker_report, name)                                                     \
    }

static const struct saved_member report_members[] = {
    REPORT("scenario.name", SAVED_TEXT, true, run.scenario_name),
    REPORT("scenario.file", SAVED_TEXT, false, run.scenario_file),
    REPORT("scenario.platform", SAVED_TEXT, true, run.platform_file),
    REPORT("scenario.workload", SAVED_TEXT, true, run.workload),
    REPORT("scenario.schedule", SAVED_TEXT, false, run.schedule),
    REPORT("scenario.engine", SAVED_TEXT, true, run.engine),
    REPORT("scenario.ranks", SAVED_COUNT, true, ranks),
    REPORT("scenario.pipeline_workers", SAVED_COUNT, false, pipeline_workers),
    REPORT("scenario.stages", SAVED_COUNT, false, stages),
    REPORT("scenario.micro_batches", SAVED_COUNT, false, micro_batches),
    REPORT("scenario.micro_batch_size", SAVED_POSITIVE, false, run.micro_batch_size),
    REPORT("time.iteration_s", SAVED_POSITIVE, true, iteration),
    REPORT("time.makespan_s", SAVED_POSITIVE, true, makespan),
    REPORT("time.iterations", SAVED_COUNT, true, iterations),
    REPORT("time.steady_state", SAVED_FLAG, false, steady_state),
    REPORT("time.cycle_iterations", SAVED_COUNT, false, cycle_iterations),
    REPORT("time.cycle_start_s", SAVED_POSITIVE, false, cycle_start),
    REPORT("time.cycle_length_s", SAVED_POSITIVE, false, cycle_length),
    REPORT("time.window_start_s", SAVED_POSITIVE, false, window_start),
    REPORT("time.window_end_s", SAVED_POSITIVE, false, window_end),
    REPORT("throughput.samples_per_s", SAVED_POSITIVE, false, samples_per_s),
    REPORT("throughput.tokens_per_s", SAVED_POSITIVE, false, tokens_per_s),
    REPORT("throughput.model_flops_per_s_per_gpu", SAVED_POSITIVE, false, model_flops_per_s_per_gpu),
    REPORT("throughput.mfu", SAVED_POSITIVE, false, mfu),
    REPORT("throughput.hfu", SAVED_POSITIVE, false, hfu),
    REPORT("bubble.ratio", SAVED_NUMBER, true, bubble),
    REPORT("bubble.min", SAVED_NUMBER, true, bubble_min),
    REPORT("bubble.max", SAVED_NUMBER, true, bubble_max),
    REPORT("bubble.over_ideal", SAVED_NUMBER, false, over_ideal),
    REPORT("bubble.span_max", SAVED_NUMBER, true, span_max),
    REPORT("idle.order", SAVED_NUMBER, false, idle.shares[IDLE_ORDER]),
    REPORT("idle.imbalance", SAVED_NUMBER, false, idle.shares[IDLE_IMBALANCE]),
    REPORT("idle.transfer", SAVED_NUMBER, false, idle.shares[IDLE_TRANSFER]),
    REPORT("idle.contention", SAVED_NUMBER, false, idle.shares[IDLE_CONTENTION]),
    REPORT("communication.exposed_s", SAVED_POSITIVE, true, exposed),
    REPORT("communication.overlapped_s", SAVED_POSITIVE, true, overlapped),
    REPORT("communication.sent_bytes", SAVED_POSITIVE, true, sent_bytes),
    REPORT("stash.peak_in_flight", SAVED_NUMBER, false, peak_in_flight),
    REPORT("memory.peak_bytes", SAVED_POSITIVE, false, peak_bytes),
    REPORT("memory.capacity_bytes", SAVED_POSITIVE, false, capacity_bytes),
    REPORT("memory.fits", SAVED_FLAG, false, fits),
    REPORT("memory.beside_bytes", SAVED_POSITIVE, false, run.memory.beside),
    REPORT("memory.band.published_jobs", SAVED_COUNT, false, outlook.jobs),
    REPORT("memory.band.own_runs", SAVED_COUNT, false, outlook.jobs),
    REPORT("memory.band.low_bytes", SAVED_POSITIVE, false, outlook.low),
    REPORT("memory.band.high_bytes", SAVED_POSITIVE, false, outlook.high),
    REPORT("memory.band.fits_share", SAVED_POSITIVE, false, outlook.sure),
    REPORT("energy.total_j", SAVED_POSITIVE, false, energy),
    REPORT("energy.links_j", SAVED_POSITIVE, false, link_energy),
    REPORT("energy.simgrid_j", SAVED_POSITIVE, false, power.measured),
    REPORT("power.cap_w", SAVED_POSITIVE, false, power.cap),
    REPORT("power.budget_w", SAVED_POSITIVE, false, power.budget),
    REPORT("power.clock", SAVED_POSITIVE, false, power.clock),
    REPORT("power.compute_bound", SAVED_NUMBER, false, power.compute_bound),
    REPORT("power.most_w", SAVED_POSITIVE, false, power.peak),
    REPORT("power.table", SAVED_FLAG, false, power.table),
    REPORT("power.pue", SAVED_POSITIVE, false, power.pue),
    REPORT("carbon.kg", SAVED_POSITIVE, false, power.carbon),
    REPORT("carbon.kg_per_token", SAVED_POSITIVE, false, power.carbon_per_token),
    REPORT("carbon.intensity_g_per_kwh", SAVED_POSITIVE, false, power.intensity),
    REPORT("scenario.model", SAVED_TEXT, false, run.model),
    REPORT("scenario.precision", SAVED_TEXT, false, run.precision),
    REPORT("scenario.gpu", SAVED_TEXT, false, run.gpu),
    REPORT("scenario.framework", SAVED_TEXT, false, run.release),
    REPORT("scenario.calibration", SAVED_TEXT, false, run.calibration),
    REPORT("scenario.imported.summary", SAVED_TEXT, false, run.imported.summary),
    REPORT("nearest.layouts", SAVED_COUNT, false, run.nearest.layouts),
    REPORT("nearest.of", SAVED_COUNT, false, run.nearest.of),
    REPORT("nearest.own_s", SAVED_POSITIVE, false, run.nearest.own),
    REPORT("nearest.best_s", SAVED_POSITIVE, false, run.nearest.best),
    REPORT("nearest.layout", SAVED_TEXT, false, run.nearest.layout),
    REPORT("nearest.command", SAVED_TEXT, false, run.nearest.command),
    REPORT("time.band.published_jobs", SAVED_COUNT, false, run.band.rows),
    REPORT("time.band.own_runs", SAVED_COUNT, false, run.band.rows),
    REPORT("time.band.low_s", SAVED_POSITIVE, false, run.band.low),
    REPORT("time.band.high_s", SAVED_POSITIVE, false, run.band.high),
    REPORT("idle.transfers_free.iteration_s", SAVED_POSITIVE, false, idle.free.iteration),
    REPORT("idle.transfers_alone.iteration_s", SAVED_POSITIVE, false, idle.alone.iteration),
    REPORT("training.tokens", SAVED_POSITIVE, false, run.figures.tokens),
    REPORT("training.cost", SAVED_POSITIVE, false, training_cost),
    REPORT("training.cost_per_million_tokens", SAVED_POSITIVE, false, million_tokens_cost),
    REPORT("training.price_per_gpu_hour", SAVED_POSITIVE, false, run.figures.price),
    REPORT("training.currency", SAVED_TEXT, false, run.currency),
    REPORT("memory.reserve_ratio", SAVED_POSITIVE, false, run.reserve),
    REPORT("memory.parts.parameters_bytes", SAVED_POSITIVE, false, parts.parameters),
    REPORT("memory.parts.gradients_bytes", SAVED_POSITIVE, false, parts.gradients),
    REPORT("memory.parts.optimizer_bytes", SAVED_POSITIVE, false, parts.optimizer),
    REPORT("memory.parts.buffers_bytes", SAVED_POSITIVE, false, parts.buffers),
    REPORT("memory.parts.activations_bytes", SAVED_POSITIVE, false, parts.activations),
    REPORT("simulation.simgrid", SAVED_TEXT, false, run.simgrid),
    REPORT("simulation.command", SAVED_TEXT, false, run.command),
    REPORT("critical_path.most_kind", SAVED_TEXT, false, critical_transfer.kind),
    REPORT("critical_path.most_collective", SAVED_FLAG, false, critical_transfer.collective),
    REPORT("critical_path.most_s", SAVED_NUMBER, false, critical_transfer.seconds),
    REPORT("critical_path.length_s", SAVED_POSITIVE, false, critical_length),
    REPORT("critical_path.compute_s", SAVED_NUMBER, false, critical_compute),
    REPORT("critical_path.receive_s", SAVED_NUMBER, false, critical_receive),
    REPORT("critical_path.collective_s", SAVED_NUMBER, false, critical_collective),
    REPORT("critical_path.delay_s", SAVED_NUMBER, false, critical_delay),
    REPORT("sensitivity.compute_s", SAVED_NUMBER, false, sensitive_compute),
    REPORT("sensitivity.bandwidth_s", SAVED_NUMBER, false, sensitive_bandwidth),
    REPORT("sensitivity.latency_s", SAVED_NUMBER, false, sensitive_latency),
};

static const struct saved_member worker_members[] = {
    WORKER("position", SAVED_COUNT, true, position),
    WORKER("rank", SAVED_COUNT, true, rank),
    WORKER("simulated_rank", SAVED_COUNT, false, simulated_rank),
    WORKER("host", SAVED_TEXT, true, host),
    WORKER("busy_s", SAVED_POSITIVE, true, busy),
    WORKER("span_s", SAVED_POSITIVE, true, span),
    WORKER("bubble", SAVED_NUMBER, true, bubble),
    WORKER("peak_in_flight", SAVED_NUMBER, true, peak_in_flight),
    WORKER("peak_bytes", SAVED_POSITIVE, false, peak_bytes),
};

static const struct saved_member link_members[] = {
    {"name", SAVED_TEXT, true, offsetof(struct link_report, name)},
    {"bytes", SAVED_POSITIVE, true, offsetof(struct link_report, bytes)},
    {"utilization", SAVED_POSITIVE, true, offsetof(struct link_report, utilization)},
};

static const struct saved_member kind_members[] = {
    {"name", SAVED_TEXT, true, offsetof(struct link_kind, name)},
    {"count", SAVED_COUNT, true, offsetof(struct link_kind, count)},
    {"used", SAVED_COUNT, true, offsetof(struct link_kind, used)},
    {"bandwidth_bytes_per_s", SAVED_POSITIVE, true, offsetof(struct link_kind, bandwidth)},
    {"bytes", SAVED_POSITIVE, true, offsetof(struct link_kind, bytes)},
    {"utilization", SAVED_POSITIVE, true, offsetof(struct link_kind, utilization)},
    {"utilization_max", SAVED_POSITIVE, true, offsetof(struct link_kind, utilization_max)},
};

static const struct saved_member lever_members[] = {
    {"setting", SAVED_TEXT, true, offsetof(struct lever, setting)},
    {"peak_bytes", SAVED_POSITIVE, true, offsetof(struct lever, peak_bytes)},
    {"fits", SAVED_FLAG, true, offsetof(struct lever, fits)},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- blocks of figures ---- */

static void read_words(const struct saved_reader *reader, const struct node *root, const char *key, char *words)
{
    const struct node *node = node_find(root, key);
    const char *text = "";
    if (node)
        saved_text(reader, node, &text);
    snprintf(words, BAND_TEXT_MAX, "%s", text);
}

/* The file has seconds, the band shares of the iteration. */
static void read_bands(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    struct band *band = &report->run.band, *memory = &report->run.memory.band;
    band->own = node_find(root, "time.band.own_runs") != NULL;
    memory->own = node_find(root, "memory.band.own_runs") != NULL;
    memory->rows = report->outlook.jobs;
    band->low /= report->iteration > 0 ? report->iteration : 1;
    band->high /= report->iteration > 0 ? report->iteration : 1;
    read_words(reader, root, "time.band.alike", band->likes);
    read_words(reader, root, "time.band.lacks", band->lacks);
    read_words(reader, root, "memory.band.alike", memory->likes);
    read_words(reader, root, "memory.band.lacks", memory->lacks);
}

static void read_causes(const struct saved_reader *reader, const struct node *parent, double *causes)
{
    const struct node *map = node_get(parent, "causes");
    if (!map || map->kind != NODE_MAP) {
        diag_error(reader->diag, map ? map->at : parent->at, "expected the map 'causes'");
        return;
    }
    for (int cause = 0; cause < CAUSES; cause++) {
        const struct node *node = node_get(map, cause_names[cause]);
        if (node)
            saved_number(reader, node, -INFINITY, &causes[cause]);
        else if (cause != CAUSE_INPUT) /* runs of before it have none */
            diag_error(reader->diag, map->at, "the cause '%s' is missing", cause_names[cause]);
    }
}

/* ---- blocks ---- */

static void read_mesh(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    const struct node *map = node_find(root, "scenario.mesh");
    struct mesh *mesh = arena_alloc(reader->arena, sizeof *mesh);
    report->mesh = mesh;
    if (!map || map->kind != NODE_MAP || map->count > MESH_NAMES_MAX + 1) {
        diag_error(reader->diag, node_place(root, "scenario.mesh"),
                   "expected a map of at most %d axes as scenario.mesh", MESH_NAMES_MAX);
        return;
    }
    for (const struct node *axis = map->first; axis; axis = axis->next) {
        bool extra = !strcmp(axis->key, "servers") || mesh->name_count == MESH_NAMES_MAX; /* ranks beside the axes */
        struct mesh_name *name = &mesh->names[extra ? 0 : mesh->name_count++];
        if (!extra)
            name->name = axis->key;
        saved_count(reader, axis, extra ? &mesh->extra : &name->size);
    }
}

/* The entries of a list of maps; NULL where there is none, or after a mistake. */
static const struct node *entries(const struct saved_reader *reader, const struct node *root, const char *key,
                                  bool required, size_t *count)
{
    const struct node *list = node_get(root, key);
    *count = 0;
    if (list && list->kind == NODE_LIST) {
        *count = list->count;
        return list->first;
    }
    if (list || required)
        diag_error(reader->diag, list ? list->at : root->at, "expected the list '%s'", key);
    return NULL;
}

static void read_worker(const struct saved_reader *reader, const struct node *node, struct report *report,
                        uint32_t index, uint32_t *staleness)
{
    struct worker_report *worker = &report->workers[index];
    worker->simulated_rank = UINT32_MAX;
    unsigned before = reader->diag->errors;
    saved_members_read(reader, node, worker_members, COUNT_OF(worker_members), worker);
    read_causes(reader, node, worker->causes);
    const struct node *age = node_get(node, "staleness");
    if (age && saved_count(reader, age, &staleness[index]))
        report->run.staleness = staleness;
    if (worker->simulated_rank == UINT32_MAX)
        worker->simulated_rank = worker->rank;
    if (reader->diag->errors != before)
        return;
    if (worker->position != index)
        diag_error(reader->diag, node->at, "workers are listed by position: expected %u, not %u", index,
                   worker->position);
    if (worker->rank >= report->ranks || worker->simulated_rank >= report->ranks)
        diag_error(reader->diag, node->at, "there are %u ranks, numbered from 0", report->ranks);
}

static void read_workers(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    size_t count;
    const struct node *node = entries(reader, root, "workers", true, &count);
    report->workers = arena_array(reader->arena, count + 1, sizeof *report->workers);
    report->worker_count = (uint32_t)count;
    uint32_t *staleness = arena_array(reader->arena, count + 1, sizeof *staleness);
    for (uint32_t i = 0; node; node = node->next, i++) {
        if (node->kind == NODE_MAP)
            read_worker(reader, node, report, i, staleness);
        else
            diag_error(reader->diag, node->at, "expected a map of a worker's figures, not %s",
                       node_describe(node, reader->arena));
    }
}

static void read_links(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    size_t count;
    const struct node *node = entries(reader, root, "links", false, &count);
    report->links = arena_array(reader->arena, count + 1, sizeof *report->links);
    report->link_count = (uint32_t)count;
    for (uint32_t i = 0; node; node = node->next, i++) {
        if (node->kind == NODE_MAP)
            saved_members_read(reader, node, link_members, COUNT_OF(link_members), &report->links[i]);
        else
            diag_error(reader->diag, node->at, "expected a map of a link's figures, not %s",
                       node_describe(node, reader->arena));
    }
}

/* Maps with these members, into structs of `size` bytes at `into`, one behind the other. */
static void read_maps(const struct saved_reader *reader, const struct node *node, const struct saved_member *members,
                      size_t count, size_t size, void *into)
{
    for (char *at = into; node; node = node->next, at += size)
        if (node->kind == NODE_MAP)
            saved_members_read(reader, node, members, count, at);
        else
            diag_error(reader->diag, node->at, "expected a map of figures, not %s", node_describe(node, reader->arena));
}

static void read_link_kinds(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    size_t count;
    const struct node *node = entries(reader, root, "link_kinds", false, &count);
    report->link_kinds = arena_array(reader->arena, count + 1, sizeof *report->link_kinds);
    report->link_kind_count = (uint32_t)count;
    read_maps(reader, node, kind_members, COUNT_OF(kind_members), sizeof *report->link_kinds, report->link_kinds);
}

static void read_levers(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    size_t count = 0;
    const struct node *memory = node_get(root, "memory");
    const struct node *node =
        memory && memory->kind == NODE_MAP ? entries(reader, memory, "levers", false, &count) : NULL;
    report->levers = arena_array(reader->arena, count + 1, sizeof *report->levers);
    report->lever_count = (uint32_t)count;
    read_maps(reader, node, lever_members, COUNT_OF(lever_members), sizeof *report->levers, report->levers);
}

/* A list of texts in a map that may be missing. */
static struct stagesim_texts read_texts(const struct saved_reader *reader, const struct node *map, const char *key)
{
    size_t count = 0, used = 0;
    const struct node *node = map && map->kind == NODE_MAP ? entries(reader, map, key, false, &count) : NULL;
    const char **lines = arena_array(reader->arena, count + 1, sizeof *lines);
    for (; node; node = node->next)
        if (node->kind == NODE_SCALAR)
            lines[used++] = node->text;
    return (struct stagesim_texts){used, lines};
}

static void read_lists(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    const struct node *imported = node_find(root, "scenario.imported");
    struct stagesim_texts inputs = read_texts(reader, node_get(root, "simulation"), "inputs");
    report->run.inputs = inputs.texts;
    report->run.input_count = inputs.count;
    report->run.imported.not_modelled = read_texts(reader, imported, "not_modelled");
    report->run.imported.not_known = read_texts(reader, imported, "not_known");
    report->run.imported.assumed = read_texts(reader, imported, "assumed");
}

/* What takes as long as its days say, and what is said of failures. */
static void read_training(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    static const struct saved_member days_member = {"training.days", SAVED_POSITIVE, false, 0};
    double days = 0;
    saved_member_read(reader, root, &days_member, (char *)&days);
    report->training_s = days * 86400;
    report->forecast.known = node_get(root, "forecast") != NULL;
    report->forecast.interval = report->forecast.between = INFINITY;
    for (const struct forecast_figure *figure = forecast_figures; figure->key && report->forecast.known; figure++) {
        const char *path = arena_print(reader->arena, "forecast.%s", figure->key);
        enum saved_type type = figure->count ? SAVED_COUNT : SAVED_POSITIVE;
        saved_member_read(reader, root, &(struct saved_member){path, type, false, figure->offset},
                          (char *)&report->forecast);
    }
}

/* What a page says of steps that vary. */
static void read_tails(const struct saved_reader *reader, const struct node *root, struct report *report)
{
    report->tails.known = node_get(root, "step") != NULL;
    for (const struct tails_figure *figure = tails_figures_table; figure->key && report->tails.known; figure++) {
        const char *path = arena_print(reader->arena, "step.%s", figure->key);
        enum saved_type type = figure->count ? SAVED_COUNT : SAVED_POSITIVE;
        saved_member_read(reader, root, &(struct saved_member){path, type, false, figure->offset},
                          (char *)&report->tails);
    }
}

static bool check_schema(const struct saved_reader *reader, const struct node *root)
{
    const struct node *schema = node_get(root, "schema");
    if (schema && schema->kind == NODE_SCALAR && !strcmp(schema->text, "1"))
        return true;
    const struct node *scenario = node_get(root, "scenario"), *kind = node_get(root, "kind");
    if (!kind && scenario && scenario->kind == NODE_MAP)
        kind = node_get(scenario, "kind");
    if (kind && kind->kind == NODE_SCALAR)
        diag_error(
            reader->diag, kind->at,
            "this is a summary of kind '%.60s', of which nothing is kept to draw from; `run` on the scenario.yaml "
            "beside it draws it with --report and --picture, the same to the byte",
            kind->text);
    else
        diag_error(reader->diag, schema ? schema->at : root->at, "expected \"schema\": 1: this is no summary of a run");
    return false;
}

static struct report *read_report(const struct saved_reader *reader, const struct node *root)
{
    unsigned before = reader->diag->errors;
    if (!root || !check_schema(reader, root))
        return NULL;
    struct report *report = arena_alloc(reader->arena, sizeof *report);
    bool synchronous = true;
    static const struct saved_member synchronous_member = {"scenario.synchronous", SAVED_FLAG, false, 0};
    *report = (struct report){
        .over_ideal = NAN, .energy = -1, .power = {.compute_bound = -1}, .fits = true, .outlook = {.sure = -1}};
    saved_members_read(reader, root, report_members, COUNT_OF(report_members), report);
    read_bands(reader, root, report);
    saved_member_read(reader, root, &synchronous_member, (char *)&synchronous);
    report->run.asynchronous = !synchronous;
    report->idle.known = node_get(root, "idle") != NULL;
    report->has_critical_path = node_get(root, "critical_path") != NULL;
    const struct node *bubble = node_get(root, "bubble");
    if (bubble) /* else its members have been missed */
        read_causes(reader, bubble, report->causes);
    read_mesh(reader, root, report);
    read_workers(reader, root, report);
    for (uint32_t i = 0; i < report->worker_count && !node_find(root, "stash.peak_in_flight"); i++)
        report->peak_in_flight = fmax(report->peak_in_flight, report->workers[i].peak_in_flight);
    read_links(reader, root, report);
    read_link_kinds(reader, root, report);
    read_levers(reader, root, report);
    read_lists(reader, root, report);
    read_training(reader, root, report);
    read_tails(reader, root, report);
    return reader->diag->errors == before ? report : NULL;
}

struct report *saved_summary_read(const char *file, struct arena *arena, struct diag *diag)
{
    struct saved_reader reader = {arena, diag};
    struct place at = {arena_copy(arena, file), 0, 0};
    return read_report(&reader, document_load_kind(&summary_kind, file, at, arena, diag));
}
