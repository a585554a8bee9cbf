/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/job_run.h"

#include "base/arena.h"
#include "base/isolate.h"
#include "cluster/jobs/job_platform.h"
#include "studies/choice.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

bool job_run_create(const struct cluster_job *described, struct platform *whole, const uint32_t *hosts,
                    uint32_t iterations, struct arena *arena, struct diag *diag, struct job_run *run)
{
    struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
    *run = (struct job_run){
        .described = described, .whole = whole, .given = hosts, .iterations = iterations, .start = described->start};
    run->part = job_platform_create(whole, hosts, described->scenario->mesh.ranks, arena);
    *scenario = *choice_settle(described->scenario, run->part, arena);
    scenario->iterations = iterations;
    run->job = job_create_steady(scenario, run->part, arena, diag);
    if (!run->job)
        return false;
    run->hosts = arena_array(arena, scenario->mesh.ranks, sizeof *run->hosts);
    for (uint32_t rank = 0; rank < scenario->mesh.ranks; rank++)
        run->hosts[rank] = hosts[run->job->hosts[rank]];
    return true;
}

bool job_run_again(const struct job_run *run, uint32_t iterations, struct arena *arena, struct diag *diag,
                   struct job_run *again)
{
    bool ok = job_run_create(run->described, run->whole, run->given, iterations, arena, diag, again);
    again->start = run->start;
    return ok;
}

/* What the process of a simulation says beside the times, in memory shared with it. */
struct outcome {
    bool ok;
    struct fault fault;
    uint64_t activities[JOBS_MAX];
};

static struct engine_job *chain(struct job_run *runs, uint32_t count, struct platform *whole, struct arena *arena)
{
    struct engine_job *jobs = arena_array(arena, count, sizeof *jobs);
    for (uint32_t i = 0; i < count; i++)
        jobs[i] = (struct engine_job){.program = runs[i].job->program,
                                      .platform = whole,
                                      .hosts = runs[i].hosts,
                                      .timeline = runs[i].timeline,
                                      .begins = runs[i].start,
                                      .lasts = runs[i].lasts,
                                      .beside = i + 1 < count ? &jobs[i + 1] : NULL};
    return jobs;
}

/* From the time of the simulation to the job's own. What waits for nothing is ready before it starts. */
static void shift(struct timeline *timeline, double start)
{
    const struct mesh *mesh = timeline->program->mesh;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        uint32_t count = timeline->program->positions[mesh->position_of[timeline->ranks[entry]]].operation_count;
        for (uint32_t id = 0; id < count; id++) {
            struct moment *moment = &timeline->moments[entry][id];
            moment->start = fmax(moment->start - start, 0);
            moment->data_start = fmax(moment->data_start - start, 0);
            moment->end = fmax(moment->end - start, 0);
        }
    }
}

static void run_apart(struct engine_job *jobs, uint32_t count, struct outcome *outcome)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        isolate_bond(parent);
        outcome->ok = engine_simgrid.run(jobs, &outcome->fault);
        for (uint32_t i = 0; i < count; i++)
            outcome->activities[i] = jobs[i].timeline->activities;
        _exit(0);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if ((pid < 0 || status != 0 || !outcome->ok) && !outcome->fault.text[0])
        fault_set(&outcome->fault, pid < 0 ? "no process could be made: %s" : "the simulation ended early%s",
                  pid < 0 ? strerror(errno) : "");
    for (uint32_t i = 0; i < count; i++)
        jobs[i].timeline->activities = outcome->activities[i];
}

/* Without contention nobody is beside anybody. */
static bool run_here(struct engine_job *jobs, uint32_t count, const struct engine *engine, struct fault *fault)
{
    for (uint32_t i = 0; i < count; i++) {
        jobs[i].beside = NULL;
        jobs[i].begins = 0;
        if (!engine->run(&jobs[i], fault))
            return false;
    }
    return true;
}

bool job_runs_simulate(struct job_run *runs, uint32_t count, struct platform *whole, const struct engine *engine,
                       struct fault *fault)
{
    struct arena *arena = arena_create();
    bool apart = engine == &engine_simgrid;
    struct outcome *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (uint32_t i = 0; i < count; i++) {
        runs[i].timeline = timeline_create_folded(runs[i].job->program, NULL, apart);
        runs[i].timeline->rounding = engine->rounding;
        timeline_note_latencies(runs[i].timeline, whole, runs[i].hosts);
    }
    struct engine_job *jobs = chain(runs, count, whole, arena);
    bool ok = outcome != MAP_FAILED || fault_set(fault, "there was no memory");
    if (ok && apart) {
        run_apart(jobs, count, outcome);
        ok = !outcome->fault.text[0] || fault_set(fault, "%s", outcome->fault.text);
    } else if (ok) {
        ok = run_here(jobs, count, engine, fault);
    }
    for (uint32_t i = 0; i < count && ok && apart; i++)
        shift(runs[i].timeline, runs[i].start);
    if (!ok)
        job_runs_finish(runs, count);
    if (outcome != MAP_FAILED)
        munmap(outcome, sizeof *outcome);
    arena_destroy(arena);
    return ok;
}

void job_runs_finish(struct job_run *runs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        timeline_destroy(runs[i].timeline);
        runs[i].timeline = NULL;
    }
}
