/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of a few keys make predictions agree with measured times, and how many of them the measurements settle.
 *
 * A prediction is known at the nodes of a grid, the response. Between them it is taken as piecewise linear in 1 / clock
 * and in the host's time for an operator; the host's fixed time adds to it. */
#ifndef STAGESIM_TUNING_H
#define STAGESIM_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum tuning_parameter {
    TUNING_CLOCK,    /* compute.clock */
    TUNING_STEP,     /* compute.step: seconds of the host in an iteration */
    TUNING_DISPATCH, /* compute.dispatch: seconds of the host for an operator */
    TUNING_PARAMETERS
};

enum { TUNING_CLOCKS = 8, TUNING_DISPATCHES = 8 };
extern const double tuning_clocks[TUNING_CLOCKS];         /* falling: 1 / clock rises */
extern const double tuning_dispatches[TUNING_DISPATCHES]; /* rising, the first is 0 */

/* Seconds of an iteration by what is set. Index 0 is the scenario's own value, i + 1 that of the grid. */
struct tuning_response {
    double seconds[TUNING_CLOCKS + 1][TUNING_DISPATCHES + 1];
    double own_step; /* seconds of the host's fixed time that are in all of these */
    double measured;
    double bent; /* what an exact prediction was over the interpolated one; 1: not known */
};

struct tuning_values {
    unsigned fitted; /* a bit for each parameter; others stay as the scenario has them */
    double value[TUNING_PARAMETERS];
};

/* Seconds that are predicted with these values. */
double tuning_predict(const struct tuning_response *response, const struct tuning_values *values);

struct tuning {
    struct tuning_values values;
    double low[TUNING_PARAMETERS], high[TUNING_PARAMETERS]; /* in 8 of 10 cases, by leaving out one row after the other;
                                                         NAN: one row alone says nothing of it */
    bool at_limit[TUNING_PARAMETERS];                       /* the value is at a bound that physics sets */
    double *left_out;      /* [row]: predicted seconds with the values that the other rows give; NAN: there are none */
    double error;          /* mean |ln(predicted / measured)| of the rows that were fitted */
    double left_out_error; /* the same of left_out; NAN */
};

/* Fits just the parameters of `fitted` to `count` rows: least squares of ln(predicted / measured). Memory from the
 * arena. */
void tuning_solve(const struct tuning_response *rows, size_t count, unsigned fitted, struct arena *arena,
                  struct tuning *tuning);

/* Chooses among sets of the `possible` parameters that with the smallest left-out error; a larger set has to lower it
 * by a tenth, and there is none where it is below 0.001. One row settles one value: the clock, or the fixed time where
 * the clock cannot be set. Two rows settle one value, for without one of them the other settles no more. At least one
 * parameter must be possible. */
void tuning_choose(const struct tuning_response *rows, size_t count, unsigned possible, struct arena *arena,
                   struct tuning *tuning);

/* How alike two parameters change all rows: the cosine between their effects, -1 to 1; 0 where one has none. */
double tuning_likeness(const struct tuning_response *rows, size_t count, const struct tuning_values *at,
                       enum tuning_parameter a, enum tuning_parameter b, struct arena *arena);

#endif
