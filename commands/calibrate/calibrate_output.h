/* SPDX-License-Identifier: Apache-2.0 */
/* What stagesim calibrate shows and writes. */
#ifndef STAGESIM_CALIBRATE_OUTPUT_H
#define STAGESIM_CALIBRATE_OUTPUT_H

#include "base/tables/table_write.h"
#include "studies/calibrate/calibrate.h"

#include <stdio.h>

struct arena;

/* A row for each measurement, and in words what was fitted. */
void calibration_print(const struct calibration *calibration, enum table_format format, FILE *out);

/* The profile as YAML. `directory` is that of the file, for the way to the profile that it starts from. Of a log it
 * keeps the file's name, lines and date: no path and no machine's name. */
void calibration_write_profile(const struct calibration *calibration, const char *directory, FILE *out,
                               struct arena *arena);

#endif
