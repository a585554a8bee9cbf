/* SPDX-License-Identifier: Apache-2.0 */
/* Times as whole numbers, for schedules whose order depends on them: sums that are equal stay equal, whatever the unit.
 */
#ifndef STAGESIM_SCHEDULE_RATIO_H
#define STAGESIM_SCHEDULE_RATIO_H

#include "schedules/schedule.h"

struct time_ratio {
    uint64_t forward, backward; /* of one micro-batch, at least 1, at most 1e6 times each other */
};

/* The first convergent of backward / forward that is right to a share of 1e-9: what was written as 5 and 3 is 5/3,
 * whatever a unit or a mean has made of it. `otherwise` where the request has no such times. */
struct time_ratio time_ratio_of(const struct schedule_request *request, struct time_ratio otherwise);

#endif
