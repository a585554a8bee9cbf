/* SPDX-License-Identifier: Apache-2.0 */
/* What links of each kind reach, from measured tables of collectives: the share of their rate with which the scenario's
 * network takes the measured times of large sizes. */
#ifndef STAGESIM_CALIBRATE_REACH_H
#define STAGESIM_CALIBRATE_REACH_H

#include "job/scenario/scenario.h"
#include "platforms/measured.h"
#include "studies/calibrate/link_kinds.h"

struct arena;

struct reach_level {
    const char *kind;       /* of links: "nic" */
    double rate, low, high; /* of the rate that the scenario gives them; where it lies in 8 of 10 cases, NaN: too few
                               rows to say */
    double before;          /* what the scenario's own `links` make of it; `rate` comes on top */
    size_t rows;            /* that it was fitted to */
    bool at_limit;          /* no wire carries more */
};

struct reach {
    struct reach_level levels[LINK_KINDS_MAX]; /* count of them: those that rows tell of */
    size_t count;
    size_t rows, silent;              /* of all tables; of which no kind of links makes most of the time */
    double error_before, error_after; /* mean |predicted / measured - 1| of the others, with links as they were, and as
                                         fitted; NaN: there are none */
};

/* Fits, after every table's ranks were found to be on the scenario's platform; an exit code, after every mistake was
 * reported on standard error. Memory from the arena. */
int reach_find(const struct scenario *scenario, const struct measured *tables, size_t count, struct arena *arena,
               struct reach *reach);

#endif
