/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/set_speeds.h"

#include "base/arena.h"

#include <math.h>

/* Iterations of the job whose iterations are longest, and the most of any. */
enum { ITERATIONS = 2, ITERATIONS_MOST = 64 };

/* Seconds of a mean iteration of each job while all run. */
static void measure(const struct job_run *runs, uint32_t count, double *seconds, struct arena *arena)
{
    double **ends = arena_array(arena, count, sizeof(double *)), until = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        ends[i] = job_run_ends(&runs[i], arena);
        until = fmin(until, ends[i][runs[i].iterations - 1]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t done = 1;
        while (done < runs[i].iterations && ends[i][done] <= until * (1 + 1e-9))
            done++;
        seconds[i] = ends[i][done - 1] / done;
    }
}

static bool simulate(struct platform *platform, const struct footprint *const *members, uint32_t count,
                     const uint32_t *iterations, double *seconds)
{
    struct arena *arena = arena_create();
    struct job_run *runs = arena_array(arena, count, sizeof *runs);
    struct job_site site = {.whole = platform, .engine = &engine_simgrid, .fold = true};
    struct fault fault = {""};
    struct diag silent = {0};
    bool done = true;
    for (uint32_t i = 0; i < count && done; i++)
        done = job_run_create(&members[i]->traffic->described, platform, members[i]->hosts, iterations[i], arena,
                              &silent, &runs[i]);
    done = done && job_runs_simulate(runs, count, &site, &fault);
    if (done) {
        measure(runs, count, seconds, arena);
        job_runs_finish(runs, count);
    }
    arena_destroy(arena);
    return done;
}

static bool find_alone(struct platform *platform, const struct footprint *member)
{
    static const uint32_t iterations = ITERATIONS;
    return member->traffic->alone > 0 || simulate(platform, &member, 1, &iterations, &member->traffic->alone);
}

bool set_speeds_find(struct platform *platform, const struct footprint *const *members, uint32_t count, double *slow)
{
    double longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!find_alone(platform, members[i]))
            return false;
        longest = fmax(longest, members[i]->traffic->alone);
    }
    struct arena *arena = arena_create();
    uint32_t *iterations = arena_array(arena, count, sizeof *iterations);
    for (uint32_t i = 0; i < count; i++)
        iterations[i] = (uint32_t)fmin(ceil(ITERATIONS * longest / members[i]->traffic->alone), ITERATIONS_MOST);
    bool done = simulate(platform, members, count, iterations, slow);
    for (uint32_t i = 0; i < count && done; i++)
        slow[i] /= members[i]->traffic->alone;
    arena_destroy(arena);
    return done;
}
