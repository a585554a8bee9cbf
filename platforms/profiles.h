/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that a platform file attaches to hosts and links, as far as they must be looked at before SimGrid reads
 * them: it follows a profile that repeats itself without time passing for ever, and keeps every repetition in memory.
 */
#ifndef STAGESIM_PROFILES_H
#define STAGESIM_PROFILES_H

#include "base/diagnostics.h"

#include <stdbool.h>

/* Seconds; a profile that repeats itself sooner is refused. */
#define PROFILE_PERIOD_MIN 1e-6

/* False with the fault filled, as "Parse error at FILE:LINE: what", for the first profile of the platform file (in a
 * file of its own or within a <trace>) that repeats itself too soon. What cannot be read, or is wrong in another way,
 * is left for SimGrid to say. */
bool profiles_check(const char *platform, struct fault *fault);

#endif
