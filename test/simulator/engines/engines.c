/* SPDX-License-Identifier: Apache-2.0 */
/* Both engines against the plan-level times and each other, for every schedule of the table, on full meshes of private
 * links. */
#include "base/arena.h"
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_timing.h"
#include "schedules/plan/plan_weights.h"
#include "schedules/schedule.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "simulator/engines/simgrid/bridge.h"
#include "test/support/mesh_platform.h"
#include "test/support/pipeline_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A plain program: SimGrid wants a process for every simulation, so the cases fork by themselves. */
#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* Message and gradient times of about the same order as the computations, so that much overlaps and much queues. */
static const struct setting settings[] = {
    {4, 4, 1, 1, 2, 0, 1e9, 0, 0},        {4, 8, 1, 1, 2, 0.01, 1e9, 0, 0},
    {8, 32, 1, 1, 2, 0.125, 1e9, 0, 0},   {6, 12, 1, 1.5, 2.5, 0, 1e9, 5e8, 0},
    {4, 8, 2, 1, 2, 0.01, 1e9, 3e8, 4e9}, {4, 8, 3, 1, 1, 0.02, 1e9, 2e9, 1e9},
    {2, 4, 4, 1, 2, 0.3, 1e9, 1e8, 1e9},  {8, 16, 2, 0.7, 1.9, 0.05, 1e9, 1e9, 3e9},
};

static double makespan(const struct timeline *timeline)
{
    double first = INFINITY, last = 0;
    for (uint32_t index = 0; index < timeline->rank_count; index++) {
        const struct position *position =
            &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[index]]];
        for (uint32_t id = 0; id < position->operation_count; id++) {
            const struct moment *moment = &timeline->moments[index][id];
            if (position->operations[id].type == OPERATION_COMPUTE)
                first = fmin(first, moment->start);
            last = fmax(last, moment->end);
        }
    }
    return last - first;
}

static void compare(const struct timeline *left, const struct timeline *right, const char *name)
{
    double scale = makespan(right);
    for (uint32_t index = 0; index < left->rank_count; index++) {
        const struct position *position =
            &left->program->positions[left->program->mesh->position_of[left->ranks[index]]];
        for (uint32_t id = 0; id < position->operation_count; id++) {
            const struct moment *a = &left->moments[index][id], *b = &right->moments[index][id];
            double worst =
                fmax(fabs(a->start - b->start), fmax(fabs(a->data_start - b->data_start), fabs(a->end - b->end)));
            CHECK(worst <= 1e-6 * scale, "%s: rank %u operation %u (%s): simgrid %g %g %g, analytic %g %g %g", name,
                  index, id, kind_name(position->operations[id].kind), a->start, a->data_start, a->end, b->start,
                  b->data_start, b->end);
        }
    }
}

/* A transfer on the private link between two ranks. */
struct transfer {
    uint32_t from, to;
    double start, end;
};

struct transfers {
    struct transfer *items;
    size_t count, capacity;
};

static void add_transfer(struct transfers *transfers, uint32_t from, uint32_t to, const struct moment *moment)
{
    transfers->items =
        array_grow(transfers->items, &transfers->capacity, transfers->count + 1, sizeof *transfers->items);
    transfers->items[transfers->count++] = (struct transfer){from, to, moment->data_start, moment->end};
}

static void add_flows(struct transfers *transfers, const struct timeline *timeline, uint32_t rank,
                      const struct stream *stream, uint32_t id)
{
    const struct program *program = timeline->program;
    const struct group *group = &program->groups[stream->peer];
    uint32_t count = group_size(program, group), *ranks = calloc(count, sizeof *ranks);
    group_ranks(program, group, group_instance_of(program, group, program->mesh->replica_of[rank]), ranks);
    const struct operation *operation = &program->positions[program->mesh->position_of[rank]].operations[id];
    const struct collective_flows *flows = assignment_flows(program, stream->peer, operation);
    for (size_t i = 0; flows && i < flows->count; i++) {
        struct collective_phase_flow flow = collective_flow_at(flows, i);
        if (ranks[flow.from] == rank)
            add_transfer(transfers, rank, ranks[flow.to], &timeline_rank(timeline, rank)[id]);
    }
    free(ranks);
}

static int by_link_and_start(const void *left, const void *right)
{
    const struct transfer *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* Whether two transfers use a link at one time. */
static bool shares_links(const struct timeline *timeline, double tolerance)
{
    const struct mesh *mesh = timeline->program->mesh;
    struct transfers transfers = {0};
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) {
        const struct position *position = &timeline->program->positions[mesh->position_of[rank]];
        for (uint32_t id = 0; id < position->operation_count; id++) {
            const struct stream *stream = &position->streams[position->operations[id].stream];
            if (stream->type == OPERATION_SEND)
                add_transfer(&transfers, rank, mesh_rank(mesh, stream->peer, mesh->replica_of[rank]),
                             &timeline_rank(timeline, rank)[id]);
            else if (stream->type == OPERATION_COLLECTIVE)
                add_flows(&transfers, timeline, rank, stream, id);
        }
    }
    qsort(transfers.items, transfers.count, sizeof *transfers.items, by_link_and_start);
    bool shares = false;
    for (size_t i = 1; i < transfers.count; i++) {
        const struct transfer *a = &transfers.items[i - 1], *b = &transfers.items[i];
        shares |= a->from == b->from && a->to == b->to && b->start < a->end - tolerance;
    }
    free(transfers.items);
    return shares;
}

static double plan_makespan(const struct plan *plan, const struct setting *setting, struct arena *arena)
{
    double *forward = arena_array(arena, plan->stages, sizeof(double)),
           *backward = arena_array(arena, plan->stages, sizeof(double)),
           *weight = arena_array(arena, plan->stages, sizeof(double));
    for (uint32_t stage = 0; stage < plan->stages; stage++) {
        forward[stage] = setting->forward * plan->workers / plan->stages;
        backward[stage] = setting->backward * plan->workers / plan->stages;
        weight[stage] = backward[stage] / 2;
    }
    struct plan_costs costs = {forward, backward, weight, NULL, setting->latency};
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &costs);
    double value = timing.makespan;
    plan_timing_finish(&timing);
    return value;
}

static bool run_engine(const struct engine *engine, const struct program *program, struct platform *platform,
                       const uint32_t *hosts, struct timeline *timeline, struct fault *fault)
{
    struct engine_job job = {.program = program, .platform = platform, .hosts = hosts, .timeline = timeline};
    return engine->run(&job, fault);
}

static void check_setting(const struct schedule *schedule, const struct setting *setting)
{
    struct schedule_request request = schedule_request_default(schedule, setting->workers, setting->micro_batches);
    struct schedule_refusal refusal;
    if (!schedule_fits(schedule, &request, &refusal))
        return;
    struct arena *arena = arena_create();
    struct fault fault = {""};
    request.iterations = schedule->crosses ? 2 : 1;
    request.forward = setting->forward, request.backward = setting->backward, request.weight = setting->backward / 2;
    struct plan *plan = schedule->plan(&request);
    CHECK(plan_check(plan, NULL), "%s", schedule->name);
    if (plan_offloads_anywhere(plan)) { /* a mesh has no host memory: see platforms/host_memory.py */
        plan_destroy(plan);
        arena_destroy(arena);
        return;
    }
    struct mesh mesh = {0};
    struct program *program = pipeline_job(plan, setting, false, &mesh, arena);
    char *file = mesh_platform_write(mesh.ranks, setting->latency, setting->bandwidth);
    struct platform *platform = bridge_configure(NULL, 0, &fault) ? bridge_load(file, arena, &fault) : NULL;
    CHECK(platform, "%s", fault.text);
    unlink(file);
    free(file);
    uint32_t *hosts = arena_array(arena, mesh.ranks, sizeof *hosts);
    for (uint32_t rank = 0; rank < mesh.ranks; rank++)
        hosts[rank] = rank;
    struct timeline *analytic = timeline_create(program), *simulated = timeline_create(program);
    CHECK(run_engine(&engine_analytic, program, platform, hosts, analytic, &fault), "%s: %s", schedule->name,
          fault.text);
    CHECK(run_engine(&engine_simgrid, program, platform, hosts, simulated, &fault), "%s: %s", schedule->name,
          fault.text);
    double tolerance = 1e-6 * makespan(analytic);
    if (!shares_links(simulated, tolerance))
        compare(simulated, analytic, schedule->name);
    CHECK(makespan(simulated) >= makespan(analytic) - tolerance, "%s: simgrid %g is earlier than analytic %g",
          schedule->name, makespan(simulated), makespan(analytic));
    CHECK(simulated->activities == analytic->activities, "%s: activities differ", schedule->name);
    /* Messages of weights that travel follow each other on one stream, where each takes the latency, and so do the
     * steps of a collective of all workers, which a plan counts as one message. */
    bool queues = (plan_travels(plan) || plan->barriers) && setting->latency > 0;
    if (setting->message <= 0 && setting->data == 1 && !queues) {
        double expected = plan_makespan(plan, setting, arena);
        CHECK(fabs(makespan(analytic) - expected) <= 1e-9 * expected, "%s D=%u N=%u: %.12g, plan says %.12g",
              schedule->name, setting->workers, setting->micro_batches, makespan(analytic), expected);
    }
    timeline_destroy(analytic);
    timeline_destroy(simulated);
    plan_destroy(plan);
    arena_destroy(arena);
}

static bool passes_apart(const struct schedule *schedule, const struct setting *setting)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        check_setting(schedule, setting);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
    size_t settings_count = sizeof settings / sizeof *settings, number = 0;
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++)
        for (size_t i = 0; i < settings_count; i++)
            printf("%s %zu - %s D=%u N=%u data=%u\n", passes_apart(*schedule, &settings[i]) ? "ok" : "not ok", ++number,
                   (*schedule)->name, settings[i].workers, settings[i].micro_batches, settings[i].data);
    printf("1..%zu\n", number);
    return 0;
}
