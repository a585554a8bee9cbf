/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/collective_use.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct uses {
    struct collective_use *items;
    size_t count, capacity;
};

static struct collective_use *find_use(struct uses *uses, const struct collective_use *like)
{
    for (size_t i = 0; i < uses->count; i++) {
        struct collective_use *use = &uses->items[i];
        if (use->collective == like->collective && use->algorithm == like->algorithm && use->ranks == like->ranks &&
            (use->protocol == like->protocol ||
             (use->protocol && like->protocol && strcmp(use->protocol, like->protocol) == 0)))
            return use;
    }
    uses->items = array_grow(uses->items, &uses->capacity, uses->count + 1, sizeof *uses->items);
    uses->items[uses->count] = *like;
    return &uses->items[uses->count++];
}

/* times: that it is there. */
static void add_operation(struct uses *uses, const struct frame *frame, uint32_t group,
                          const struct operation *operation, double times)
{
    const struct program *program = frame->timeline->program;
    struct collective_choice choice = assignment_choose(program, group, operation);
    const struct stagesim_cost *cost = operation_cost(program, operation);
    double repeats = fmax(cost->repeats, 1), bytes = cost->bytes / repeats;
    if (!choice.algorithm)
        return;
    struct collective_use use = {collective_name(operation->collective),
                                 choice.algorithm->name,
                                 choice.protocol,
                                 group_size(program, &program->groups[group]),
                                 bytes,
                                 bytes,
                                 0};
    struct collective_use *known = find_use(uses, &use);
    known->least_bytes = fmin(known->least_bytes, bytes);
    known->most_bytes = fmax(known->most_bytes, bytes);
    known->count += times * repeats * group_instances(program, &program->groups[group]) / frame->measured;
}

struct collective_use *collective_uses(const struct frame *frame, size_t *count, struct arena *arena)
{
    const struct program *program = frame->timeline->program;
    struct uses uses = {NULL, 0, 0};
    for (uint32_t group = 0; group < program->group_count; group++) {
        if (!program->groups[group].collective_count)
            continue;
        uint32_t index = program->groups[group].positions[0];
        const struct position *position = &program->positions[index];
        uint32_t number = position_group_stream(position, group);
        const struct stream *stream = &position->streams[number];
        struct more_operations more = frame_more_operations(frame, index, number);
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
            if (frame_measures(frame, &position->operations[id]))
                add_operation(&uses, frame, group, &position->operations[id],
                              id >= more.range.first && id < more.range.end ? 1.0 + more.times : 1);
    }
    struct collective_use *items = arena_array(arena, uses.count + 1, sizeof *items);
    if (uses.count)
        memcpy(items, uses.items, uses.count * sizeof *items);
    free(uses.items);
    *count = uses.count;
    return items;
}
