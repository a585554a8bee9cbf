/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/pair_bytes.h"

#include "base/arena.h"

#include <stdlib.h>
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
    size_t count = (size_t)members * members;
    struct pair_bytes pairs = {members, array_zeroed(count, sizeof *pairs.shares),
                               array_zeroed(members, sizeof *pairs.sent)};
    double size = pair_bytes_size(bytes, members);
    for (size_t i = 0; i < count; i++) {
        pairs.shares[i] = size > 0 ? bytes[i] / size : 0;
        pairs.sent[i / members] += i / members == i % members ? 0 : bytes[i];
    }
    return pairs;
}

void pair_bytes_finish(struct pair_bytes *pairs)
{
    free(pairs->shares);
    free(pairs->sent);
}

struct pair_bytes pair_bytes_copy(const struct pair_bytes *pairs, struct arena *arena)
{
    size_t count = (size_t)pairs->members * pairs->members;
    struct pair_bytes copy = {pairs->members, arena_array(arena, count, sizeof *copy.shares),
                              arena_array(arena, pairs->members, sizeof *copy.sent)};
    memcpy(copy.shares, pairs->shares, count * sizeof *copy.shares);
    memcpy(copy.sent, pairs->sent, pairs->members * sizeof *copy.sent);
    return copy;
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
