/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/algorithm.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>

void collective_flows_add(struct collective_flows *flows, uint32_t phase, uint32_t from, uint32_t to, double share,
                          uint32_t steps)
{
    assert(phase + 1 >= flows->phases && from != to);
    flows->items = array_grow(flows->items, &flows->capacity, flows->count + 1, sizeof *flows->items);
    flows->items[flows->count++] = (struct collective_phase_flow){from, to, phase, steps, share};
    flows->phases = phase + 1;
    flows->total += share;
}

struct collective_phase_flow collective_flow_at(const struct collective_flows *flows, size_t index)
{
    if (!flows->all_to_all)
        return flows->items[index];
    uint32_t ranks = flows->all_to_all, from = (uint32_t)(index / (ranks - 1)),
             distance = (uint32_t)(index % (ranks - 1)) + 1;
    return (struct collective_phase_flow){from, (uint32_t)(((uint64_t)from + distance) % ranks), 0, ranks - 1,
                                          1.0 / ranks};
}

size_t collective_phase_end(const struct collective_flows *flows, size_t first)
{
    size_t end = first;
    if (flows->all_to_all)
        return flows->count;
    while (end < flows->count && flows->items[end].phase == flows->items[first].phase)
        end++;
    return end;
}

void collective_flows_finish(struct collective_flows *flows)
{
    free(flows->items);
    *flows = (struct collective_flows){0};
}

/* Rounds times ranks bounds the transfers of all algorithms but all-to-all, whose rounds have one for each rank as
 * well. */
static bool steps_fit(const struct collective_algorithm *algorithm, const struct collective_shape *shape)
{
    return !algorithm->flowing && 2.0 * shape->ranks * shape->ranks <= STEPWISE_TRANSFERS_MAX;
}

/* Edges between nodes carry so much more as if they were that much slower. What is sent stays the same. */
static void slow_crossings(struct collective_flows *flows, const struct collective_shape *shape)
{
    for (size_t i = 0; i < flows->count; i++)
        if (flows->items[i].from / shape->node_size != flows->items[i].to / shape->node_size)
            flows->items[i].share /= shape->strided_efficiency;
}

/* All other collectives need something of every member for every member: nobody is done before the last has come. */
static bool is_rooted(enum stagesim_collective kind)
{
    return kind == STAGESIM_BROADCAST || kind == STAGESIM_REDUCE;
}

static void add_flows(struct collective_flows *flows, const struct collective_algorithm *algorithm,
                      const struct collective_shape *shape, enum stagesim_collective kind, bool stepwise)
{
    if (algorithm->flows && !(stepwise && steps_fit(algorithm, shape))) {
        algorithm->flows(shape, kind, flows);
        flows->ends_apart = flows->start != START_TOGETHER && is_rooted(kind);
        return;
    }
    flows->start = START_PAIRS;
    flows->ends_apart = is_rooted(kind);
    for (size_t i = 0; algorithm->own && i < algorithm->own->count; i++) {
        const struct collective_phase_flow *flow = &algorithm->own->flows[i];
        collective_flows_add(flows, flow->phase, flow->from, flow->to, flow->share, flow->steps);
    }
    if (algorithm->own)
        return;
    struct collective_steps steps = {0};
    algorithm->steps(shape, kind, &steps);
    steps_sort(&steps);
    for (size_t i = 0; i < steps.count; i++) {
        const struct collective_transfer *transfer = &steps.transfers[i];
        collective_flows_add(flows, transfer->round, transfer->from, transfer->to, steps_bytes(&steps, transfer, 1), 1);
    }
    steps_finish(&steps);
}

/* Members are counted from the root on; where nodes matter, from the first of its node on. */
static void turn_to_root(struct collective_flows *flows, const struct collective_shape *shape, bool crosses)
{
    uint32_t root = crosses && shape->node_size ? shape->root - shape->root % shape->node_size : shape->root;
    for (size_t i = 0; i < flows->count; i++) {
        flows->items[i].from = (flows->items[i].from + root) % shape->ranks;
        flows->items[i].to = (flows->items[i].to + root) % shape->ranks;
    }
}

void collective_flows_init(struct collective_flows *flows, const struct collective_algorithm *algorithm,
                           const struct collective_shape *shape, enum stagesim_collective kind, bool stepwise)
{
    *flows = (struct collective_flows){0};
    add_flows(flows, algorithm, shape, kind, stepwise);
    if (is_rooted(kind))
        turn_to_root(flows, shape, algorithm->crosses);
    if (algorithm->crosses && shape->strided && shape->strided_efficiency > 0 && shape->node_size)
        slow_crossings(flows, shape);
}
