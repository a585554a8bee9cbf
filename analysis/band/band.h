/* SPDX-License-Identifier: Apache-2.0 */
/* How far the measured time of a job like this may lie from the predicted one, from published jobs that nothing was
 * fitted to. */
#ifndef STAGESIM_BAND_H
#define STAGESIM_BAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { BAND_TEXT_MAX = 120 };

/* What is known of a job; NULL or false where it is not. Borrowed. */
struct band_job {
    const char *framework; /* "megatron"; NULL: none */
    const char *gpu;       /* "H100-SXM5-80GB" */
    const char *precision; /* "bf16" */
    bool experts;          /* it has some */
    bool several_nodes;
    bool calibrated; /* with runs of its own framework and GPU */
};

struct band {
    unsigned rows;             /* jobs that it is made from; 0: there is no band */
    bool own;                  /* they are runs that the profile was calibrated with, not published jobs */
    double low, high;          /* measured over predicted time: between these in 8 of 10 cases */
    char likes[BAND_TEXT_MAX]; /* what these jobs share: "dense, on H100" */
    char lacks[BAND_TEXT_MAX]; /* what no published job of the class has: "none on MI300X"; "": nothing */
};

/* The band of the narrowest class with enough jobs: those that share kind, framework, GPU, one node or several, and
 * precision; then with one condition after the other dropped, from the last. A class has enough jobs if the conformal
 * quantiles exist (Lei et al. 2018, "Distribution-free predictive inference for regression", split conformal; jobs of
 * one publication weigh as much as those of another, after Tibshirani et al. 2019). */
struct band band_find(const struct band_job *job);
/* The band of a profile that was calibrated with `count` runs of one's own, from measured over predicted time of each,
 * ascending, where the others predicted it; without rows where they are too few: less than nine. */
struct band band_of_own(const double *left_out, size_t count);
/* What it is made from, in words: "15 published jobs: dense, on H100"; returns `text`. */
enum { BAND_JOBS_MAX = 2 * BAND_TEXT_MAX + 64 };
const char *band_jobs_text(const struct band *band, char text[BAND_JOBS_MAX]);
/* What it says of predictions, as a line on a stream; nothing where there is no band. */
void band_say(FILE *out, const struct band *band);

/* What two variants of one job differ in. */
enum band_change { BAND_OTHER, BAND_LAYOUT, BAND_SCHEDULE };

/* Of two variants of one job, of which one is predicted `apart` times as fast as the other (at least 1): how often was
 * the faster one faster in publications that were predicted about as far apart, below 1, 2, 5, 10, 20, 50 % or above?
 * Pairs that differ in the same count where there are five or more; otherwise all. */
struct band_agreement {
    unsigned pairs, right;  /* of these published pairs so many went as predicted */
    enum band_change alike; /* they differ in that; BAND_OTHER: in anything */
    bool sure;              /* at least 8 of 10 */
};
struct band_agreement band_agree(double apart, enum band_change change);
/* The same in words, "of 47 published pairs of layouts predicted about as far apart 42 went this way", on a stream. */
void band_say_agreement(FILE *out, double apart, enum band_change change);
/* What two times have to be apart, as a share, for there to be an order: SimGrid is no more exact. */
#define BAND_LEAST_APART 1e-5

#endif
