/* SPDX-License-Identifier: Apache-2.0 */
/* The same jobs under other failures, or other jobs of the same kind: between what their figures lie. */
#ifndef STAGESIM_QUEUE_MONTHS_H
#define STAGESIM_QUEUE_MONTHS_H

#include "cluster/scheduling/figures.h"

enum month_figure {
    MONTH_WAIT, /* these four: means over jobs */
    MONTH_COMPLETION,
    MONTH_SLOWDOWN,
    MONTH_FAIRNESS,
    MONTH_MAKESPAN,
    MONTH_ALLOCATED,
    MONTH_BUSY,
    MONTH_USEFUL,
    MONTH_STOPS,
    MONTH_ENERGY, /* joules; these three 0 where not known */
    MONTH_CARBON, /* kilograms */
    MONTH_COST,
    MONTH_FIGURES
};
extern const char *const month_figure_names[MONTH_FIGURES], *const month_figure_titles[MONTH_FIGURES];

/* One in ten runs is below `low`, half are below `middle`, one in ten is above `high`. */
struct queue_months {
    uint32_t runs;
    struct queue_month {
        double low, middle, high;
    } figures[MONTH_FIGURES];
};

/* The jobs of a run, where not all runs have the same ones; memory from the arena. False with the mistake reported. */
typedef bool queue_month_jobs(void *user, uint32_t run, struct arena *arena, struct queue_request *request);

/* Runs 1 .. runs - 1 beside run 0, whose figures are known. `jobs` NULL: all have the same. False as queue_run, and
 * where `jobs` was. */
bool queue_months_run(const struct queue_request *request, const struct queue_figures *first, uint32_t runs,
                      queue_month_jobs *jobs, void *user, struct queue_months *months, struct queue_run *run,
                      uint32_t *failed);

#endif
