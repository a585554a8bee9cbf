/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/scheduling/months.h"

#include "base/arena.h"
#include "training/outcome.h"

#include <stdlib.h>

const char *const month_figure_names[] = {"wait_s",    "completion_s", "bounded_slowdown", "fairness", "makespan_s",
                                          "allocated", "busy",         "useful",           "stops",    "energy_j",
                                          "carbon_kg", "price"};
const char *const month_figure_titles[] = {
    "mean waiting", "mean completion", "mean bounded slowdown", "mean fairness", "makespan",  "allocated",
    "busy",         "useful",          "stops of jobs",         "energy",        "kg of CO2", "price"};

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static void note(const struct queue_figures *figures, double values[MONTH_FIGURES])
{
    values[MONTH_WAIT] = figures->means[QUEUE_WAIT].mean;
    values[MONTH_COMPLETION] = figures->means[QUEUE_COMPLETION].mean;
    values[MONTH_SLOWDOWN] = figures->means[QUEUE_BOUNDED].mean;
    values[MONTH_FAIRNESS] = figures->means[QUEUE_FAIRNESS].mean;
    values[MONTH_MAKESPAN] = figures->makespan;
    values[MONTH_ALLOCATED] = figures->allocated;
    values[MONTH_BUSY] = figures->busy;
    values[MONTH_USEFUL] = figures->parts[PART_USEFUL];
    values[MONTH_STOPS] = figures->stops;
    values[MONTH_ENERGY] = figures->energy.joules;
    values[MONTH_CARBON] = figures->energy.grams / 1000;
    values[MONTH_COST] = figures->energy.cost;
}

/* One of the runs. */
static bool run_month(const struct queue_request *request, uint32_t number, struct queue_run *run, uint32_t *failed,
                      struct arena *arena, double values[MONTH_FIGURES])
{
    struct queue_failures failures;
    struct queue_request other = *request;
    struct queue_figures figures;
    if (request->failures) {
        failures = *request->failures;
        failures.run = number;
        other.failures = &failures;
    }
    if (!queue_run(&other, arena, run, failed))
        return false;
    queue_figures(run, arena, &figures);
    note(&figures, values);
    return true;
}

bool queue_months_run(const struct queue_request *request, const struct queue_figures *first, uint32_t runs,
                      queue_month_jobs *jobs, void *user, struct queue_months *months, struct queue_run *run,
                      uint32_t *failed)
{
    double(*values)[MONTH_FIGURES] = array_zeroed(runs, sizeof *values), *sorted = array_zeroed(runs, sizeof *sorted);
    bool good = true;
    note(first, values[0]);
    for (uint32_t i = 1; i < runs && good; i++) {
        struct arena *arena = arena_create();
        struct queue_request other = *request;
        good = (!jobs || jobs(user, i, arena, &other)) && run_month(&other, i, run, failed, arena, values[i]);
        arena_destroy(arena);
    }
    months->runs = runs;
    for (int k = 0; k < MONTH_FIGURES; k++) {
        for (uint32_t i = 0; i < runs; i++)
            sorted[i] = values[i][k];
        qsort(sorted, runs, sizeof *sorted, ascending);
        months->figures[k] =
            (struct queue_month){training_quantile(sorted, runs, 0.1), training_quantile(sorted, runs, 0.5),
                                 training_quantile(sorted, runs, 0.9)};
    }
    free(values);
    free(sorted);
    return good;
}
