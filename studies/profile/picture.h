/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a profile's step, as data for a picture. */
#ifndef STAGESIM_PROFILE_PICTURE_H
#define STAGESIM_PROFILE_PICTURE_H

#include "analysis/pictures/gantt.h"
#include "traces/recorded.h"

/* A row for each stream of the device, of the first ranks; the step in the middle. The caller owns it. */
struct gantt *picture_profile(const struct recorded *recorded);

#endif
