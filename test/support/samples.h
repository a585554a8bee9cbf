/* SPDX-License-Identifier: Apache-2.0 */
/* A share of a long test's cases. */
#ifndef STAGESIM_TEST_SAMPLES_H
#define STAGESIM_TEST_SAMPLES_H

#include <stdlib.h>

/* Whether a case belongs to the share that the build's option `samples` asks for, evenly spread: case 0 always does. */
static inline int in_sample(unsigned number)
{
    const char *given = getenv("STAGESIM_SAMPLES");
    unsigned percent = given ? (unsigned)strtoul(given, NULL, 10) : 100;
    return !number || number * percent / 100 > (number - 1) * percent / 100;
}

#endif
