/* SPDX-License-Identifier: Apache-2.0 */
/* Strategies per operator as a table, as CSV or JSON. */
#ifndef STAGESIM_LAYOUTS_MCMC_H
#define STAGESIM_LAYOUTS_MCMC_H

#include "base/tables/table_write.h"
#include "studies/operators/strategy_search.h"

enum { STRATEGY_RUNS_MAX = 64 };

/* A strategy as the engines see it. Seconds of an iteration, NaN where it was not run; bytes. */
struct strategy_run {
    const char *name;
    const char *from;               /* of what was found: where it comes from; NULL of the others */
    const struct strategy_row *row; /* NULL: it is another method's, and no task graph was made of it */
    double analytic, simgrid, memory;
    bool fits;
};

/* The engines may run all strategies up to so many ranks. Above, SimGrid takes too long for messages between all of
 * them, and strategies are compared on the analytic engine. */
enum { STRATEGY_SIMGRID_RANKS = 64 };

/* What is printed: data parallelism, the experts' strategy, those of other methods, and at last what was found, the
 * fastest of all that fit, on SimGrid or, where it is not run, on the analytic engine. */
struct strategy_report {
    const struct strategy_request *request;
    const struct strategy_table *table;
    struct strategy_run runs[STRATEGY_RUNS_MAX];
    int count;
    uint32_t tried; /* strategies that the engines have run */
};

/* Whether SimGrid runs the strategies of a scenario. */
static inline bool strategy_runs_simgrid(const struct scenario *scenario)
{
    return scenario->mesh.ranks <= STRATEGY_SIMGRID_RANKS;
}
/* Seconds by which strategies are compared; NaN: it was not run. */
double strategy_seconds(const struct strategy_run *run);
/* Errors stay on the stream. */
void strategy_print(FILE *out, const struct strategy_report *report, enum table_format format);

#endif
