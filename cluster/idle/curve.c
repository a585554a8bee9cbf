/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/curve.h"

#include "base/arena.h"

#include <math.h>

static double rate_between(const struct curve_point *left, const struct curve_point *right, double nodes)
{
    double share = (nodes - left->nodes) / (double)(right->nodes - left->nodes);
    return left->rate + (right->rate - left->rate) * share;
}

static double rate_of(const struct curve_point *points, size_t count, uint32_t nodes)
{
    const struct curve_point *last = &points[count - 1];
    if (nodes <= points->nodes)
        return points->rate * nodes / points->nodes;
    if (nodes > last->nodes) {
        double more = last->rate / last->nodes;
        if (count > 1)
            more = fmin(more, (last->rate - last[-1].rate) / (double)(last->nodes - last[-1].nodes));
        return last->rate + fmax(0, more) * (nodes - last->nodes);
    }
    size_t i = 1;
    while (points[i].nodes < nodes)
        i++;
    return rate_between(&points[i - 1], &points[i], nodes);
}

struct curve curve_create(const struct curve_point *points, size_t count, uint32_t least, uint32_t most,
                          struct arena *arena)
{
    struct curve curve = {least, most, arena_array(arena, most + (size_t)1, sizeof(double))};
    for (uint32_t nodes = least; nodes <= most; nodes++)
        curve.rate[nodes] = rate_of(points, count, nodes);
    return curve;
}

struct curve curve_linear(const struct curve *curve, struct arena *arena)
{
    struct curve_point point = {curve->least, curve->rate[curve->least]};
    return curve_create(&point, 1, curve->least, curve->most, arena);
}

double curve_between(const struct curve *curve, double nodes)
{
    if (nodes >= curve->most)
        return curve->rate[curve->most];
    if (nodes < curve->least)
        return curve->rate[curve->least] * nodes / curve->least;
    uint32_t below = (uint32_t)nodes;
    return curve->rate[below] + (curve->rate[below + 1] - curve->rate[below]) * (nodes - below);
}
