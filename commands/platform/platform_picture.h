/* SPDX-License-Identifier: Apache-2.0 */
/* A picture of a platform: the zones, folded, and one node of each kind with its links. */
#ifndef STAGESIM_PLATFORM_PICTURE_H
#define STAGESIM_PLATFORM_PICTURE_H

#include "analysis/pictures/canvas.h"
#include "platforms/view.h"
#include "platforms/zones.h"

/* False with the fault filled when the picture could not be written. */
bool platform_picture(const struct view *view, const struct zone *root, enum canvas_format format, FILE *out,
                      struct fault *fault);

#endif
