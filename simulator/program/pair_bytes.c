/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/pair_bytes.h"

#include "base/arena.h"

#include <string.h>

double pair_bytes_size(const double *bytes, uint32_t members)
{
    double sum = 0;
    for (uint32_t from = 0; from < members; from++) {
        double own = 0;
        for (uint32_t to = 0; to < members; to++)
            own += bytes[(size_t)from * members + to];
        sum += own;
    }
    return sum / members;
}

struct pair_bytes pair_bytes_create(const double *bytes, uint32_t members)
{
    size_t capacity = 0, count = (size_t)members * members;
    struct pair_bytes pairs = {members, array_grow(NULL, &capacity, count, sizeof *pairs.shares)};
    double size = pair_bytes_size(bytes, members);
    for (size_t i = 0; i < count; i++)
        pairs.shares[i] = size > 0 ? bytes[i] / size : 0;
    return pairs;
}

struct pair_bytes pair_bytes_copy(const struct pair_bytes *pairs, struct arena *arena)
{
    size_t count = (size_t)pairs->members * pairs->members;
    struct pair_bytes copy = {pairs->members, arena_array(arena, count, sizeof *copy.shares)};
    memcpy(copy.shares, pairs->shares, count * sizeof *copy.shares);
    return copy;
}

double pair_bytes_sent(const struct pair_bytes *pairs, uint32_t member)
{
    double sum = 0;
    for (uint32_t to = 0; to < pairs->members; to++)
        sum += to == member ? 0 : pairs->shares[(size_t)member * pairs->members + to];
    return sum;
}

uint32_t pair_bytes_find_idle(const double *bytes, uint32_t members)
{
    for (uint32_t member = 0; member < members; member++) {
        double moved = 0;
        for (uint32_t other = 0; other < members; other++)
            if (other != member)
                moved += bytes[(size_t)member * members + other] + bytes[(size_t)other * members + member];
        if (!(moved > 0))
            return member;
    }
    return members;
}
