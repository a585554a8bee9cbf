/* SPDX-License-Identifier: Apache-2.0 */
/* A share of a long test's cases. */
#ifndef STAGESIM_TEST_SAMPLES_H
#define STAGESIM_TEST_SAMPLES_H

#include <stdlib.h>

/* Per cent of the cases that the build's option `samples` asks for: 100 as usual, less in CI, more in long tests. */
static inline unsigned samples_percent(void)
{
    const char *given = getenv("STAGESIM_SAMPLES");
    return given ? (unsigned)strtoul(given, NULL, 10) : 100;
}

/* Whether a case belongs to so many per cent of all, evenly spread: case 0 always does. */
static inline int in_share(unsigned number, unsigned percent)
{
    return !number || number * percent / 100 > (number - 1) * percent / 100;
}

/* Whether a case belongs to the share that the build's option `samples` asks for. */
static inline int in_sample(unsigned number)
{
    return in_share(number, samples_percent());
}

#endif
