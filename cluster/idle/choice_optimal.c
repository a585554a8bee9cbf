/* SPDX-License-Identifier: Apache-2.0 */
/* The exact choice: a knapsack in which each job takes one of its sizes, by dynamic programming over jobs and nodes.
 * O(jobs * nodes * most) steps, where the paper asks a solver of mixed-integer programs. */
#include "base/arena.h"
#include "cluster/idle/choice.h"

#include <math.h>
#include <string.h>

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* next[m] becomes the best of best[m - size] + value[size], and pick[m] the smallest size that reaches it; what is
 * better by less than `margin` counts as equal, so that rounding decides nothing. */
static void add_job(const struct choice_job *job, const double *value, uint32_t nodes, double margin,
                    const double *restrict best, double *restrict next, uint16_t *restrict pick)
{
    for (uint32_t m = 0; m <= nodes; m++) {
        next[m] = best[m] + value[0];
        pick[m] = 0;
    }
    for (uint32_t size = job->least; size <= least_of(job->most, nodes); size++) {
        const double add = value[size];
        for (uint32_t m = size; m <= nodes; m++) {
            double reached = best[m - size] + add;
            if (reached > next[m] + margin) {
                next[m] = reached;
                pick[m] = (uint16_t)size;
            }
        }
    }
}

static uint32_t nodes_wanted(const struct choice_job *jobs, size_t count, uint32_t nodes)
{
    uint64_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        wanted += jobs[i].most;
    return wanted < nodes ? (uint32_t)wanted : nodes;
}

static void choose(const struct choice *choice, struct arena *arena)
{
    uint32_t nodes = nodes_wanted(choice->jobs, choice->count, choice->nodes), most = 0;
    double largest = 0;
    for (size_t i = 0; i < choice->count; i++) {
        const struct choice_job *job = &choice->jobs[i];
        most = job->most > most ? job->most : most;
        largest += fabs(choice_value(choice, job, job->most));
    }
    size_t width = nodes + (size_t)1;
    double *best = arena_array(arena, width, sizeof *best), *next = arena_array(arena, width, sizeof *next);
    double *value = arena_array(arena, most + (size_t)1, sizeof *value);
    uint16_t *picks = arena_array(arena, width * choice->count, sizeof *picks);
    for (size_t i = 0; i < choice->count; i++) {
        const struct choice_job *job = &choice->jobs[i];
        for (uint32_t size = 0; size <= job->most; size++)
            value[size] = choice_value(choice, job, size);
        add_job(job, value, nodes, 1e-12 * largest, best, next, &picks[i * width]);
        double *swap = best;
        best = next;
        next = swap;
    }
    uint32_t left = nodes;
    for (size_t i = choice->count; i-- > 0;) {
        choice->sizes[i] = picks[i * width + left];
        left -= choice->sizes[i];
    }
}

void choice_best(const struct choice_job *jobs, size_t count, uint32_t nodes, double *best, struct arena *arena)
{
    uint32_t useful = nodes_wanted(jobs, count, nodes);
    double *next = arena_array(arena, useful + (size_t)1, sizeof *next);
    uint16_t *pick = arena_array(arena, useful + (size_t)1, sizeof *pick);
    memset(best, 0, (nodes + (size_t)1) * sizeof *best);
    for (size_t i = 0; i < count; i++) {
        add_job(&jobs[i], jobs[i].objective, useful, 0, best, next, pick);
        memcpy(best, next, (useful + (size_t)1) * sizeof *best);
    }
    for (uint32_t m = useful + 1; m <= nodes; m++)
        best[m] = best[useful];
}

const struct chooser chooser_optimal = {
    .name = "optimal",
    .summary = "the sizes that are worth most, found exactly",
    .forward = true,
    .choose = choose,
};
