/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/memory_use.h"

#include "base/arena.h"
#include "base/sum.h"
#include "simulator/program/stream_route.h"

#include <math.h>
#include <stdlib.h>

struct memory_use {
    const struct timeline *timeline;
    uint32_t *first;           /* [position + 1]: its part of `ids` */
    uint32_t *ids;             /* operations with an effect, by position and id */
    struct memory_step *steps; /* as many as the position with most of them has */
};

static bool changes(const struct stagesim_cost *cost)
{
    return cost->memory != 0 || cost->stash != 0;
}

/* What the second part of a block takes and gives back; NULL: no block. */
static const struct stagesim_cost *second_cost(const struct program *program, const struct position *position,
                                               const struct operation *operation)
{
    const struct block *block = operation_block(position, operation);
    return block ? &program->costs[block->cost] : NULL;
}

/* A stash that comes from the position itself, by way of host memory, is counted where it is sent. */
static bool comes_back(const struct position *position, const struct operation *operation)
{
    return operation->type == OPERATION_RECEIVE && stream_offloads(&position->streams[operation->stream]);
}

static bool has_effect(const bool *effects, const struct position *position, const struct operation *operation)
{
    if (comes_back(position, operation))
        return false;
    return effects[operation->cost] || (operation->is_block && effects[operation_block(position, operation)->cost]);
}

/* Counts, and when `ids` is there also lists, the operations of a position with an effect. */
static uint32_t list_effects(const bool *effects, const struct position *position, uint32_t *ids)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < position->operation_count; id++) {
        if (!has_effect(effects, position, &position->operations[id]))
            continue;
        if (ids)
            ids[count] = id;
        count++;
    }
    return count;
}

struct memory_use *memory_use_create(const struct timeline *timeline, struct arena *arena)
{
    const struct program *program = timeline->program;
    uint32_t positions = program->mesh->positions, most = 1;
    struct memory_use *use = arena_alloc(arena, sizeof *use);
    bool *effects = arena_array(arena, (size_t)program->cost_count + 1, sizeof *effects);
    use->timeline = timeline;
    for (uint32_t cost = 0; cost < program->cost_count; cost++)
        effects[cost] = changes(&program->costs[cost]);
    use->first = arena_array(arena, (size_t)positions + 1, sizeof *use->first);
    for (uint32_t i = 0; i < positions; i++) {
        uint32_t count = list_effects(effects, &program->positions[i], NULL);
        use->first[i + 1] = use->first[i] + count;
        most = count > most ? count : most;
    }
    use->ids = arena_array(arena, (size_t)use->first[positions] + 1, sizeof *use->ids);
    for (uint32_t i = 0; i < positions; i++)
        list_effects(effects, &program->positions[i], use->ids + use->first[i]);
    use->steps = arena_array(arena, 2 * (size_t)most, sizeof *use->steps);
    return use;
}

static double taken(double amount)
{
    return amount > 0 ? amount : 0;
}

/* A block takes for its one part and gives back for the other. */
static size_t add_steps(struct memory_step *steps, const struct operation *operation, const struct stagesim_cost *first,
                        const struct stagesim_cost *second, const struct moment *moment)
{
    static const struct stagesim_cost nothing;
    second = second ? second : &nothing;
    size_t count = 0;
    double start = operation->type == OPERATION_RECEIVE ? moment->data_start : moment->start;
    struct memory_step take = {start, taken(first->memory) + taken(second->memory),
                               taken(first->stash) + taken(second->stash)};
    struct memory_step give = {moment->end, -taken(-first->memory) - taken(-second->memory),
                               -taken(-first->stash) - taken(-second->stash)};
    if (take.bytes != 0 || take.stash != 0)
        steps[count++] = take;
    if (give.bytes != 0 || give.stash != 0)
        steps[count++] = give;
    return count;
}

static int by_time(const void *left, const void *right)
{
    const struct memory_step *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->stash != b->stash)
        return a->stash < b->stash ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

const struct memory_step *memory_use_steps(struct memory_use *use, uint32_t entry, size_t *count)
{
    const struct program *program = use->timeline->program;
    uint32_t index = program->mesh->position_of[use->timeline->ranks[entry]];
    const struct position *position = &program->positions[index];
    const struct operation *before = NULL;
    bool sorted = true;
    *count = 0;
    for (uint32_t i = use->first[index]; i < use->first[index + 1]; i++) {
        const struct operation *operation = &position->operations[use->ids[i]];
        struct memory_step *step = use->steps + *count;
        size_t added =
            add_steps(step, operation, operation_cost(program, operation), second_cost(program, position, operation),
                      &use->timeline->moments[entry][use->ids[i]]);
        if (before && added && (step[-1].time > step->time || operation->stream != before->stream))
            sorted = false;
        *count += added;
        before = operation;
    }
    if (!sorted) /* operations of several streams take or give back */
        qsort(use->steps, *count, sizeof *use->steps, by_time);
    return use->steps;
}

struct memory_peak memory_use_peak(struct memory_use *use, uint32_t entry)
{
    const struct program *program = use->timeline->program;
    const struct stagesim_static_memory *held =
        &program->positions[program->mesh->position_of[use->timeline->ranks[entry]]].memory;
    double base = held->parameters + held->gradients + held->optimizer + held->buffers;
    struct memory_peak peak = {base, 0};
    size_t count;
    const struct memory_step *steps = memory_use_steps(use, entry, &count);
    struct sum bytes = {base, 0}, stash = {0, 0};
    for (size_t i = 0; i < count; i++) {
        sum_add(&bytes, steps[i].bytes);
        sum_add(&stash, steps[i].stash);
        peak.bytes = fmax(peak.bytes, sum_total(&bytes));
        peak.in_flight = fmax(peak.in_flight, sum_total(&stash));
    }
    return peak;
}
