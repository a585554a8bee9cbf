/* SPDX-License-Identifier: Apache-2.0 */
/* What algorithms count rounds with, and how many ranks are too many for some. */
#include "simulator/collectives/algorithm.h"

const char *collective_refuses_many(const struct collective_shape *shape)
{
    return shape->ranks > 2048 ? "is for at most 2048 ranks" : NULL;
}

uint32_t log2_floor(uint32_t value)
{
    uint32_t log = 0;
    while (value >>= 1)
        log++;
    return log;
}

uint32_t log2_ceil(uint32_t value)
{
    return log2_floor(value) + !is_power_of_two(value);
}
