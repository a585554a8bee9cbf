/* SPDX-License-Identifier: Apache-2.0 */
/* From a scenario to the files that its runs write. */
#ifndef STAGESIM_WANTED_H
#define STAGESIM_WANTED_H

#include "analysis/output/run_files.h"
#include "job/scenario/scenario.h"

/* Texts stay the scenario's. */
struct run_wanted wanted_files(const struct scenario *scenario);
struct picture_form wanted_form(const struct scenario *scenario);

/* A picture of what a study found, in a format; false with the fault filled. */
typedef bool wanted_draw(FILE *out, const void *found, enum canvas_format format, const struct picture_form *form,
                         struct fault *fault);
/* Adds NAME.svg and the like to the set, in the formats that the scenario asks for, SVG where it asks for none. False
 * with the fault filled. */
bool wanted_pictures(const struct scenario *scenario, struct output *output, const char *name, wanted_draw *draw,
                     const void *found, struct fault *fault);

#endif
