/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/orders/times.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Without what is lost when times since the beginning are subtracted. */
static double rounded(double seconds)
{
    char text[40];
    snprintf(text, sizeof text, "%.11g", seconds);
    return strtod(text, NULL);
}

/* Means of the computations of each stage, [kind][stage]. */
static void find_means(const struct recorded *recorded, const struct order *order, double *const means[3],
                       struct arena *arena)
{
    double *counts[3];
    for (int kind = 0; kind < 3; kind++)
        counts[kind] = arena_array(arena, order->stages, sizeof *counts[kind]);
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind != RECORDED_COMPUTE || operation->work < RECORDED_FORWARD ||
            operation->work > RECORDED_WEIGHT || operation->stage >= order->stages)
            continue;
        int kind = operation->work - RECORDED_FORWARD;
        means[kind][operation->stage] += operation->end - operation->begin;
        counts[kind][operation->stage] += !operation->piece; /* the first of its pieces */
    }
    for (int kind = 0; kind < 3; kind++)
        for (uint32_t stage = 0; stage < order->stages; stage++)
            means[kind][stage] = counts[kind][stage] > 0 ? rounded(means[kind][stage] / counts[kind][stage]) : NAN;
}

/* [worker]: the shortest message to the worker behind, of the stage with the longest. */
static double *find_messages(const struct recorded *recorded, const struct order *order, struct arena *arena)
{
    uint32_t highest = recorded->ranks[recorded->rank_count - 1].number, workers = order->workers;
    uint32_t *worker_of = arena_array(arena, highest + (size_t)1, sizeof *worker_of),
             *sender = arena_array(arena, order->stages, sizeof *sender);
    double *least = arena_array(arena, order->stages, sizeof *least),
           *longest = arena_array(arena, workers, sizeof *longest);
    for (size_t i = 0; i < recorded->rank_count; i++)
        worker_of[recorded->ranks[i].number] = recorded->ranks[i].stage;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        uint32_t from = recorded->ranks[recorded_rank_of(recorded, operation)].stage, stage = operation->stage;
        if (operation->kind != RECORDED_SEND || operation->work != RECORDED_ACTIVATION || isnan(operation->data) ||
            operation->peer > highest || stage >= order->stages || from >= workers ||
            worker_of[operation->peer] != from + 1)
            continue;
        double seconds = operation->end - operation->data;
        least[stage] = least[stage] > 0 ? fmin(least[stage], seconds) : seconds;
        sender[stage] = from;
    }
    for (uint32_t stage = 0; stage < order->stages; stage++)
        longest[sender[stage]] = fmax(longest[sender[stage]], rounded(least[stage]));
    return longest;
}

static double mean(const double *values, const struct order *order)
{
    double sum = 0;
    for (uint32_t stage = 0; stage < order->stages; stage++)
        sum += values[stage];
    return sum / order->workers;
}

void order_times_find(const struct recorded *recorded, const struct order *order, struct arena *arena,
                      struct order_times *times)
{
    double *means[3];
    for (int kind = 0; kind < 3; kind++)
        means[kind] = arena_array(arena, order->stages, sizeof *means[kind]);
    find_means(recorded, order, means, arena);
    *times = (struct order_times){.known = !order->blocks};
    for (uint32_t stage = 0; stage < order->stages; stage++) {
        if (order->weights) /* a whole backward is both */
            means[1][stage] += means[2][stage];
        times->known &= means[0][stage] > 0 && means[1][stage] > 0;
    }
    times->costs =
        (struct plan_costs){.forward = means[0], .backward = means[1], .weight = order->weights ? means[2] : NULL};
    double *hops = find_messages(recorded, order, arena);
    times->costs.hops = hops;
    for (uint32_t worker = 0; worker + 1 < order->workers; worker++)
        times->costs.latency = fmax(times->costs.latency, hops[worker]);
    times->forward = mean(means[0], order);
    times->backward = mean(means[1], order);
    times->weight = order->weights ? mean(means[2], order) : 0;
}
