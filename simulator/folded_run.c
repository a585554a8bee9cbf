/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/folded_run.h"

#include "simulator/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each attempt marks more messages; this many are rarely needed. */
enum { ATTEMPTS_MAX = 8 };

/* What an attempt says beside the times, in memory shared with its process. */
struct outcome {
    bool ok, ghosts_differ;
    uint64_t activities;
};

/* SimGrid knows one simulation per process, and there may be several attempts: each has its own. */
static bool attempt(const struct engine *engine, const struct engine_job *job, struct outcome *outcome)
{
    *outcome = (struct outcome){0};
    timeline_reset(job->timeline);
    pid_t pid = fork();
    if (pid == 0) {
        struct fault fault = {""};
        outcome->ok = engine->run(job, &fault);
        outcome->activities = job->timeline->activities;
        outcome->ghosts_differ = job->timeline->ghosts_differ;
        _exit(0);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    job->timeline->activities = outcome->activities;
    job->timeline->ghosts_differ = outcome->ghosts_differ;
    return pid > 0 && status == 0 && outcome->ok;
}

/* Attempts until the timeline is proven or cannot be. */
static bool simulate_slice(const struct engine *engine, struct engine_job *job, struct folding *folding)
{
    struct outcome *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    enum fold_verdict verdict = outcome == MAP_FAILED ? FOLD_REFUTED : FOLD_AGAIN;
    for (int i = 0; i < ATTEMPTS_MAX && verdict == FOLD_AGAIN; i++)
        verdict = attempt(engine, job, outcome) ? folding_verify(folding, job->timeline) : FOLD_REFUTED;
    if (outcome != MAP_FAILED)
        munmap(outcome, sizeof *outcome);
    return verdict == FOLD_PROVEN;
}

static bool run_all_ranks(const struct engine *engine, struct engine_job *job, struct folded_run *run, struct fault *fault)
{
    job->folding = NULL;
    job->timeline = run->timeline = timeline_create(job->program);
    if (engine->run(job, fault))
        return true;
    timeline_destroy(run->timeline);
    run->timeline = NULL;
    return false;
}

bool folded_run(const struct engine *engine, const struct engine_job *job, bool fold, struct arena *arena, struct folded_run *run,
                struct fault *fault)
{
    struct engine_job here = *job;
    bool contention = engine == &engine_simgrid;
    *run = (struct folded_run){0};
    run->folding = fold ? folding_create(job->program, job->platform, job->hosts, contention, arena)
                        : folding_none("the scenario says fold: off", arena);
    if (run->folding->slices == 1)
        return run_all_ranks(engine, &here, run, fault);
    here.folding = run->folding;
    here.timeline = run->timeline = timeline_create_folded(job->program, run->folding->slices, run->folding->stride, contention);
    if (contention ? simulate_slice(engine, &here, run->folding) : engine->run(&here, fault))
        return true;
    timeline_destroy(run->timeline);
    run->timeline = NULL;
    if (!contention)
        return false;
    run->folding = folding_none("the replicas turned out to disturb each other in different ways", arena);
    return run_all_ranks(engine, &here, run, fault);
}
