/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/run/folded_run.h"

#include "base/arena.h"
#include "base/isolate.h"
#include "simulator/engines/class_network.h"
#include "simulator/engines/class_store.h"
#include "simulator/engines/classes.h"
#include "simulator/program/stream_route.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each attempt marks more messages or splits classes; this many are rarely needed. */
enum { ATTEMPTS_MAX = 10 };

/* What an attempt says beside the times, in memory shared with its process. */
struct outcome {
    bool ok;
    uint64_t activities;
};

/* SimGrid knows one simulation per process, and there may be several attempts: each has its own. */
static bool attempt(const struct engine *engine, const struct engine_job *job, struct outcome *outcome)
{
    *outcome = (struct outcome){0};
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        struct fault fault = {""};
        isolate_bond(parent);
        outcome->ok = engine->run(job, &fault);
        outcome->activities = job->timeline->activities;
        _exit(0);
    }
    int status = -1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    job->timeline->activities = outcome->activities;
    return pid > 0 && status == 0 && outcome->ok;
}

/* Whether another attempt, behind some that were not proven, costs more than it can save. */
static bool is_worthless(const struct folding *folding, uint32_t spent)
{
    return spent && 2 * (spent + folding->classes) > folding->slices;
}

/* Attempts until a timeline is proven; NULL when none can be. */
static struct timeline *simulate_classes(const struct engine *engine, struct engine_job *job, struct folding *folding)
{
    struct outcome *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    enum fold_verdict verdict = outcome == MAP_FAILED ? FOLD_REFUTED : FOLD_AGAIN;
    job->timeline = NULL;
    for (uint32_t i = 0, spent = 0; i < ATTEMPTS_MAX && verdict == FOLD_AGAIN; i++) {
        if (is_worthless(folding, spent))
            break;
        spent += folding->classes;
        timeline_destroy(job->timeline);
        job->timeline = folding_timeline(folding, job->program, true);
        timeline_note_latencies(job->timeline, job->platform, job->hosts); /* the attempt has memory of its own */
        job->timeline->rounding = engine->rounding;
        if (folding->network) {
            verdict = attempt(engine, job, outcome) ? FOLD_PROVEN : FOLD_REFUTED;
            continue;
        }
        folding_prepare(folding);
        verdict = attempt(engine, job, outcome) ? folding_verify(folding, job->timeline) : FOLD_REFUTED;
    }
    if (outcome != MAP_FAILED)
        munmap(outcome, sizeof *outcome);
    if (verdict == FOLD_PROVEN)
        return job->timeline;
    timeline_destroy(job->timeline);
    return NULL;
}

/* All ranks in a process of their own. */
static bool run_apart(const struct engine *engine, struct engine_job *job, struct folded_run *run)
{
    struct outcome *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return false;
    job->folding = NULL;
    job->timeline = run->timeline = timeline_create_folded(job->program, NULL, true);
    timeline_note_latencies(job->timeline, job->platform, job->hosts);
    run->timeline->rounding = engine->rounding;
    bool ok = attempt(engine, job, outcome);
    munmap(outcome, sizeof *outcome);
    if (ok)
        return true;
    timeline_destroy(run->timeline);
    run->timeline = NULL;
    return false;
}

static bool run_with(const struct engine *engine, struct engine_job *job, struct timeline *timeline,
                     struct folded_run *run, struct fault *fault)
{
    job->timeline = run->timeline = timeline;
    run->timeline->rounding = engine->rounding;
    if (engine->run(job, fault))
        return true;
    timeline_destroy(run->timeline);
    run->timeline = NULL;
    return false;
}

static bool run_all_ranks(const struct engine *engine, struct engine_job *job, struct folded_run *run,
                          struct fault *fault)
{
    job->folding = NULL;
    return run_with(engine, job, timeline_create(job->program), run, fault);
}

static bool run_folded(const struct engine *engine, struct engine_job *job, struct folded_run *run, struct fault *fault)
{
    job->folding = run->folding;
    if (engine == &engine_simgrid) {
        run->timeline = simulate_classes(engine, job, run->folding);
        return run->timeline != NULL;
    }
    return run_with(engine, job, folding_timeline(run->folding, job->program, false), run, fault);
}

static bool has_profiles(const struct engine_job *job)
{
    for (uint32_t rank = 0; rank < job->program->mesh->ranks; rank++)
        if (job->platform->hosts[job->hosts[rank]].varies)
            return true;
    return false;
}

/* Of the groups of jobs that run on their platform, and not on a network of classes. */
static struct stand_ins *find_stand_ins(const struct engine *engine, const struct engine_job *jobs, uint32_t count,
                                        bool even, struct arena *arena)
{
    bool may = engine->weighs && !engine->weighs();
    struct class_part *parts = arena_array(arena, count, sizeof *parts);
    for (uint32_t i = 0; i < count && may; i++) {
        parts[i] = (struct class_part){jobs[i].program, jobs[i].hosts, jobs[i].begins};
        may = !has_profiles(&jobs[i]) && !program_offloads(jobs[i].program);
    }
    return may ? stand_ins_create(parts, count, jobs->platform, even, arena) : NULL;
}

/* Why flows of the engine cannot be classed on a platform; NULL: they can. */
static const char *refuses_classes(const struct engine *engine, const struct platform *platform)
{
    const struct platform_routing *routing = &platform->library.routing;
    if (engine->weighs())
        return engine->weighs();
    if (routing->policy == ROUTING_ECMP && routing->flows > 1) /* classes count a flow once a link */
        return "transfers are cut into flows over several links";
    return NULL;
}

/* With contention: a network of classes in place of the platform. */
static void find_network(const struct engine *engine, const struct engine_job *job, struct folding *folding,
                         struct arena *arena)
{
    const char *refuses = refuses_classes(engine, job->platform);
    struct class_part part = {job->program, job->hosts, 0};
    struct class_turns turns = {.most = CLASS_TURNS_ALL};
    if (refuses)
        snprintf(folding->reason, sizeof folding->reason, "%s", refuses);
    else
        folding->network = class_network_create(&part, 1, job->platform, &turns, arena, folding->reason,
                                                sizeof folding->reason, &folding->distinct);
    if (!folding->network)
        return;
    folding->classes = folding->network->count;
    folding->equals = folding->network->first_of;
}

/* NULL where nothing is folded. */
static struct folding *fold_beside(const struct engine *engine, const struct engine_job *jobs, uint32_t count,
                                   struct class_turns *turns, struct arena *arena, char *reason, size_t size)
{
    struct class_part *parts = arena_array(arena, count, sizeof *parts);
    const char *refuses = engine->weighs ? refuses_classes(engine, jobs->platform) : "there is no contention";
    bool distinct;
    for (uint32_t i = 0; i < count && !refuses; i++) {
        parts[i] = (struct class_part){jobs[i].program, jobs[i].hosts, jobs[i].begins};
        if (has_profiles(&jobs[i]))
            refuses = "the platform has profiles: speeds or bandwidths change over time";
        else if (program_offloads(jobs[i].program))
            refuses = "stashes move to host memory";
    }
    struct class_network *networks = NULL;
    if (refuses)
        snprintf(reason, size, "%s", refuses);
    else
        networks = class_network_create(parts, count, jobs->platform, turns, arena, reason, size, &distinct);
    if (!networks)
        return NULL;
    struct folding *foldings = arena_array(arena, count, sizeof *foldings);
    for (uint32_t i = 0; i < count; i++)
        foldings[i] = (struct folding){.slices = jobs[i].program->mesh->replicas,
                                       .classes = networks[i].count,
                                       .equals = networks[i].first_of,
                                       .network = &networks[i]};
    return foldings;
}

void folded_beside(const struct engine *engine, struct engine_job *jobs, uint32_t count, struct folded_rule *rule,
                   struct arena *arena, char *reason, size_t size)
{
    struct folding *foldings = NULL;
    snprintf(reason, size, "%s", rule->fold ? "" : "the scenario says fold: off");
    rule->turns.even = !rule->turns.most && engine->weighs;
    if (rule->fold)
        foldings = fold_beside(engine, jobs, count, &rule->turns, arena, reason, size);
    struct stand_ins *stand_ins = foldings ? NULL : find_stand_ins(engine, jobs, count, !rule->turns.most, arena);
    for (uint32_t i = 0; i < count; i++) {
        jobs[i].number = i;
        jobs[i].folding = foldings ? &foldings[i] : NULL;
        jobs[i].stand_ins = stand_ins ? &stand_ins[i] : NULL;
    }
}

static void find_classes(const struct engine_job *job, struct folding *folding, struct arena *arena)
{
    struct classes classes = class_store_find(job->classes, job->program, job->platform, job->hosts, arena);
    if (classes.count == job->program->mesh->ranks)
        snprintf(folding->reason, sizeof folding->reason, "no two ranks are alike: hosts or routes differ");
    else
        folding->classes = classes.count;
    folding->equals = classes.first_of;
}

/* Of all ranks that are alike one. */
static struct folding *folding_of_classes(const struct engine *engine, const struct engine_job *job,
                                          struct arena *arena)
{
    const struct mesh *mesh = job->program->mesh;
    if (mesh->replicas == 1)
        return folding_none(mesh->positions > job->program->workers ? "no rank is a replica of another one"
                                                                    : "there is one data-parallel replica",
                            arena);
    if (has_profiles(job))
        return folding_none("the platform has profiles: speeds or bandwidths change over time", arena);
    if (engine->weighs && program_offloads(job->program))
        return folding_none("stashes move to host memory", arena);
    struct folding *folding = folding_none("", arena);
    folding->slices = mesh->replicas;
    if (engine->weighs)
        find_network(engine, job, folding, arena);
    else
        find_classes(job, folding, arena);
    return folding;
}

/* Whether messages of replicas meet collectives across replicas even without contention. */
static bool foresees_meeting(const struct engine_job *job, struct folding *folding)
{
    struct fault fault = {""};
    struct engine_job alone = *job;
    alone.folding = folding;
    alone.progress = NULL;
    alone.timeline = folding_timeline(folding, job->program, false);
    bool meets = engine_analytic.run(&alone, &fault) && folding_meets(folding, alone.timeline);
    timeline_destroy(alone.timeline);
    return meets;
}

/* Whole replicas, for SimGrid where ranks cannot be classed. Where no two of them are alike replicas still are, as long
 * as their messages keep out of the way of what is between them; attempts that cannot be proven take longer than the
 * whole job. */
static struct folding *folding_of_replicas(const struct engine_job *job, bool distinct, struct arena *arena)
{
    struct folding *folding = folding_create(job->program, job->platform, job->hosts, arena);
    if (!folding->classes || !distinct || !foresees_meeting(job, folding))
        return folding;
    folding_finish(folding);
    return folding_none("no two ranks are alike, and messages of replicas meet collectives across replicas", arena);
}

bool folded_run(const struct engine *engine, const struct engine_job *job, bool fold, struct arena *arena,
                struct folded_run *run, struct fault *fault)
{
    struct engine_job here = *job;
    *run = (struct folded_run){0};
    if (!fold)
        run->folding = folding_none("the scenario says fold: off", arena);
    else
        run->folding = folding_of_classes(engine, job, arena);
    if (fold && engine == &engine_simgrid && !run->folding->classes && !program_offloads(job->program))
        run->folding = folding_of_replicas(job, run->folding->distinct, arena);
    if (run->folding->classes && !run->folding->network)
        here.stand_ins = find_stand_ins(engine, job, 1, false, arena);
    bool ok = run->folding->classes && run_folded(engine, &here, run, fault);
    folding_finish(run->folding);
    if (!ok && !fault->text[0]) {
        if (run->folding->classes)
            run->folding = folding_none("replicas turned out to disturb each other in too many different ways", arena);
        here.stand_ins = find_stand_ins(engine, job, 1, false, arena);
        ok = here.apart ? run_apart(engine, &here, run) : run_all_ranks(engine, &here, run, fault);
    }
    return ok;
}

uint32_t folded_run_classes_but_latency(const struct engine *engine, const struct engine_job *job, struct arena *arena)
{
    if (engine->weighs)
        return class_network_count(&(struct class_part){job->program, job->hosts, 0}, job->platform, arena);
    return classes_without_contention(job->program, job->platform, job->hosts, false, arena).count;
}
