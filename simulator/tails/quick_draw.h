/* SPDX-License-Identifier: Apache-2.0 */
/* Draws by the thousand million: exp and log to the last bit take most of a step's time, and a straight line between
 * quantiles that are close to each other none. */
#ifndef STAGESIM_QUICK_DRAW_H
#define STAGESIM_QUICK_DRAW_H

#include "base/random/distribution.h"

struct arena;

struct quick_draw {
    const struct distribution *distribution; /* NULL: always 1 */
    const double *quantiles;                 /* at equal steps of probability; NULL: it is drawn as it is */
};

/* Of a distribution, which has to live as long; NULL: there is none. Memory from the arena. */
struct quick_draw quick_draw_of(const struct distribution *distribution, struct arena *arena);
/* What distribution_draw gives of the same stream, to 2e-5 of itself, small ones to a millionth. */
double quick_draw(const struct quick_draw *quick, struct draws *draws);

#endif
