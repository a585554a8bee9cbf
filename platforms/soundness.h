/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the numbers of a loaded platform make sense, whoever loaded it. */
#ifndef STAGESIM_SOUNDNESS_H
#define STAGESIM_SOUNDNESS_H

#include "base/diagnostics.h"
#include "platforms/platform.h"

struct arena;

/* Every speed, peak, size, rate, latency and power is finite and within bounds that no machine reaches, above 0 where
 * work would never end otherwise. False with the fault filled with the first that is not, by the element's name, with
 * its place where the file names the element ("FILE:LINE:COLUMN: host 'gpu-0': ..."). */
bool platform_sound(const struct platform *platform, struct arena *arena, struct fault *fault);

#endif
