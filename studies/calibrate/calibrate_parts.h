/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a calibration share. */
#ifndef STAGESIM_CALIBRATE_PARTS_H
#define STAGESIM_CALIBRATE_PARTS_H

#include "studies/calibrate/calibrate.h"

/* Reads what tables of collectives and operators say, and adds it to the request as values of all scenarios; the
 * request's lists of measured runs and of sets are replaced. An exit code, after the mistakes were reported. */
int calibration_read_sources(struct calibration_request *request, struct calibration *calibration, struct arena *arena);

/* Reads what was measured, and loads a scenario for each row. `log` of rows says more than `seconds` until
 * calibration_settle_rows. False after the mistakes were reported. */
bool calibration_read_rows(const struct calibration_request *request, struct calibration *calibration,
                           struct arena *arena, struct diag *diag);

/* Seconds of rows whose logs say samples or tokens a second, and that logs are of these jobs: what they say of GPUs and
 * layout has to agree with the scenario. `gpu`: [row] model of the platform's GPUs; NULL: not known. False after the
 * mistakes were reported. */
bool calibration_settle_rows(struct calibration *calibration, const char *const *gpu, struct diag *diag);

/* What the analytic engine says of every row at the nodes of the grid; fills the rows' samples, tokens and memory and
 * `gpu`. Returns an exit code. */
int calibration_respond(struct calibration *calibration, struct tuning_response *responses, const char **gpu,
                        struct arena *arena);
/* Times every row with these values, exactly. */
int calibration_time(struct calibration *calibration, const struct tuning_values *values, double *seconds,
                     struct arena *arena);

#endif
