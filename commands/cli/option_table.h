/* SPDX-License-Identifier: Apache-2.0 */
/* The options that commands share, and which commands have them. */
#ifndef STAGESIM_OPTION_TABLE_H
#define STAGESIM_OPTION_TABLE_H

#include <getopt.h>

enum {
    OPTION_ENGINE = 1000,
    OPTION_SET,
    OPTION_TRACE,
    OPTION_PICTURE,
    OPTION_REPORT,
    OPTION_QUIET,
    OPTION_SCHEDULES,
    OPTION_FORMAT,
    OPTION_METHOD,
    OPTION_GPUS,
    OPTION_TOP,
    OPTION_JOBS,
    OPTION_EXHAUSTIVE,
    OPTION_RESUME,
    OPTION_MERGE,
    OPTION_TIME_LIMIT,
    OPTION_BUDGET,
    OPTION_SEED,
    OPTION_RESTARTS,
    OPTION_TEMPERATURE,
    OPTION_LINKS,
    OPTION_SHARD,
    OPTION_SLURM,
    OPTION_PLUGINS,
    OPTION_SCALE,
    OPTION_SCHEDULE,
    OPTION_SORT,
    OPTION_QUANTILES,
    OPTION_X,
    OPTION_Y,
    OPTION_BY,
    OPTION_WHAT_IF,
    OPTION_PICTURE_WIDTH,
    OPTION_FONT_SIZE,
    OPTION_ITERATIONS,
    OPTION_CALIBRATE,
    OPTION_SYMMETRIC,
    OPTION_TOKENS,
    OPTION_BELOW,
    OPTION_CARBON,
    OPTION_PRICES,
    OPTION_CLUSTERS
};

/* As getopt_long takes them; a NULL name ends. */
extern const struct option option_table[];
/* Which letters of `accepted` (options_read) an option needs one of; "": none. */
const char *option_needs(int option);

#endif
