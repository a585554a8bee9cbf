/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/ratio.h"

#include <math.h>
#include <string.h>

static const double precision = 1e-9, rounding = 1e-12, most = 1e6;

struct time_ratio time_ratio_of(const struct schedule_request *request, struct time_ratio otherwise)
{
    if (!(request->forward > 0 && request->backward > 0 && isfinite(request->forward) && isfinite(request->backward)))
        return otherwise;
    double value = fmin(fmax(request->backward / request->forward, 1 / most), most);
    uint64_t before[2] = {0, 1}, now[2] = {1, 0}; /* numerator, denominator */
    for (double rest = value;;) {
        double whole = floor(rest * (1 + rounding));
        uint64_t next[2] = {(uint64_t)whole * now[0] + before[0], (uint64_t)whole * now[1] + before[1]};
        memcpy(before, now, sizeof before);
        memcpy(now, next, sizeof now);
        if (fabs((double)now[0] / (double)now[1] - value) <= precision * value)
            return (struct time_ratio){.forward = now[1], .backward = now[0]};
        rest = 1 / (rest - whole);
    }
}
