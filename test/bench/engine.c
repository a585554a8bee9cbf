/* SPDX-License-Identifier: Apache-2.0 */
/* The raw rate of the analytic engine: every operation of every rank, nothing folded, nothing repeated.
 *
 * usage: engine SCENARIO [RUNS]
 *
 * The program is built once. Each run makes a timeline, whose memory is touched for the first time then or was another
 * job's, and the engine fills it. The clock is around both, and around the engine alone. The best of the runs counts:
 * others have the machine as well. */
#include "simulator/engines/engine.h"
#include "base/arena.h"
#include "job/job.h"
#include "job/scenario/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 9 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static struct job *load(const char *file, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct fault fault = {""};
    const char *why = NULL;
    struct scenario_request request = {.file = file};
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    struct platform *platform = scenario ? platform_source_native(&scenario->platform, arena, &why, &fault) : NULL;
    if (scenario && !platform)
        fprintf(stderr, "%s: %s\n", file, fault.text[0] ? fault.text : why);
    return platform ? job_create(scenario, platform, 1, arena, &diag) : NULL;
}

/* Seconds of the engine, and with the making of its timeline; and how many operations that were. */
struct run {
    double engine, whole, operations;
};

static struct run run_once(const struct job *job)
{
    struct fault fault = {""};
    double begun = now();
    struct timeline *timeline = timeline_create(job->program);
    struct engine_job timed = {
        .program = job->program, .platform = job->platform, .hosts = job->hosts, .timeline = timeline};
    double made = now();
    if (!engine_analytic.run(&timed, &fault)) {
        fprintf(stderr, "%s\n", fault.text);
        exit(1);
    }
    struct run run = {.engine = now() - made, .whole = now() - begun};
    for (uint32_t index = 0; index < timeline->rank_count; index++)
        run.operations +=
            job->program->positions[job->program->mesh->position_of[timeline->ranks[index]]].operation_count;
    timeline_destroy(timeline);
    return run;
}

static void print(const char *what, double operations, double seconds)
{
    printf("%-36s %8.1f ms %8.1f million operations a second\n", what, 1e3 * seconds, operations / seconds / 1e6);
}

int main(int count, char **arguments)
{
    struct arena *arena = arena_create();
    struct job *job = count > 1 ? load(arguments[1], arena) : NULL;
    long runs = count > 2 ? strtol(arguments[2], NULL, 10) : RUNS;
    struct run best = {INFINITY, INFINITY, 0};
    if (!job) {
        fprintf(stderr, "usage: engine SCENARIO [RUNS]\n");
        arena_destroy(arena);
        return 2;
    }
    for (long i = 0; i < runs; i++) {
        struct run run = run_once(job);
        best = (struct run){fmin(best.engine, run.engine), fmin(best.whole, run.whole), run.operations};
    }
    printf("%.0f operations, processor time, best of %ld runs\n", best.operations, runs);
    print("the engine", best.operations, best.engine);
    print("with the memory of its timeline", best.operations, best.whole);
    arena_destroy(arena);
    return 0;
}
