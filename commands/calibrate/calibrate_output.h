/* SPDX-License-Identifier: Apache-2.0 */
/* What stagesim calibrate shows and writes. */
#ifndef STAGESIM_CALIBRATE_OUTPUT_H
#define STAGESIM_CALIBRATE_OUTPUT_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "base/diagnostics.h"
#include "base/tables/table_write.h"
#include "studies/calibrate/calibrate.h"

#include <stdio.h>

/* A row for each measurement, and in words what was fitted. */
void calibration_print(const struct calibration *calibration, enum table_format format, FILE *out);

/* In words what was fitted, a line each. */
void calibration_say(const struct calibration *calibration, FILE *out);
/* How far predictions are from what was measured, before and after, and with each run left out: a page that needs no
 * other file; returns an exit code. The picture alone; false with the fault filled. */
int calibration_write_page(const struct calibration *calibration, const char *file);
bool calibration_picture(const struct calibration *calibration, enum canvas_format format,
                         const struct picture_form *form, FILE *out, struct fault *fault);

#endif
