/* SPDX-License-Identifier: Apache-2.0 */
/* How the compute stream of one rank spends its time, and how much of the rank's communication it hides. */
#ifndef STAGESIM_BUSY_H
#define STAGESIM_BUSY_H

#include "analysis/figures/frame.h"
#include "analysis/figures/report.h"
#include "base/intervals.h"

/* Seconds, means over the measured iterations. */
struct rank_times {
    double busy;
    double span;           /* from the start of the first to the end of the last computation */
    double causes[CAUSES]; /* busy and these add up to T */
    double exposed, overlapped;
};

/* Space for the busy and moving intervals of one rank, reused from rank to rank. */
struct busy_scratch {
    struct interval *busy, *moving; /* one per operation of the largest position */
};

/* Memory from the arena. */
struct busy_scratch busy_scratch_create(const struct program *program, struct arena *arena);

/* Watches the simulated rank through all its windows. */
struct rank_times busy_times(const struct frame *frame, uint32_t entry, const struct busy_scratch *scratch);
/* Seconds that the rank computes, as in rank_times.busy: all that is asked for. */
double busy_seconds(const struct frame *frame, uint32_t entry);

#endif
