/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as a run that a calibration counts: a step as a sound run of the job would take it. */
#ifndef STAGESIM_EXPLAIN_RUN_H
#define STAGESIM_EXPLAIN_RUN_H

#include "job/scenario/scenario.h"
#include "studies/calibrate/calibrate.h"

struct arena;

struct explain_run {
    const char *scenario;
    char *const *traces; /* trace_count files of one job, as `explain` takes them */
    size_t trace_count;
    const struct calibration_request *beside; /* what else was measured of the scenario, its sets and plug-ins */
    struct calibration *calibration;          /* is filled; the caller finishes it */
};

/* Explains the trace, and calibrates the scenario with its step and with what else was measured. An exit code, after
 * every mistake was reported on standard error. Memory from the arena. */
int explain_run(const struct explain_run *run, struct arena *arena);

#endif
