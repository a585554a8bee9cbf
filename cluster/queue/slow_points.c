/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/slow_points.h"

#include "base/arena.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool comes_before(const struct slow_point *a, const struct slow_point *b)
{
    if (a->type != b->type)
        return a->type < b->type;
    if (a->nodes != b->nodes)
        return a->nodes < b->nodes;
    return a->load < b->load;
}

/* The first of them that does not come before the point. */
static size_t place_of(const struct slow_points *points, const struct slow_point *point)
{
    size_t low = 0, high = points->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_before(&points->items[middle], point))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void slow_points_add(struct slow_points *points, struct slow_point point)
{
    points->items = array_grow(points->items, &points->capacity, points->count + 1, sizeof *points->items);
    size_t place = place_of(points, &point);
    while (place < points->count && !comes_before(&point, &points->items[place]))
        place++; /* behind those that are equal */
    memmove(points->items + place + 1, points->items + place, (points->count - place) * sizeof *points->items);
    points->items[place] = point;
    points->count++;
}

/* The points of a kind follow each other. */
static size_t find(const struct slow_points *points, uint32_t type, uint32_t nodes, size_t *count)
{
    size_t first = place_of(points, &(struct slow_point){.type = type, .nodes = nodes, .load = -INFINITY});
    *count = place_of(points, &(struct slow_point){.type = type, .nodes = nodes, .load = INFINITY}) - first;
    return first;
}

size_t slow_points_known(const struct slow_points *points, uint32_t type, uint32_t nodes)
{
    size_t count;
    find(points, type, nodes, &count);
    return count;
}

double slow_points_largest(const struct slow_points *points, uint32_t type, uint32_t nodes)
{
    size_t count, first = find(points, type, nodes, &count);
    return count ? points->items[first + count - 1].load : 0;
}

/* The mean of points of one load. */
static struct slow_point mean_at(const struct slow_point *items, size_t count, size_t place)
{
    struct slow_point mean = {.load = items[place].load};
    size_t many = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].load == mean.load) {
            mean.slow += items[i].slow;
            many++;
        }
    mean.slow /= (double)many;
    return mean;
}

static double between(const struct slow_point *items, size_t count, double load)
{
    const struct slow_points all = {.items = (struct slow_point *)(uintptr_t)items, .count = count};
    const struct slow_point at = {count ? items->type : 0, count ? items->nodes : 0, load, 0};
    size_t above = place_of(&all, &at);
    struct slow_point low = {.load = 0, .slow = 1}, high;
    if (above > 0)
        low = mean_at(items, count, above - 1);
    if (above == count)
        return low.load > 0 ? 1 + (low.slow - 1) * load / low.load : low.slow;
    high = mean_at(items, count, above);
    return high.load > low.load ? low.slow + (high.slow - low.slow) * (load - low.load) / (high.load - low.load)
                                : high.slow;
}

/* The size of the type's points that is nearest; 0: it has none. */
static uint32_t nearest_size(const struct slow_points *points, uint32_t type, uint32_t nodes)
{
    uint32_t best = 0, distance = UINT32_MAX;
    for (size_t i = 0; i < points->count; i++) {
        uint32_t own = points->items[i].nodes, away = own > nodes ? own - nodes : nodes - own;
        if (points->items[i].type == type && away < distance) {
            best = own;
            distance = away;
        }
    }
    return best;
}

/* All points as if they were of one kind, by load. */
static double among_all(const struct slow_points *points, double load)
{
    struct slow_points all = {0};
    for (size_t i = 0; i < points->count; i++)
        slow_points_add(&all, (struct slow_point){0, 0, points->items[i].load, points->items[i].slow});
    double slow = between(all.items, all.count, load);
    slow_points_finish(&all);
    return slow;
}

double slow_points_estimate(const struct slow_points *points, uint32_t type, uint32_t nodes, double load)
{
    size_t count, first = find(points, type, nodes, &count);
    if (!points->count)
        return 1;
    if (!count)
        first = find(points, type, nearest_size(points, type, nodes), &count);
    return count ? between(points->items + first, count, load) : among_all(points, load);
}

void slow_points_finish(struct slow_points *points)
{
    free(points->items);
    *points = (struct slow_points){0};
}
