/* SPDX-License-Identifier: Apache-2.0 */
/* Time and memory of all layouts that were timed, coloured by schedule; the Pareto front is a line with names. */
#ifndef STAGESIM_SEARCH_PICTURE_H
#define STAGESIM_SEARCH_PICTURE_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "studies/search/search.h"

/* False with the fault filled. */
bool search_picture(FILE *out, const struct search *search, enum canvas_format format, const struct picture_form *form,
                    struct fault *fault);

#endif
