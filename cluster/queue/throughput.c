/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/throughput.h"

#include "base/arena.h"
#include "base/isolate.h"
#include "cluster/jobs/job_platform.h"
#include "cluster/queue/key_table.h"
#include "job/job.h"
#include "job/steady/steady_run.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/refine.h"
#include "studies/calendar/goodput.h"
#include "studies/describe.h"
#include "studies/evaluate.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Larger programs are refused. */
enum { OPERATIONS_MAX = 20000000 };
/* More choices of nodes are forgotten; their shapes are known still. */
enum { CHOICES_MOST = 1 << 20 };

/* What is known of a shape. */
struct entry {
    struct throughput_figures figures;
    bool can;
};

struct throughput {
    const struct scenario *scenario;
    const struct queue_scenario *queue;
    struct arena *arena;
    struct node_layout layout;
    struct key_table nodes, shapes; /* numbers of entries, by hashes of what was asked */
    struct entry *entries;
    size_t entry_count, entry_capacity;
    struct throughput_counts counts;
    struct throughput_watts watts;
    bool has_watts; /* otherwise joules are not asked for */
};

/* ---- life ---- */

struct throughput *throughput_create(const struct scenario *scenario, struct platform *platform)
{
    struct throughput *throughput = array_zeroed(1, sizeof *throughput);
    throughput->scenario = scenario;
    throughput->queue = scenario->whole;
    throughput->arena = arena_create();
    node_layout_create(&throughput->layout, platform, throughput->arena);
    return throughput;
}

void throughput_destroy(struct throughput *throughput)
{
    if (!throughput)
        return;
    key_table_finish(&throughput->nodes);
    key_table_finish(&throughput->shapes);
    free(throughput->entries);
    arena_destroy(throughput->arena);
    free(throughput);
}

void throughput_set_watts(struct throughput *throughput, const struct throughput_watts *watts)
{
    throughput->watts = *watts;
    throughput->has_watts = true;
}

const struct node_layout *throughput_nodes(const struct throughput *throughput)
{
    return &throughput->layout;
}

struct throughput_counts throughput_counts(const struct throughput *throughput)
{
    return throughput->counts;
}

/* ---- evaluation ---- */

/* One job on its part of the platform. */
struct question {
    const struct queue_type *type;
    struct evaluation_request request;
    struct platform *part;
    struct arena *arena;
    struct diag *diag;
};

static struct throughput_figures figures_of(const struct scenario *scenario, const struct report *report,
                                            const struct platform *part)
{
    return (struct throughput_figures){report->samples_per_s > 0 ? report->samples_per_s : 1 / report->iteration,
                                       report->iteration, goodput_job(scenario, report, part).state_bytes,
                                       report->energy - report->link_energy};
}

static bool ask_analytic(const struct question *question, struct throughput_figures *figures)
{
    struct evaluation evaluation;
    bool done = evaluate(&question->request, question->part, question->arena, question->diag, &evaluation);
    if (done)
        *figures = figures_of(evaluation.job->scenario, evaluation.report, question->part);
    return done;
}

/* What the process of a simulation says, in memory shared with it. */
struct answer {
    bool done;
    struct throughput_figures figures;
};

static void simulate(const struct question *question, const struct job *job, const struct scenario *scenario,
                     struct answer *answer)
{
    struct fault fault = {""};
    struct folded_run run;
    struct steady steady;
    struct engine_job timed = {.program = job->program, .platform = question->part, .hosts = job->hosts};
    if (!steady_run(scenario, &engine_simgrid, &timed, question->arena, &run, &steady, &fault)) {
        diag_error(question->diag, question->type->at, "%s", fault.text);
        if (question->diag->out)
            fflush(question->diag->out);
        return;
    }
    struct run_description description;
    job_describe(job, &description);
    description.engine = engine_simgrid.name;
    description.brief = true;
    description.steady = steady;
    const struct report *report = report_create(&description, run.timeline, question->part, question->arena);
    answer->figures = figures_of(scenario, report, question->part);
    answer->done = true;
}

/* A process simulates once. */
static bool ask_simgrid(const struct question *question, struct throughput_figures *figures)
{
    struct scenario_request changed = scenario_request_with(&question->request.scenario, question->request.changes,
                                                            question->request.change_count, question->arena);
    changed.study = true;
    const struct scenario *scenario = scenario_load(&changed, question->arena, question->diag);
    const struct job *job =
        scenario ? job_create_steady(scenario, question->part, question->arena, question->diag) : NULL;
    struct answer *answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!job || answer == MAP_FAILED)
        return false;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        isolate_bond(parent);
        simulate(question, job, scenario, answer);
        _exit(0);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    bool done = status == 0 && answer->done;
    *figures = answer->figures;
    munmap(answer, sizeof *answer);
    if (!done && question->diag->out)
        diag_error(question->diag, question->type->at, "type %s could not be simulated", question->type->name);
    return done;
}

/* How many data-parallel replicas fill that many hosts; 0: they do not. */
static uint64_t replicas_on(const struct scenario *scenario, uint32_t hosts)
{
    uint64_t replica = scenario->data ? scenario->mesh.ranks / scenario->data : 0;
    return replica && hosts % replica == 0 ? hosts / replica : 0;
}

enum { CHANGES_MAX = 6 };

/* So many replicas, and GPUs whose arithmetic takes `stretch` times as long. */
static size_t list_changes(const struct throughput *throughput, uint64_t replicas, double stretch,
                           struct scenario_set changes[CHANGES_MAX], struct arena *arena)
{
    const struct throughput_watts *watts = &throughput->watts;
    size_t count = 0;
    changes[count++].text = arena_print(arena, "parallel.data=%llu", (unsigned long long)replicas);
    if (!throughput->has_watts)
        return count;
    changes[count++].text = arena_print(arena, "power.alpha=%.17g", watts->alpha);
    if (watts->same) {
        changes[count++].text = arena_print(arena, "power.idle=%.17gW", watts->idle);
        changes[count++].text = arena_print(arena, "power.full=%.17gW", watts->full);
    }
    if (watts->compute_bound >= 0)
        changes[count++].text = arena_print(arena, "power.compute_bound=%.17g", watts->compute_bound);
    if (stretch > 1)
        changes[count++].text =
            arena_print(arena, "power.cap=%.17gW", power_watts(watts->idle, watts->full, watts->alpha, 1 / stretch));
    return count;
}

static bool evaluate_on(struct throughput *throughput, uint32_t number, const uint32_t *nodes, uint32_t count,
                        double stretch, struct diag *diag, struct throughput_figures *figures)
{
    const struct queue_type *type = &throughput->queue->types[number];
    struct arena *arena = arena_create();
    uint32_t host_count;
    uint32_t *hosts = node_layout_hosts(&throughput->layout, nodes, count, &host_count, arena);
    uint64_t replicas = replicas_on(type->scenario, host_count);
    struct scenario_set changes[CHANGES_MAX] = {0};
    size_t change_count = list_changes(throughput, replicas, stretch, changes, arena);
    struct question question = {.type = type,
                                .request = {.scenario = type->scenario->request,
                                            .changes = changes,
                                            .change_count = change_count,
                                            .operations_max = OPERATIONS_MAX},
                                .part = job_platform_create(throughput->layout.platform, hosts, host_count, arena),
                                .arena = arena,
                                .diag = diag};
    bool done = replicas && (throughput->scenario->engine == ENGINE_ANALYTIC ? ask_analytic(&question, figures)
                                                                             : ask_simgrid(&question, figures));
    if (!replicas)
        diag_error(diag, type->at, "type %s: replicas of %u GPUs do not fill the %u GPUs of %u node%s", type->name,
                   type->scenario->mesh.ranks / type->scenario->data, host_count, count, count == 1 ? "" : "s");
    throughput->counts.evaluated += replicas > 0;
    arena_destroy(arena);
    return done;
}

struct scenario *throughput_scenario(const struct throughput *throughput, uint32_t type, uint32_t hosts, double stretch,
                                     struct arena *arena, struct diag *diag)
{
    const struct scenario *scenario = throughput->queue->types[type].scenario;
    struct scenario_set changes[CHANGES_MAX] = {0};
    size_t count = list_changes(throughput, replicas_on(scenario, hosts), stretch, changes, arena);
    assert(stretch <= 1 || throughput->has_watts);
    struct scenario_request changed =
        scenario_request_with(&scenario->request, changes, stretch > 1 ? count : 1, arena);
    changed.study = true;
    return scenario_load(&changed, arena, diag);
}

uint64_t throughput_shape(struct throughput *throughput, const uint32_t *nodes, uint32_t count)
{
    return node_layout_shape(&throughput->layout, nodes, count);
}

bool throughput_of(struct throughput *throughput, uint32_t type, const uint32_t *nodes, uint32_t count,
                   struct diag *diag, struct throughput_figures *figures)
{
    return throughput_stretched(throughput, type, nodes, count, 1, diag, figures);
}

static uint64_t mix_stretch(uint64_t key, double stretch)
{
    return stretch > 1 ? refine_mix_number(key, stretch) : key;
}

/* Evaluates what is not known; returns the number of the entry. */
static size_t find_shape(struct throughput *throughput, uint32_t type, const uint32_t *nodes, uint32_t count,
                         double stretch, struct diag *diag)
{
    uint64_t shape = mix_stretch(refine_mix(throughput_shape(throughput, nodes, count), type + 1), stretch);
    size_t number = key_table_find(&throughput->shapes, shape);
    if (number != KEY_UNKNOWN)
        return number;
    struct entry entry = {.can = false};
    entry.can = evaluate_on(throughput, type, nodes, count, stretch, diag, &entry.figures);
    throughput->entries = array_grow(throughput->entries, &throughput->entry_capacity, throughput->entry_count + 1,
                                     sizeof *throughput->entries);
    throughput->entries[throughput->entry_count] = entry;
    key_table_add(&throughput->shapes, shape, throughput->entry_count);
    return throughput->entry_count++;
}

bool throughput_stretched(struct throughput *throughput, uint32_t type, const uint32_t *nodes, uint32_t count,
                          double stretch, struct diag *diag, struct throughput_figures *figures)
{
    uint64_t key = mix_stretch(refine_mix(type + 1, count), stretch);
    struct diag silent = {0};
    assert(stretch <= 1 || throughput->has_watts);
    throughput->counts.asked++;
    for (uint32_t i = 0; i < count; i++)
        key = refine_mix(key, nodes[i] + UINT64_C(1));
    size_t number = key_table_find(&throughput->nodes, key);
    throughput->counts.same_nodes += number != KEY_UNKNOWN;
    if (number == KEY_UNKNOWN) {
        number = find_shape(throughput, type, nodes, count, stretch, diag ? diag : &silent);
        if (throughput->nodes.used == CHOICES_MOST)
            key_table_finish(&throughput->nodes);
        key_table_add(&throughput->nodes, key, number);
    }
    *figures = throughput->entries[number].figures;
    return throughput->entries[number].can;
}
