/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAGESIM_DIVISOR_H
#define STAGESIM_DIVISOR_H

#include <stdint.h>

/* The greatest common divisor; of 0 and a number the number. */
static inline uint64_t common_divisor(uint64_t a, uint64_t b)
{
    for (uint64_t rest; b; a = b, b = rest)
        rest = a % b;
    return a;
}

#endif
