/* SPDX-License-Identifier: Apache-2.0 */
/* Solves the instances of a file one after the other: test/schedules/best/measure.py, rates.py and second_solver.py
 * read what is printed.
 *
 *     solve FILE EFFORT SECONDS
 *
 * A line of FILE is an instance, numbers divided by commas, lists by blanks: name, workers, micro-batches, limit in
 * stashes of a stage (0: none), latency, the worker of each stage, forwards, whole backwards, weight gradients (empty:
 * backwards are whole), and whatever else. A line of output is name, time, bound, 1 if proved, states, seconds of the
 * processor, and from 16 micro-batches on what a further one takes and takes at least. */
#include "schedules/best/best.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_MAX_LENGTH = 4096, FIELDS = 9 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct clock {
    double until;
};

static bool keep_on(void *user, const struct best_progress *progress)
{
    (void)progress;
    return seconds() < ((struct clock *)user)->until;
}

/* The numbers of a list; their count. */
static uint32_t read_list(const char *text, double *values)
{
    uint32_t count = 0;
    char *end;
    for (double value = strtod(text, &end); end != text; value = strtod(text, &end)) {
        values[count++] = value;
        text = end;
    }
    return count;
}

static void solve(char *fields[], uint64_t effort, double most)
{
    static double times[4][BEST_STAGES_MAX];
    static uint32_t worker_of[BEST_STAGES_MAX];
    uint32_t stages = read_list(fields[5], times[0]);
    for (uint32_t stage = 0; stage < stages; stage++)
        worker_of[stage] = (uint32_t)times[0][stage];
    read_list(fields[6], times[1]);
    read_list(fields[7], times[2]);
    bool split = read_list(fields[8], times[3]) > 0;
    double begin = seconds();
    struct clock clock = {begin + most};
    struct best_request request = {.effort = effort, .report = keep_on, .user = &clock};
    request.instance = (struct instance_request){.workers = (uint32_t)atoi(fields[1]),
                                                 .stages = stages,
                                                 .batches = (uint32_t)atoi(fields[2]),
                                                 .worker_of = worker_of,
                                                 .forward = times[1],
                                                 .backward = times[2],
                                                 .weight = split ? times[3] : NULL,
                                                 .latency = atof(fields[4]),
                                                 .limit = (uint32_t)atoi(fields[3])};
    struct best_result result = {0};
    best_search(&request, &result);
    printf("%s,%.17g,%.17g,%d,%llu,%.3f,%.17g,%.17g\n", fields[0], result.plan ? result.makespan : -1, result.bound,
           result.optimal, (unsigned long long)result.evaluations, seconds() - begin, result.rate, result.rate_bound);
    fflush(stdout);
    if (result.plan)
        plan_destroy(result.plan);
}

int main(int argc, char **argv)
{
    char line[LINE_MAX_LENGTH];
    FILE *file = argc == 4 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        fputs("usage: solve FILE EFFORT SECONDS\n", stderr);
        return 1;
    }
    while (fgets(line, sizeof line, file)) {
        char *fields[FIELDS + 1] = {0}, *rest = line;
        for (int i = 0; i <= FIELDS && rest; i++)
            fields[i] = strsep(&rest, ",\n");
        if (line[0] != '#' && fields[FIELDS - 1])
            solve(fields, strtoull(argv[2], NULL, 10), atof(argv[3]));
    }
    fclose(file);
    return 0;
}
