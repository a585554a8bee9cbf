/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/set_speeds.h"

#include "base/arena.h"

#include <math.h>

/* Iterations of the job whose iterations are longest alone: the least, and the most while operations of all ranks are
 * few; and how many more of a job that ends too early. Of jobs that begin together the first two iterations may be far
 * from the mean of many. */
enum { ITERATIONS = 2, ITERATIONS_MOST = 16, MORE = 2 };
static const double operations_few = 2e4;
/* Operations that are simulated at once at most. */
static const double operations_most = 2e6;

/* What is measured of a job: its whole iterations while all run, and when the first and the last of them end. */
struct measured {
    uint32_t done;
    double first, last;
};

/* Measures each job while all run. Where a job ends before each of the others has done one
 * iteration, it gets more: then times are none, and false. */
static bool measure(const struct job_run *runs, uint32_t count, uint32_t *iterations, struct measured *measured,
                    struct arena *arena)
{
    double **ends = arena_array(arena, count, sizeof(double *)), until = INFINITY, first = 0;
    for (uint32_t i = 0; i < count; i++) {
        ends[i] = job_run_ends(&runs[i], arena);
        until = fmin(until, ends[i][runs[i].iterations - 1] * (1 + 1e-9));
        first = fmax(first, ends[i][0]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t done = 1;
        while (done < runs[i].iterations && ends[i][done] <= until)
            done++;
        measured[i] = (struct measured){done, ends[i][0], ends[i][done - 1]};
        double last = ends[i][runs[i].iterations - 1] * (1 + 1e-9);
        if (first > last)
            iterations[i] = (uint32_t)fmin(ceil(iterations[i] * first / last) + MORE, UINT32_MAX);
    }
    return first <= until;
}

static bool simulate(struct platform *platform, const struct footprint *const *members, uint32_t count,
                     uint32_t *iterations, struct measured *measured, bool *whole)
{
    struct arena *arena = arena_create();
    struct job_run *runs = arena_array(arena, count, sizeof *runs);
    struct job_site site = {.whole = platform, .engine = &engine_simgrid, .rule = {true, {.most = CLASS_TURNS_ALL}}};
    struct fault fault = {""};
    struct diag silent = {0};
    bool done = true;
    for (uint32_t i = 0; i < count && done; i++)
        done = job_run_create(&members[i]->traffic->described, platform, members[i]->hosts, iterations[i], arena,
                              &silent, &runs[i]);
    done = done && job_runs_simulate(runs, count, &site, &fault);
    if (done) {
        *whole = measure(runs, count, iterations, measured, arena);
        job_runs_finish(runs, count);
    }
    arena_destroy(arena);
    return done;
}

/* The first iteration may be another one: pipelines fill. */
static bool find_alone(struct platform *platform, const struct footprint *member)
{
    struct traffic *traffic = member->traffic;
    struct measured measured;
    uint32_t iterations = ITERATIONS;
    bool whole;
    if (traffic->alone > 0)
        return true;
    if (!simulate(platform, &member, 1, &iterations, &measured, &whole))
        return false;
    traffic->first = measured.first;
    traffic->alone = (measured.last - measured.first) / (ITERATIONS - 1);
    return true;
}

static double count_operations(const struct footprint *const *members, uint32_t count, const uint32_t *iterations)
{
    double operations = 0;
    for (uint32_t i = 0; i < count; i++)
        operations += members[i]->traffic->operations * iterations[i];
    return operations;
}

static enum set_speeds find_beside(struct platform *platform, const struct footprint *const *members, uint32_t count,
                                   uint32_t *iterations, double *slow, struct arena *arena)
{
    struct measured *measured = arena_array(arena, count, sizeof *measured);
    bool whole = false;
    while (!whole) {
        if (count_operations(members, count, iterations) > operations_most)
            return SPEEDS_UNEVEN;
        if (!simulate(platform, members, count, iterations, measured, &whole))
            return SPEEDS_FAILED;
    }
    for (uint32_t i = 0; i < count; i++)
        slow[i] = measured[i].last / (members[i]->traffic->first + (measured[i].done - 1) * members[i]->traffic->alone);
    return SPEEDS_FOUND;
}

/* Iterations of each job in so many of the longest ones. False where they are too many for a number. */
static bool choose(const struct footprint *const *members, uint32_t count, double longest, uint32_t rounds,
                   uint32_t *iterations)
{
    double most = 0;
    for (uint32_t i = 0; i < count; i++) {
        double wanted = ceil(rounds * longest / members[i]->traffic->alone);
        most = fmax(most, wanted);
        iterations[i] = (uint32_t)fmin(wanted, UINT32_MAX);
    }
    return most < UINT32_MAX;
}

enum set_speeds set_speeds_find(struct platform *platform, const struct footprint *const *members, uint32_t count,
                                double *slow)
{
    double longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!find_alone(platform, members[i]))
            return SPEEDS_FAILED;
        longest = fmax(longest, members[i]->traffic->alone);
    }
    struct arena *arena = arena_create();
    uint32_t *iterations = arena_array(arena, count, sizeof *iterations);
    uint32_t rounds = ITERATIONS_MOST;
    while (rounds > ITERATIONS && (!choose(members, count, longest, rounds, iterations) ||
                                   count_operations(members, count, iterations) > operations_few))
        rounds /= 2;
    enum set_speeds speeds = choose(members, count, longest, rounds, iterations)
                                 ? find_beside(platform, members, count, iterations, slow, arena)
                                 : SPEEDS_UNEVEN;
    arena_destroy(arena);
    return speeds;
}
