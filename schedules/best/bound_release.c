/* SPDX-License-Identifier: Apache-2.0 */
/* How many releases of stashes something needs, and when they are. */
#include "schedules/best/bound_parts.h"

/* The time of the `count`-th release of a worker at the earliest; -1: there is none so far. */
int64_t bound_release_at(const struct bound *bound, uint32_t worker, uint32_t count)
{
    const struct backlog *room = &bound->room[worker];
    uint32_t decided = bound->first * bound->instance->stage_count[worker];
    if (count <= decided)
        return 0;
    return count - decided <= room->count ? room->head[count - decided - 1] : -1;
}

/* A worker that holds several stages shares its limit among them. When the forward of a micro-batch begins in its
 * stage of that rank, those of the same and earlier micro-batches have begun in all stages up to this one. Releases
 * make room; before the first of a micro-batch all of its forwards on the worker have begun. So with releases of
 * `through` micro-batches, at most all of them, and forwards[i] begun in the i-th stage otherwise, sum over i of
 * max(forwards[i], through) - limit <= releases <= stages x through: the least `through` says how many there are at
 * least. */
uint32_t bound_releases_least(const struct instance *instance, uint32_t worker, const uint32_t *forwards)
{
    uint32_t count = instance->stage_count[worker], limit = instance->limits[worker], through = 0, sum;
    for (;; through++) {
        sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += forwards[i] > through ? forwards[i] : through;
        if (sum <= limit + count * through)
            return sum > limit ? sum - limit : 0;
    }
}

/* How many micro-batches are through the last stage at least: each of the others holds a stash wherever its forward has
 * begun on this worker, and the first of them needs one in every stage (see leaves_a_way in moves.c). UINT32_MAX: the
 * limit is too small for a single one. */
uint32_t bound_through_least(const struct instance *instance, uint32_t worker, const uint32_t *forwards)
{
    uint32_t count = instance->stage_count[worker], limit = instance->limits[worker];
    if (count > limit)
        return UINT32_MAX;
    for (uint32_t through = 0;; through++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += forwards[i] > through + 1 ? forwards[i] - through : 1;
        if (sum <= limit)
            return through;
    }
}
