/* SPDX-License-Identifier: Apache-2.0 */
/* The steady state of schedules whose order crosses iterations, held to the mean over many iterations of random jobs.
 */
#include "schedules/steady.h"
#include "base/arena.h"
#include "base/numbers/cycle.h"
#include "test/support/random_job.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { WORKERS_MAX = 6, STAGES_MAX = 2 * WORKERS_MAX, MANY = 840 /* divisible by 1 to 8 */ };

struct times {
    double forward[STAGES_MAX], backward[STAGES_MAX], weight[STAGES_MAX];
    struct plan_costs costs;
};

static void draw(struct random *random, struct times *times, bool latency)
{
    bool whole = random_chance(random, 0.3);
    for (int i = 0; i < STAGES_MAX; i++) {
        times->forward[i] = whole ? random_between(random, 1, 3) : 0.2 + random_unit(random);
        times->weight[i] = whole ? random_between(random, 1, 2) : 0.2 + random_unit(random);
        times->backward[i] = times->weight[i] + (whole ? random_between(random, 1, 3) : 0.2 + random_unit(random));
    }
    times->costs = (struct plan_costs){.forward = times->forward,
                                       .backward = times->backward,
                                       .weight = times->weight,
                                       .latency = latency ? random_unit(random) : 0};
}

/* Mean interval between the ends of the last MANY iterations, the very last left out, and the longest of them. */
static double long_mean(const struct schedule *schedule, struct schedule_request request,
                        const struct plan_costs *costs, double *longest)
{
    request.iterations = 2 * MANY + 2;
    struct plan *plan = schedule->plan(&request);
    cr_assert(plan->iterations == request.iterations);
    struct plan_timing timing;
    plan_timing_init(&timing, plan, costs);
    double mean = (timing.iteration_ends[2 * MANY] - timing.iteration_ends[MANY]) / MANY;
    *longest = 0;
    for (uint32_t i = MANY; i < 2 * MANY; i++)
        *longest = fmax(*longest, timing.iteration_ends[i + 1] - timing.iteration_ends[i]);
    plan_timing_finish(&timing);
    plan_destroy(plan);
    return mean;
}

/* Of one request. */
static double steady_of(const struct schedule *schedule, struct schedule_request request,
                        const struct plan_costs *costs)
{
    request.iterations = 1;
    struct plan *plan = schedule->plan(&request);
    struct plan_timing timing;
    plan_timing_init(&timing, plan, costs);
    double steady = schedule_steady_iteration(schedule, &request, costs, plan, &timing);
    plan_timing_finish(&timing);
    plan_destroy(plan);
    return steady;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* A cycle that does not divide MANY leaves a rest of less than one iteration. */
static void check_mean(const struct schedule *schedule, const struct schedule_request *request,
                       const struct plan_costs *costs, uint64_t seed, unsigned *exact)
{
    double longest, mean = long_mean(schedule, *request, costs, &longest);
    double steady = steady_of(schedule, *request, costs);
    cr_expect(fabs(steady - mean) <= longest / MANY, "seed %llu, %s, D %u, N %u: %.12g, over %d iterations %.12g",
              (unsigned long long)seed, schedule->name, request->workers, request->micro_batches, steady, MANY, mean);
    *exact += is_near(steady, mean);
}

Test(steady, mean_of_many_iterations)
{
    unsigned exact = 0, all = 0;
    for (uint64_t seed = 1; seed <= 160; seed++) {
        struct random random = {seed};
        struct times times;
        draw(&random, &times, random_chance(&random, 0.5));
        static const char *const names[] = {"pipedream", "pipedream-2bw", "zb-h2", "zb-v", "zb-v-greedy"};
        const struct schedule *schedule = schedule_find(names[random_below(&random, 5)]);
        struct schedule_request request =
            schedule_request_default(schedule, random_between(&random, 1, WORKERS_MAX), random_between(&random, 1, 9));
        struct schedule_refusal refusal;
        request.iterations = 4;
        if (!schedule_fits(schedule, &request, &refusal))
            continue;
        all++;
        check_mean(schedule, &request, &times.costs, seed, &exact);
    }
    cr_expect(all > 100 && exact > 0.9 * all, "%u of %u are equal to 1e-9", exact, all);
}

/* PipeDream synchronises nothing: a micro-batch takes the same time however many an iteration is said to have. */
Test(steady, micro_batches_per_iteration_do_not_matter)
{
    const struct schedule *schedule = schedule_find("pipedream");
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct random random = {seed};
        struct times times;
        draw(&random, &times, random_chance(&random, 0.5));
        uint32_t workers = random_between(&random, 1, WORKERS_MAX);
        struct schedule_request one = schedule_request_default(schedule, workers, 1);
        double expected = steady_of(schedule, one, &times.costs);
        for (uint32_t several = 2; several <= 12; several++) {
            struct schedule_request request = schedule_request_default(schedule, workers, several);
            double steady = steady_of(schedule, request, &times.costs);
            cr_expect(is_near(steady, several * expected), "seed %llu, D %u: %.12g for %u micro-batches, %.12g for one",
                      (unsigned long long)seed, workers, steady, several, expected);
        }
    }
}

/* One list is late every fourth time, the other one regular: three intervals of 1 prove nothing. With one that falls
 * behind the other for ever there is no cycle. */
Test(steady, equal_intervals_are_no_cycle)
{
    struct moment own[40], others[40];
    double time = 0;
    for (int i = 0; i < 40; i++) {
        own[i] = (struct moment){time, time, time + 1};
        others[i] = (struct moment){1.375 * i, 1.375 * i, 1.375 * i + 1};
        time += i % 4 == 3 ? 2.5 : 1;
    }
    struct cycle_list lists[] = {{.moments = own, .count = 40, .beat = 1, .to = 40},
                                 {.moments = others, .count = 40, .beat = 1, .to = 40}};
    struct cycle cycle;
    cr_assert(cycle_find(lists, 2, 1e-11, &cycle));
    cr_expect(cycle.beats == 4 && is_near(cycle.length, 5.5), "%u beats, %g", cycle.beats, cycle.length);
    for (int i = 0; i < 40; i++)
        own[i] = (struct moment){1.376 * i, 1.376 * i, 1.376 * i + 0.5};
    cr_expect(!cycle_find(lists, 2, 1e-11, &cycle));
}
