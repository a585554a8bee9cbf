/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/jobs/job_run.h"

#include "base/arena.h"
#include "base/isolate.h"
#include "base/table.h"
#include "cluster/jobs/job_platform.h"
#include "simulator/engines/class_network.h"
#include "studies/choice.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static struct engine_job job_of(const struct job_run *run, struct platform *whole)
{
    return (struct engine_job){.program = run->job->program,
                               .platform = whole,
                               .hosts = run->hosts,
                               .begins = run->start,
                               .lasts = run->lasts};
}

static struct timeline *timeline_for(const struct job_run *run, const struct folding *folding,
                                     const struct job_site *site, bool shared)
{
    const struct program *program = run->job->program;
    struct timeline *timeline =
        folding ? folding_timeline(folding, program, shared) : timeline_create_folded(program, NULL, shared);
    timeline->rounding = site->engine->rounding;
    timeline_note_latencies(timeline, site->whole, run->hosts);
    return timeline;
}

/* Jobs with their timelines; those for which others are simulated have none yet. */
static struct engine_job *list_jobs(struct job_run *runs, uint32_t count, struct job_site *site, bool apart,
                                    struct arena *arena)
{
    struct engine_job *jobs = arena_array(arena, count, sizeof *jobs);
    for (uint32_t i = 0; i < count; i++)
        jobs[i] = job_of(&runs[i], site->whole);
    folded_beside(site->engine, jobs, count, &site->rule, arena, site->reason, sizeof site->reason);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t like = jobs[i].folding ? jobs[i].folding->network->like : i;
        runs[i].like = like == i ? NULL : &runs[like];
        if (!runs[i].like)
            jobs[i].timeline = runs[i].timeline = timeline_for(&runs[i], jobs[i].folding, site, apart);
    }
    return jobs;
}

/* Puts those that are simulated beside each other, in their order; returns the first. */
static struct engine_job *chain(const struct job_run *runs, struct engine_job *jobs, uint32_t count)
{
    struct engine_job *first = NULL;
    for (uint32_t i = count; i-- > 0;) {
        if (runs[i].like)
            continue;
        jobs[i].beside = first;
        first = &jobs[i];
    }
    return first;
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

static void run_apart(struct engine_job *first, struct outcome *outcome)
{
    pid_t parent = getpid(), pid = fork();
    uint32_t count = 0;
    if (pid == 0) {
        isolate_bond(parent);
        outcome->ok = engine_simgrid.run(first, &outcome->fault);
        for (const struct engine_job *job = first; job; job = job->beside)
            outcome->activities[count++] = job->timeline->activities;
        _exit(0);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if ((pid < 0 || status != 0 || !outcome->ok) && !outcome->fault.text[0])
        fault_set(&outcome->fault, pid < 0 ? "no process could be made: %s" : "the simulation ended early%s",
                  pid < 0 ? strerror(errno) : "");
    for (const struct engine_job *job = first; job; job = job->beside)
        job->timeline->activities = outcome->activities[count++];
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

/* The times of a job for which another one was simulated, class by class. */
static void copy_times(struct job_run *run, const struct folding *folding, const struct folding *other,
                       const struct job_site *site)
{
    const struct timeline *from = run->like->timeline;
    struct timeline *to = run->timeline = timeline_for(run, folding, site, false);
    const struct mesh *mesh = run->job->program->mesh;
    uint32_t *entry_of = array_zeroed(folding->network->platform.host_count, sizeof *entry_of); /* [class] */
    for (uint32_t entry = 0; entry < from->rank_count; entry++)
        entry_of[other->network->place_of[from->ranks[entry]]] = entry;
    for (uint32_t entry = 0; entry < to->rank_count; entry++) {
        uint32_t count = run->job->program->positions[mesh->position_of[to->ranks[entry]]].operation_count;
        memcpy(to->moments[entry], from->moments[entry_of[folding->network->place_of[to->ranks[entry]]]],
               count * sizeof **to->moments);
    }
    free(entry_of);
}

/* What a simulation costs of which no class of ranks is a part: measured on jobs of a tensor, a pipeline and a data
 * axis at random places. Larger rings take up to ten times as long. */
static void note_cost(const struct job_run *runs, const struct engine_job *jobs, uint32_t count,
                      const struct job_site *site)
{
    static const double tell_from = 20, seconds = 13, ranks_then = 1024, operations_then = 1e5;
    double ranks = 0, operations = 0;
    char least[READABLE_MAX], most[READABLE_MAX];
    for (uint32_t i = 0; i < count; i++) {
        if (runs[i].like)
            continue;
        double own = jobs[i].folding ? jobs[i].folding->classes : runs[i].job->program->mesh->ranks;
        ranks += own;
        operations += (double)program_all_operations(runs[i].job->program) * own / runs[i].job->program->mesh->ranks;
    }
    double share = ranks / ranks_then,
           takes = seconds * share * sqrt(share * sqrt(share)) * operations / operations_then;
    if (site->notes && takes > tell_from)
        fprintf(site->notes,
                "note: %.0f ranks that differ share links; to simulate them takes from %s to ten times that "
                "(%s)\n",
                ranks, readable_seconds(least, takes), readable_seconds(most, 10 * takes));
}

bool job_runs_simulate(struct job_run *runs, uint32_t count, struct job_site *site, struct fault *fault)
{
    struct arena *arena = arena_create();
    bool apart = site->engine == &engine_simgrid;
    struct outcome *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct engine_job *jobs = list_jobs(runs, count, site, apart, arena);
    bool ok = outcome != MAP_FAILED || fault_set(fault, "there was no memory");
    if (ok && apart) {
        note_cost(runs, jobs, count, site);
        run_apart(chain(runs, jobs, count), outcome);
        ok = !outcome->fault.text[0] || fault_set(fault, "%s", outcome->fault.text);
    } else if (ok) {
        ok = run_here(jobs, count, site->engine, fault);
    }
    for (uint32_t i = 0; i < count && ok && apart; i++)
        if (!runs[i].like)
            shift(runs[i].timeline, runs[i].start);
    for (uint32_t i = 0; i < count && ok; i++)
        if (runs[i].like)
            copy_times(&runs[i], jobs[i].folding, jobs[runs[i].like - runs].folding, site);
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

double *job_run_ends(const struct job_run *run, struct arena *arena)
{
    double *ends = arena_array(arena, run->iterations + (size_t)1, sizeof *ends);
    const struct program *program = run->job->program;
    for (uint32_t entry = 0; entry < run->timeline->rank_count; entry++) {
        const struct position *position = &program->positions[program->mesh->position_of[run->timeline->ranks[entry]]];
        for (uint32_t id = 0; id < position->operation_count; id++) {
            uint32_t iteration = position->operations[id].iteration;
            if (iteration < run->iterations)
                ends[iteration] = fmax(ends[iteration], run->timeline->moments[entry][id].end);
        }
    }
    for (uint32_t i = 1; i < run->iterations; i++)
        ends[i] = fmax(ends[i], ends[i - 1]);
    return ends;
}
