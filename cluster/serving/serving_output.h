/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGESIM_SERVING_OUTPUT_H
#define STAGESIM_SERVING_OUTPUT_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "cluster/serving/serving.h"

/* False with the fault filled. */
bool serving_picture(FILE *out, const struct serving_view *view, enum canvas_format format,
                     const struct picture_form *form, struct fault *fault);
bool serving_html(FILE *out, const struct serving_view *view, struct fault *fault);

#endif
