/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/bounds.h"

#include "studies/search/lock.h"

#include <string.h>

static bool comes_before(const struct search_point *a, const struct search_point *b)
{
    return a->time < b->time || (a->time == b->time && a->bytes < b->bytes);
}

/* Puts a point into its place; of equal ones there is one. Points beyond `most` are dropped. */
static void insert(struct search_point *points, uint32_t *count, uint32_t most, struct search_point point)
{
    uint32_t at = *count;
    while (at > 0 && comes_before(&point, &points[at - 1]))
        at--;
    if (at == most || (at > 0 && !comes_before(&points[at - 1], &point)))
        return;
    uint32_t moved = *count < most ? *count - at : most - 1 - at;
    memmove(points + at + 1, points + at, moved * sizeof *points);
    points[at] = point;
    *count += *count < most;
}

/* Those behind it that need as much are no longer on the front. */
static void add_to_front(struct search_bounds *bounds, struct search_point point)
{
    for (uint32_t i = 0; i < bounds->front_count && bounds->front[i].time <= point.time; i++)
        if (bounds->front[i].bytes <= point.bytes)
            return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < bounds->front_count; i++)
        if (bounds->front[i].time < point.time || bounds->front[i].bytes < point.bytes)
            bounds->front[kept++] = bounds->front[i];
    bounds->front_count = kept;
    insert(bounds->front, &bounds->front_count, SEARCH_FRONT_MAX, point);
}

void search_bounds_note(struct search_bounds *bounds, double time, double bytes)
{
    struct search_point point = {time, bytes};
    search_lock(&bounds->lock);
    insert(bounds->best, &bounds->best_count, bounds->kept, point);
    add_to_front(bounds, point);
    search_unlock(&bounds->lock);
}

bool search_bounds_exclude(struct search_bounds *bounds, double bound, double bytes)
{
    if (bounds->ceiling > 0 && bound > bounds->ceiling)
        return true;
    search_lock(&bounds->lock);
    bool slower = bounds->best_count == bounds->kept && bound > bounds->best[bounds->kept - 1].time,
         dominated = bounds->fastest;
    for (uint32_t i = 0; slower && i < bounds->front_count && bounds->front[i].time < bound && !dominated; i++)
        dominated = bounds->front[i].bytes <= bytes;
    search_unlock(&bounds->lock);
    return slower && dominated;
}

bool search_bounds_promise(struct search_bounds *bounds, double bound)
{
    static const double much = 1.1, well = 0.95;
    if (!(bound > 0) || (bounds->ceiling > 0 && bound > bounds->ceiling))
        return false;
    search_lock(&bounds->lock);
    bool promises = (!bounds->best_count || bound * much < bounds->best[0].time) &&
                    (!(bounds->probed > 0) || bound < well * bounds->probed);
    if (promises)
        bounds->probed = bound;
    search_unlock(&bounds->lock);
    return promises;
}
