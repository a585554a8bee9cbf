/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which `stagesim layouts` finds layouts: one struct for each, all in one table. */
#ifndef STAGESIM_LAYOUTS_METHOD_H
#define STAGESIM_LAYOUTS_METHOD_H

#include "commands/cli/options.h"

struct arena;
struct scenario;

struct layout_method {
    const char *name;     /* what --method takes */
    const char *workload; /* whose scenarios it lays out */
    const char *takes;    /* letters of the options that it takes, as options_read has them */
    /* Finds and prints layouts of a scenario of that workload. Returns an exit code after every mistake was reported on
     * standard error. It stops early when an interruption comes, and then prints what it has found. */
    int (*run)(const struct options *options, const struct scenario *scenario, struct arena *arena);
};

/* All methods; NULL ends. Those of a workload stand together: the first one is taken where none is named. */
extern const struct layout_method *const layout_methods[];

extern const struct layout_method layout_method_axonn, layout_method_analytic, layout_method_advice,
    layout_method_search, layout_method_balanced, layout_method_greedy;
extern const struct layout_method layout_method_accpar, layout_method_hypar, layout_method_owt, layout_method_data,
    layout_method_mcmc;

#endif
