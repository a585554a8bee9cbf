/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/report.h"

#include "analysis/figures/busy.h"
#include "analysis/figures/critical_path.h"
#include "analysis/figures/frame.h"
#include "analysis/figures/link_use.h"
#include "analysis/figures/memory_use.h"
#include "analysis/figures/partner.h"
#include "analysis/figures/sensitivity.h"
#include "analysis/figures/traffic.h"
#include "base/arena.h"
#include "base/sum.h"
#include "simulator/program/ends.h"

#include <math.h>
#include <stdlib.h>

/* The figures of one simulated rank; the ranks that it stands for have the same. */
struct figures {
    struct rank_times times;
    struct memory_peak peak;
    uint32_t weight; /* ranks of the mesh with these times that means count, itself included */
};

struct making {
    struct report *report;
    const struct frame *frame;
    struct platform *platform;
    struct arena *arena;
    struct figures *figures; /* [simulated rank] */
};

static double share(const struct making *making, double seconds)
{
    return making->report->iteration > 0 ? seconds / making->report->iteration : 0;
}

/* All that a brief report says of how a rank spends its time. */
static struct rank_times brief_times(const struct making *making, uint32_t entry)
{
    return (struct rank_times){.busy = busy_seconds(making->frame, entry)};
}

static void watch_ranks(struct making *making)
{
    const struct timeline *timeline = making->frame->timeline;
    bool brief = making->report->run.brief && !making->report->run.communication;
    struct busy_scratch scratch =
        brief ? (struct busy_scratch){NULL, NULL} : busy_scratch_create(timeline->program, making->arena);
    struct memory_use *memory = making->report->run.memory_known ? NULL : memory_use_create(timeline, making->arena);
    making->figures = arena_array(making->arena, timeline->rank_count, sizeof *making->figures);
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        making->figures[entry].times = brief ? brief_times(making, entry) : busy_times(making->frame, entry, &scratch);
        if (memory)
            making->figures[entry].peak = memory_use_peak(memory, entry);
    }
    const struct mesh *mesh = timeline->program->mesh;
    for (uint32_t rank = 0; rank < mesh->ranks; rank++)
        making->figures[timeline->index_of[rank]].weight +=
            !program_position_feeds(timeline->program, mesh->position_of[rank]);
}

static double bubble_of(const struct making *making, const struct rank_times *times)
{
    return making->report->iteration > 0 ? 1 - times->busy / making->report->iteration : 0;
}

const struct worker_report *report_longest_waiting(const struct report *report, double *seconds)
{
    const struct worker_report *longest = NULL;
    *seconds = 0;
    for (uint32_t i = 0; i < report->worker_count; i++) {
        const double *causes = report->workers[i].causes;
        double own = (causes[CAUSE_RECEIVE] + causes[CAUSE_COLLECTIVE]) * report->iteration;
        if (own > *seconds) {
            *seconds = own;
            longest = &report->workers[i];
        }
    }
    return longest;
}

const char *memory_dominant(const struct memory_parts *parts, double *bytes)
{
    const struct {
        const char *name;
        double bytes;
    } all[] = {{"parameters", parts->parameters},
               {"gradients", parts->gradients},
               {"optimizer state", parts->optimizer},
               {"buffers", parts->buffers},
               {"activations", parts->activations}};
    size_t largest = 0;
    for (size_t i = 1; i < sizeof all / sizeof *all; i++)
        if (all[i].bytes > all[largest].bytes)
            largest = i;
    *bytes = all[largest].bytes;
    return all[largest].name;
}

static void note_parts(struct making *making, const struct figures *figures)
{
    const struct timeline *timeline = making->frame->timeline;
    const struct program *program = timeline->program;
    uint32_t position = program->mesh->position_of[timeline->ranks[figures - making->figures]];
    const struct stagesim_static_memory *held = &program->positions[position].memory;
    double fixed = held->parameters + held->gradients + held->optimizer + held->buffers;
    making->report->parts = (struct memory_parts){held->parameters, held->gradients, held->optimizer, held->buffers,
                                                  fmax(0, figures->peak.bytes - fixed)};
}

static void note_extremes(struct making *making, const struct figures *figures, bool first)
{
    struct report *report = making->report;
    double bubble = bubble_of(making, &figures->times);
    double span = figures->times.span > 0 ? fmax(0, 1 - figures->times.busy / figures->times.span) : 0;
    report->bubble_min = first ? bubble : fmin(report->bubble_min, bubble);
    report->bubble_max = first ? bubble : fmax(report->bubble_max, bubble);
    report->span_max = fmax(report->span_max, span);
    report->peak_in_flight = fmax(report->peak_in_flight, figures->peak.in_flight);
    if (first || figures->peak.bytes > report->peak_bytes)
        note_parts(making, figures);
    report->peak_bytes = fmax(report->peak_bytes, figures->peak.bytes);
}

static void average_ranks(struct making *making)
{
    struct report *report = making->report;
    struct sum busy = {0, 0}, exposed = {0, 0}, overlapped = {0, 0}, causes[CAUSES] = {{0, 0}};
    bool first = true;
    for (uint32_t entry = 0; entry < making->frame->timeline->rank_count; entry++) {
        const struct figures *figures = &making->figures[entry];
        sum_add(&busy, figures->weight * figures->times.busy);
        sum_add(&exposed, figures->weight * figures->times.exposed);
        sum_add(&overlapped, figures->weight * figures->times.overlapped);
        for (int i = 0; i < CAUSES; i++)
            sum_add(&causes[i], figures->weight * figures->times.causes[i]);
        if (figures->weight)
            note_extremes(making, figures, first);
        first &= !figures->weight;
    }
    double mean_busy = sum_total(&busy) / report->counted_ranks;
    report->bubble = report->iteration > 0 ? 1 - mean_busy / report->iteration : 0;
    report->over_ideal = mean_busy > 0 ? report->iteration / mean_busy - 1 : NAN;
    report->exposed = sum_total(&exposed) / report->counted_ranks;
    report->overlapped = sum_total(&overlapped) / report->counted_ranks;
    for (int i = 0; i < CAUSES; i++)
        report->causes[i] = share(making, sum_total(&causes[i]) / report->counted_ranks);
}

const char *const limit_names[LIMITS] = {"compute", "memory", "network", "pipeline", "input"};

enum limit limits_by(const struct limits *limits)
{
    enum limit largest = LIMIT_COMPUTE;
    for (int i = 1; i < LIMITS; i++)
        if (limits->shares[i] > limits->shares[largest])
            largest = (enum limit)i;
    return largest;
}

/* Servers are left out: they wait by their nature. */
static void find_limits(struct making *making)
{
    struct report *report = making->report;
    const struct timeline *timeline = making->frame->timeline;
    struct sum busy = {0, 0}, waiting = {0, 0}, input = {0, 0};
    uint32_t ranks = report->ranks - timeline->program->mesh->extra;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct rank_times *times = &making->figures[timeline->index_of[rank]].times;
        sum_add(&busy, times->busy);
        sum_add(&waiting, times->causes[CAUSE_RECEIVE] + times->causes[CAUSE_COLLECTIVE]);
        sum_add(&input, times->causes[CAUSE_INPUT]);
    }
    double computing = share(making, sum_total(&busy) / ranks), network = share(making, sum_total(&waiting) / ranks),
           fed = share(making, sum_total(&input) / ranks);
    report->limits = (struct limits){.known = report->run.figures.bounds_known && report->iteration > 0,
                                     .shares = {[LIMIT_COMPUTE] = computing * (1 - report->run.figures.memory_bound),
                                                [LIMIT_MEMORY] = computing * report->run.figures.memory_bound,
                                                [LIMIT_NETWORK] = network,
                                                [LIMIT_PIPELINE] = fmax(0, 1 - computing - network - fed),
                                                [LIMIT_INPUT] = fed}};
}

static void find_throughput(struct report *report, const struct mesh *mesh)
{
    const struct run_description *run = &report->run;
    if (report->iteration <= 0)
        return;
    report->samples_per_s = report->micro_batches * run->micro_batch_size * mesh_size(mesh, "data") / report->iteration;
    report->tokens_per_s = report->samples_per_s * run->figures.sequence_length;
    if (run->figures.tokens > 0 && report->tokens_per_s > 0) {
        report->training_s = run->figures.tokens / report->tokens_per_s;
        report->training_cost = report->training_s / 3600 * report->counted_ranks * run->figures.price;
    }
    if (report->tokens_per_s > 0)
        report->million_tokens_cost = 1e6 / report->tokens_per_s / 3600 * report->counted_ranks * run->figures.price;
    report->model_flops_per_s_per_gpu = run->figures.model_flops / report->iteration / report->counted_ranks;
    if (run->figures.peak_flops > 0) {
        report->mfu = report->model_flops_per_s_per_gpu / run->figures.peak_flops;
        report->hfu = run->figures.hardware_flops / report->iteration / report->counted_ranks / run->figures.peak_flops;
    }
}

/* Every rank has to fit in its own host; the capacity is that of the smallest host in use. */
static void check_memory(struct making *making)
{
    struct report *report = making->report;
    report->fits = true;
    for (uint32_t rank = 0; rank < report->ranks && !report->run.memory_known; rank++) {
        double capacity = making->platform->hosts[report->run.hosts[rank]].memory * (1 - report->run.reserve);
        if (capacity <= 0)
            continue;
        if (report->capacity_bytes == 0 || capacity < report->capacity_bytes)
            report->capacity_bytes = capacity;
        if (making->figures[making->frame->timeline->index_of[rank]].peak.bytes > capacity)
            report->fits = false;
    }
    report->outlook = memory_band_outlook(&report->run.memory, report->peak_bytes,
                                          report->capacity_bytes / (1 - report->run.reserve), report->run.reserve);
}

/* Per iteration: each rank's host is busy while it computes and idle for the rest of T. */
static void find_energy(struct making *making)
{
    struct report *report = making->report;
    const struct power_plan *power = report->run.power;
    struct sum joules = {0, 0};
    for (uint32_t rank = 0; rank < report->ranks; rank++) {
        const struct platform_host *host = &making->platform->hosts[report->run.hosts[rank]];
        double busy = making->figures[making->frame->timeline->index_of[rank]].times.busy;
        if (!power && !host->has_watts)
            return;
        struct power_state own = {1, host->idle_watts, host->busy_watts, host->busy_watts};
        sum_add(&joules, energy_of_device(power ? &power->states[rank] : &own, busy, report->iteration));
    }
    report->link_energy =
        energy_of_links(making->frame, making->platform, report->run.hosts, report->iteration, making->arena);
    report->energy = sum_total(&joules) + report->link_energy;
}

static void describe_power(struct making *making)
{
    struct report *report = making->report;
    const struct power_plan *plan = report->run.power;
    if (!plan || report->energy < 0)
        return;
    struct sum peak = {0, 0};
    for (uint32_t rank = 0; rank < report->ranks; rank++)
        sum_add(&peak, plan->states[rank].busy);
    report->power = (struct power_figures){.cap = plan->cap,
                                           .budget = plan->settings->budget,
                                           .clock = plan->least_clock,
                                           .compute_bound = plan->stretched,
                                           .peak = sum_total(&peak),
                                           .table = plan->settings->table_count > 0,
                                           .pue = plan->settings->pue};
    if (!report->run.steady.cycles)
        report->power.measured = energy_measured(making->frame->timeline);
    bool trains = report->training_s > 0 && report->iteration > 0;
    double iterations = trains ? report->training_s / report->iteration : report->iterations;
    struct energy_use use = {report->energy, report->iteration, iterations,
                             report->tokens_per_s * report->iteration * iterations};
    energy_carbon(&report->power, plan->settings, &use);
}

/* ---- workers ---- */

/* The one that ends last, the lowest of equals. */
static uint32_t last_replica(const struct frame *frame)
{
    const struct mesh *mesh = frame->timeline->program->mesh;
    uint32_t last = 0;
    double latest = -1;
    for (uint32_t replica = 0; replica < mesh->replicas; replica++) {
        double end = 0;
        for (uint32_t position = 0; position < mesh->positions; position++)
            end = fmax(end, frame->rank_ends[frame->timeline->index_of[mesh_rank(mesh, position, replica)]]);
        if (end > latest) {
            latest = end;
            last = replica;
        }
    }
    return last;
}

/* The replica on which the critical path spends most time, so that a picture of it shows the path. */
static uint32_t path_replica(const struct making *making, const struct critical_path *path)
{
    const struct timeline *timeline = making->frame->timeline;
    const struct mesh *mesh = timeline->program->mesh;
    double *seconds = arena_array(making->arena, mesh->replicas, sizeof *seconds);
    if (!path->step_count)
        return last_replica(making->frame);
    double before = path->begin;
    uint32_t most = 0;
    for (size_t i = 0; i < path->step_count; i++) {
        struct critical_step step = path->steps[i];
        double end = critical_end(timeline, step);
        seconds[mesh->replica_of[timeline->ranks[step.entry]]] += end - before;
        before = end;
    }
    for (uint32_t replica = 1; replica < mesh->replicas; replica++)
        most = seconds[replica] > seconds[most] ? replica : most;
    return most;
}

static void describe_workers(struct making *making, const struct critical_path *path)
{
    struct report *report = making->report;
    const struct timeline *timeline = making->frame->timeline;
    const struct mesh *mesh = timeline->program->mesh;
    uint32_t replica = path_replica(making, path);
    report->worker_count = mesh->positions;
    report->workers = arena_array(making->arena, mesh->positions, sizeof *report->workers);
    for (uint32_t position = 0; position < mesh->positions; position++) {
        uint32_t rank = mesh_rank(mesh, position, replica);
        const struct figures *figures = &making->figures[timeline->index_of[rank]];
        struct worker_report *worker = &report->workers[position];
        *worker = (struct worker_report){.position = position,
                                         .rank = rank,
                                         .simulated_rank = timeline->ranks[timeline->index_of[rank]],
                                         .host = making->platform->hosts[report->run.hosts[rank]].name,
                                         .busy = figures->times.busy,
                                         .span = figures->times.span,
                                         .bubble = bubble_of(making, &figures->times),
                                         .peak_in_flight = figures->peak.in_flight,
                                         .peak_bytes = figures->peak.bytes};
        for (int i = 0; i < CAUSES; i++)
            worker->causes[i] = share(making, figures->times.causes[i]);
    }
}

/* Messages and collectives by what they are for. */
static void find_critical_transfer(struct making *making, const struct critical_path *path)
{
    const struct timeline *timeline = making->frame->timeline;
    double seconds[2][STAGESIM_KINDS] = {{0}}, before = -1;
    struct critical_transfer *most = &making->report->critical_transfer;
    for (size_t i = 0; i < path->step_count; i++) {
        const struct critical_step *step = &path->steps[i];
        const struct position *position =
            &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[step->entry]]];
        const struct operation *operation = &position->operations[step->id];
        const struct moment *moment = &timeline->moments[step->entry][step->id];
        bool collective = operation->type == OPERATION_COLLECTIVE;
        if (collective || operation->type == OPERATION_SEND || operation->type == OPERATION_RECEIVE)
            seconds[collective][operation->kind] +=
                critical_end(timeline, *step) - (i ? before : moment->start + step->later);
        before = critical_end(timeline, *step);
    }
    for (int collective = 0; collective < 2; collective++)
        for (unsigned kind = 0; kind < STAGESIM_KINDS; kind++)
            if (seconds[collective][kind] > most->seconds * (1 + 1e-9)) /* ties do not hang on rounding */
                *most = (struct critical_transfer){kind_name((enum stagesim_kind)kind), collective,
                                                   seconds[collective][kind]};
}

static void describe_path(struct making *making, const struct critical_path *path)
{
    struct report *report = making->report;
    report->has_critical_path = path->step_count > 0;
    report->lost = path->lost;
    report->critical_length = path->length;
    report->critical_compute = path->compute;
    report->critical_receive = path->receive;
    report->critical_collective = path->collective;
    report->critical_delay = path->delay;
    find_critical_transfer(making, path);
    struct sensitivity sensitivity =
        sensitivity_of(making->frame, path, making->platform, report->run.hosts, making->arena);
    report->sensitive_compute = sensitivity.compute;
    report->sensitive_bandwidth = sensitivity.bandwidth;
    report->sensitive_latency = sensitivity.latency;
}

/* What the program says without a run. */
static struct report *of_program(const struct run_description *run, const struct program *program, struct arena *arena)
{
    struct report *report = arena_alloc(arena, sizeof *report);
    *report = (struct report){.run = *run,
                              .mesh = program->mesh,
                              .ranks = program->mesh->ranks,
                              .counted_ranks = program_counted_ranks(program),
                              .iterations = program->iterations,
                              .micro_batches = program->micro_batches,
                              .pipeline_workers = program->workers,
                              .stages = program->stages,
                              .energy = -1};
    return report;
}

struct report *report_of_time(const struct run_description *run, const struct program *program, double iteration,
                              double busy, struct arena *arena)
{
    struct report *report = of_program(run, program, arena);
    report->iteration = report->makespan = iteration;
    report->bubble = iteration > 0 ? 1 - busy / iteration : 0;
    report->over_ideal = busy > 0 ? iteration / busy - 1 : NAN;
    report->fits = true;
    find_throughput(report, program->mesh);
    return report;
}

struct report *report_create(const struct run_description *run, const struct timeline *timeline,
                             struct platform *platform, struct arena *arena)
{
    return report_of_frame(run, frame_create_shortened(timeline, &run->steady, arena), platform, arena);
}

struct report *report_of_frame(const struct run_description *run, const struct frame *frame, struct platform *platform,
                               struct arena *arena)
{
    const struct timeline *timeline = frame->timeline;
    const struct program *program = timeline->program;
    struct report *report = of_program(run, program, arena);
    report->represented_ranks = program->mesh->ranks - timeline->rank_count;
    report->iteration = frame->iteration;
    report->makespan = frame->makespan;
    report->shortest_iteration = frame->shortest;
    report->longest_iteration = frame->longest;
    report->settled = run->settle && (frame->cycle.beats || ends_stand(timeline, arena));
    report->steady_state = frame->steady;
    report->period = program->period > 1 ? program->period : 0;
    report->cycle_start = frame->cycle.start;
    report->cycle_length = frame->cycle.length;
    report->cycle_iterations = frame->cycle.beats;
    report->independent = frame->whole && !frame->steady && program->period <= 1;
    report->activities = timeline->activities;
    struct making making = {.report = report, .frame = frame, .platform = platform, .arena = arena};
    report->micro_batches += run->steady.left_out;
    if (program->iterations > 1)
        frame_shown(frame, &report->window_start, &report->window_end);
    watch_ranks(&making);
    average_ranks(&making);
    find_limits(&making);
    find_throughput(report, program->mesh);
    check_memory(&making);
    if (!run->brief || run->power) {
        find_energy(&making);
        describe_power(&making);
    }
    if (run->brief)
        return report;
    const struct critical_path *path = critical_path_create(frame, arena);
    describe_workers(&making, path);
    report->sent_bytes = traffic_total(frame);
    report->collectives = collective_uses(frame, &report->collective_count, arena);
    if (!run->printed)
        links_rank(report, frame, platform, arena);
    describe_path(&making, path);
    return report;
}
