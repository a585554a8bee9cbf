/* SPDX-License-Identifier: Apache-2.0 */
/* Strategies per operator as a table, as CSV or JSON. */
#ifndef STAGESIM_LAYOUTS_MCMC_H
#define STAGESIM_LAYOUTS_MCMC_H

#include "base/tables/table_write.h"
#include "studies/operators/strategy_search.h"

/* A strategy as the engines see it. Seconds of an iteration, NaN where it was not run; bytes. */
struct strategy_run {
    double analytic, simgrid, memory;
    bool fits;
};

/* What is printed. */
struct strategy_report {
    const struct strategy_request *request;
    const struct strategy_table *table;
    struct strategy_run runs[STRATEGY_ROWS];
};

/* Errors stay on the stream. */
void strategy_print(FILE *out, const struct strategy_report *report, enum table_format format);

#endif
