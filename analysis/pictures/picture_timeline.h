/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of one timeline: a row per worker, its computations as boxes and its collectives in a thin lane below. */
#ifndef STAGESIM_PICTURE_TIMELINE_H
#define STAGESIM_PICTURE_TIMELINE_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt.h"
#include "analysis/pictures/picture_form.h"

/* Writes the picture. False with the fault filled when it could
 * not be written. */
bool picture_timeline(const struct gantt *gantt, enum canvas_format format, const struct picture_form *form, FILE *out,
                      struct fault *fault);

/* One sentence that says what the picture shows, figures included; returns text. */
const char *picture_describe(char *text, size_t size, const struct gantt *gantt);

/* "fill 6.0 %, drain 11.4 %": the causes that are not zero; returns text. */
const char *picture_causes(char *text, size_t size, const double causes[CAUSES]);

#endif
