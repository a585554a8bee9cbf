/* SPDX-License-Identifier: Apache-2.0 */
/* Energetic reasoning over stashes: what all of a worker's stashes stay in sum is at most its limit over the time in
 * which it holds any. */
#include "base/arena.h"
#include "schedules/best/bound_parts.h"

#include <stdlib.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A worker holds nothing before its first forward can start, and nothing once what has to follow its last release at
 * least is all that is left. Forwards start one after the other, so of `limit` places the i-th is empty for i forwards
 * more; releases end one after the other, so places empty again in the same way. The two do not overlap where stashes
 * fill the limit for longer than both take. */
static int64_t end_of(const struct instance *instance, uint32_t worker, const int64_t *stays, const int64_t *before,
                      const int64_t *after)
{
    int64_t limit = instance->limits[worker], sum = 0, begin = INT64_MAX, rest = INT64_MAX;
    int64_t forward = INT64_MAX, release = INT64_MAX;
    if (!limit || !instance->stage_count[worker])
        return 0;
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
        uint32_t stage = instance->stages_of[worker][i];
        sum += stays[stage] * instance->batches;
        begin = smaller(begin, before[stage]);
        rest = smaller(rest, after[stage]);
        forward = smaller(forward, instance->length[BEST_FORWARD][stage]);
        release = smaller(release, instance->length[instance_release(instance)][stage]);
    }
    if (sum / limit >= (limit - 1) * (forward + release))
        sum += (forward + release) * (limit * (limit - 1) / 2);
    return begin + (sum + limit - 1) / limit + rest;
}

int64_t bound_stashes(const struct instance *instance)
{
    int64_t most = 0, *stays = array_zeroed(3 * (size_t)instance->stages, sizeof *stays);
    int64_t *before = stays + instance->stages, *after = before + instance->stages;
    instance_stays(instance, stays);
    for (uint32_t stage = 1; stage < instance->stages; stage++) {
        int64_t lag = instance_lag(instance, stage - 1, stage);
        before[stage] = before[stage - 1] + instance->length[BEST_FORWARD][stage - 1] + lag;
        after[stage] = instance->kinds == 3 ? 0 : after[stage - 1] + instance->length[BEST_BACKWARD][stage - 1] + lag;
    }
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        most = larger(most, end_of(instance, worker, stays, before, after));
    free(stays);
    return most;
}
