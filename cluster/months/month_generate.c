/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/months/month.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"

#include <math.h>
#include <stdlib.h>

enum { PURPOSE_TIMES = 1, PURPOSE_JOB = 2, JOBS_MAX = 20000000 };
static const double DAY = 86400, HOUR = 3600, RUN_LEAST = 1e-3;

/* The times at which jobs come, by thinning a process of the busiest hour's rate. */
static double *draw_times(const struct month *month, uint64_t seed, size_t *count)
{
    struct draws draws = draws_of(seed, PURPOSE_TIMES, 0);
    double most = 0, end = month->days * DAY, now = 0, *times = NULL;
    size_t capacity = 0;
    *count = 0;
    for (int i = 0; i < MONTH_HOURS; i++)
        most = fmax(most, month->hours[i]);
    double rate = month->jobs_per_day / DAY * most / month->together;
    double more = month->together > 1 ? rounded_log(1 - 1 / month->together) : -INFINITY;
    while ((now += draw_exponential(&draws) / rate) < end && *count < JOBS_MAX) {
        int hour = (int)fmod(now / HOUR, MONTH_HOURS);
        if (draw_unit(&draws) * most >= month->hours[hour])
            continue;
        size_t others = (size_t)fmin(JOBS_MAX, floor(rounded_log(1 - draw_unit(&draws)) / more));
        times = array_grow(times, &capacity, *count + others + 1, sizeof *times);
        for (size_t i = 0; i <= others; i++)
            times[(*count)++] = now;
    }
    return times;
}

static const struct month_size *draw_size(const struct month *month, struct draws *draws)
{
    double left = draw_unit(draws);
    size_t i = 0;
    while (i + 1 < month->size_count && left >= month->sizes[i].share)
        left -= month->sizes[i++].share;
    return &month->sizes[i];
}

/* [k]: sum of 1/1 .. 1/(k + 1), for users as the k-th one has 1/k of the jobs of the first. */
static double *sum_users(uint64_t users)
{
    double *sums = array_zeroed(users + 1, sizeof *sums), all = 0;
    for (uint64_t k = 0; k < users; k++)
        sums[k] = all += 1 / (double)(k + 1);
    return sums;
}

static uint64_t draw_user(const struct month *month, struct draws *draws, const double *sums)
{
    double wanted = draw_unit(draws) * sums[month->users - 1];
    uint64_t low = 0, high = month->users - 1;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (wanted >= sums[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low + 1;
}

/* Every job has a stream of its own: more days change none of the jobs before. */
static void draw_job(const struct month *month, uint64_t seed, size_t number, const double *users,
                     struct arrival *arrival, struct arena *arena)
{
    struct draws draws = draws_of(seed, PURPOSE_JOB, number);
    const struct month_size *size = draw_size(month, &draws);
    double end = draw_unit(&draws);
    arrival->processors = (uint32_t)size->gpus;
    arrival->nodes = (uint32_t)size->nodes;
    arrival->status = end < month->failed                      ? STATUS_FAILED
                      : end < month->failed + month->cancelled ? STATUS_CANCELLED
                                                               : STATUS_DONE;
    if (month->users)
        arrival->user = arena_print(arena, "%llu", (unsigned long long)draw_user(month, &draws, users));
    double run = distribution_draw(&size->run, &draws);
    arrival->run = fmin(fmin(month->longest, ARRIVAL_SECONDS_MAX), fmax(RUN_LEAST, run));
    arrival->name = arena_print(arena, "%zu", number + 1);
}

struct arrival_log *month_generate(const struct month *month, uint64_t seed, const char *file, struct place at,
                                   struct arena *arena, struct diag *diag)
{
    size_t count;
    double *times = draw_times(month, month->seed + seed, &count), *users = sum_users(month->users);
    struct arrival_log *log = NULL;
    if (count == 0 || count >= JOBS_MAX) {
        if (count)
            diag_error(diag, at, "more than %d jobs come; expected fewer days, or jobs on a day", JOBS_MAX);
        else
            diag_error(diag, at, "no job comes; expected more days, or more jobs on a day");
    } else {
        log = arena_alloc(arena, sizeof *log);
        *log = (struct arrival_log){.file = file,
                                    .format = ARRIVALS_UNKNOWN,
                                    .arrivals = arena_array(arena, count, sizeof *log->arrivals),
                                    .count = count};
        for (size_t i = 0; i < count; i++) {
            log->arrivals[i] =
                (struct arrival){.submit = times[i], .wait = -1, .limit = -1, .iterations = -1, .at = at};
            draw_job(month, month->seed + seed, i, users, &log->arrivals[i], arena);
        }
    }
    free(times);
    free(users);
    return log;
}
