/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that are not the same every time: what they are drawn from. None is below 0. */
#ifndef STAGESIM_DISTRIBUTION_H
#define STAGESIM_DISTRIBUTION_H

#include "base/random/draws.h"

#include <stddef.h>

enum distribution_kind {
    DISTRIBUTION_FIXED,       /* always a */
    DISTRIBUTION_UNIFORM,     /* from a to b, each alike */
    DISTRIBUTION_EXPONENTIAL, /* mean a */
    DISTRIBUTION_NORMAL,      /* mean a, deviation b, at most a/5: what is below 0 is drawn again */
    DISTRIBUTION_LOG_NORMAL,  /* its logarithm has mean a and deviation b */
    DISTRIBUTION_GAMMA,       /* scale a, shape b */
    DISTRIBUTION_WEIBULL,     /* scale a, shape b: below 1 what has lived long lives longer */
    DISTRIBUTION_SAMPLES,     /* one of `values`, each alike */
    DISTRIBUTION_MIXTURE,     /* one of `parts`; part i with probability values[i] - values[i - 1] */
};

/* A mixture's parts are no mixtures. */
struct distribution {
    enum distribution_kind kind;
    double a, b;
    const double *values; /* count of them */
    const struct distribution *parts;
    size_t count;
};

struct distribution distribution_fixed(double value);
struct distribution distribution_exponential(double mean);
/* By the mean and another number, all above 0; the mean of a log-normal one above its median. */
struct distribution distribution_log_normal(double mean, double deviation);
struct distribution distribution_log_normal_of_median(double median, double mean);
struct distribution distribution_gamma(double mean, double deviation);
struct distribution distribution_weibull(double mean, double shape);

double distribution_draw(const struct distribution *distribution, struct draws *draws);
double distribution_mean(const struct distribution *distribution);

#endif
