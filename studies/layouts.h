/* SPDX-License-Identifier: Apache-2.0 */
/* All ways to lay a job out along x, y, z and data (AxoNN, Singh et al. 2023, arXiv 2305.13525; 2024, arXiv
 * 2502.08145): what its communication model, the analytic engine and SimGrid say of each. */
#ifndef STAGESIM_LAYOUTS_H
#define STAGESIM_LAYOUTS_H

#include "analysis/band/memory_band.h"
#include "job/scenario/scenario.h"

#include <stdio.h>

struct job;

/* What rows are ordered by. */
enum layouts_method { LAYOUTS_AXONN, LAYOUTS_ANALYTIC };
extern const char *const layouts_method_names[];

/* One layout; plain data, sent from process to process. Seconds are those of an iteration. */
struct layout_row {
    uint32_t x, y, z, data;
    double micro_batch; /* samples */
    double model;       /* seconds of communication after AxoNN's model; NAN as analytic where it does not fit */
    double analytic;    /* of the analytic engine */
    double simgrid;     /* of SimGrid; NaN: was not asked */
    double memory;      /* bytes of the rank that needs most; 0: not known */
    bool fits;          /* true where the capacity is not known */
    struct band band;   /* of the measured times of such jobs over the predicted ones */
    struct memory_band memory_band;
    struct memory_outlook outlook; /* of its memory */
};

struct layout_table {
    struct layout_row *rows;          /* those that fit, ordered by the method, then the others likewise */
    size_t count, fitting, simulated; /* SimGrid was asked for the first `simulated` */
    bool stopped;                     /* before it was done */
};

/* Seconds of a job's communication on its first rank, after AxoNN's model: every collective takes the bytes that a ring
 * makes the rank send over the bandwidth of its group, no two at the same time. Within a node the bandwidth is that of
 * the slowest edge of the ring; for groups that span nodes it is a node's injection over min(ranks of a node, ranks
 * between two neighbours of the group) (2502.08145, equation 7): so many rings of the same kind leave a node together.
 */
double layout_model_seconds(const struct job *job);

/* Lists and evaluates the layouts of as many ranks as the scenario has along x, y, z, tensor and data, its pipeline and
 * numbers of samples and micro-batches kept; then simulates the first `top` that fit. Returns an exit code after every
 * mistake was reported on standard error. Stops early when the command awaits interruptions and one comes. rows are the
 * caller's to free. */
int layouts_find(const struct scenario *scenario, enum layouts_method method, size_t top, struct layout_table *table);

#endif
