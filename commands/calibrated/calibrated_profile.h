/* SPDX-License-Identifier: Apache-2.0 */
/* What a calibration found, as a profile. */
#ifndef STAGESIM_CALIBRATED_PROFILE_H
#define STAGESIM_CALIBRATED_PROFILE_H

#include "studies/calibrate/calibrate.h"

struct arena;

/* The profile as YAML, in the file: whole or not at all. Of a log it keeps the file's name, lines and date: no path and
 * no machine's name. Says what went wrong after "stagesim COMMAND: "; returns an exit code. */
int calibration_write_profile(const struct calibration *calibration, const char *command, const char *file,
                              struct arena *arena);

#endif
