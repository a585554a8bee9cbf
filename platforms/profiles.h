/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: how speeds, bandwidths, latencies and states change over time, in SimGrid's notation. They are looked at
 * before SimGrid reads them: it ignores values that make no sense, follows a profile that repeats itself without time
 * passing for ever, and keeps every repetition in memory. */
#ifndef STAGESIM_PROFILES_H
#define STAGESIM_PROFILES_H

#include "base/diagnostics.h"

#include <stdbool.h>

/* Seconds; a profile that repeats itself sooner (on the mean, where times are drawn) is refused. */
#define PROFILE_PERIOD_MIN 1e-6

/* False with the fault filled where a line is not understood, a number is not finite or negative, dates go back, or the
 * profile repeats itself too soon; the fault names the line within the text. `text` is cut into lines. `periodicity` in
 * seconds as <trace> gives it, not above 0: none. */
bool profile_check(char *text, double periodicity, struct fault *fault);

#endif
