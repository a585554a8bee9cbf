/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/beats.h"

#include "base/arena.h"

#include <math.h>

/* ---- operations that are alike ---- */

static bool same_number(double a, double b)
{
    return a <= b && a >= b;
}

static bool same_cost(const struct stagesim_cost *a, const struct stagesim_cost *b)
{
    return a == b || (same_number(a->seconds, b->seconds) && same_number(a->flops, b->flops) &&
                      same_number(a->bytes, b->bytes) && same_number(a->memory, b->memory) &&
                      same_number(a->stash, b->stash) && same_number(a->repeats, b->repeats));
}

static bool same_variation(const struct program *program, uint32_t a, const struct program *other, uint32_t b)
{
    if (a == VARIATION_NONE || b == VARIATION_NONE)
        return a == b;
    const struct variation *first = &program->variations[a], *second = &other->variations[b];
    if (first == second)
        return true;
    if (first->axes != second->axes)
        return false;
    for (uint32_t i = 0; i < mesh_product(program->mesh, first->axes); i++)
        if (!same_number(first->factors[i], second->factors[i]))
            return false;
    return true;
}

static bool same_pairs(const struct pair_bytes *a, const struct pair_bytes *b)
{
    if (!a || !b || a == b)
        return a == b;
    for (size_t i = 0; a->members == b->members && i < (size_t)a->members * a->members; i++)
        if (!same_number(a->shares[i], b->shares[i]))
            return false;
    return a->members == b->members;
}

bool operation_alike(const struct program *program, const struct operation *a, const struct program *other,
                     const struct operation *b)
{
    if (a->type != b->type || a->kind != b->kind || a->part != b->part || a->collective != b->collective ||
        a->is_block != b->is_block || a->stream != b->stream)
        return false;
    if (program == other && a->cost == b->cost)
        return true;
    return same_cost(operation_cost(program, a), operation_cost(other, b)) &&
           same_variation(program, program->variation_of[a->cost], other, other->variation_of[b->cost]) &&
           same_pairs(operation_pairs(program, a), operation_pairs(other, b));
}

/* ---- the order of one position ---- */

struct order {
    const struct program *program;
    const struct position *position;
    const struct stream_beat *beats;
};

bool waits_a_beat_later(const struct position *position, const struct stream_beat *beats, const struct operation *a,
                        const struct operation *b)
{
    if (operation_wait_count(a) != operation_wait_count(b))
        return false;
    for (uint32_t i = 0; i < operation_wait_count(a); i++) {
        uint32_t awaited = operation_wait(position, a, i), later = operation_wait(position, b, i);
        if (later != awaited + beats[position->operations[awaited].stream].length)
            return false;
    }
    return true;
}

/* The longest run of places before `limit` at which the stream's order repeats. */
static void find_run(const struct order *order, const struct stream *stream, uint32_t limit, struct stream_beat *beat)
{
    const struct operation *operations = order->position->operations + stream->first;
    uint32_t begun = 0, length = beat->length;
    for (uint32_t i = 0; length && i < stream->count; i++) {
        bool repeats = i + length < stream->count &&
                       operation_alike(order->program, &operations[i], order->program, &operations[i + length]) &&
                       waits_a_beat_later(order->position, order->beats, &operations[i], &operations[i + length]);
        if (repeats)
            continue;
        uint32_t to = i + length < stream->count ? i + length : stream->count;
        to = to < limit ? to : limit;
        if (to > begun && to - begun > beat->to - beat->from) {
            beat->from = begun;
            beat->to = to;
        }
        begun = i + 1;
    }
}

struct beats *beats_create(const struct program *program, uint32_t *const *lengths, uint32_t *const *limits,
                           struct arena *arena)
{
    struct beats *beats = arena_alloc(arena, sizeof *beats);
    beats->streams = arena_array(arena, program->mesh->positions, sizeof *beats->streams);
    for (uint32_t index = 0; index < program->mesh->positions; index++) {
        const struct position *position = &program->positions[index];
        struct stream_beat *streams = arena_array(arena, position->stream_count + 1, sizeof *streams);
        for (uint32_t i = 0; i < position->stream_count; i++)
            streams[i] = (struct stream_beat){.length = lengths[index][i],
                                              .to = lengths[index][i] ? 0 : position->streams[i].count};
        struct order order = {program, position, streams};
        for (uint32_t i = 0; i < position->stream_count; i++)
            find_run(&order, &position->streams[i], limits ? limits[index][i] : UINT32_MAX, &streams[i]);
        beats->streams[index] = streams;
    }
    return beats;
}

/* ---- iterations ---- */

/* How many operations of the stream each iteration has; false where they differ. The first and the last may. */
static bool iteration_length(const struct position *position, const struct stream *stream, uint32_t iterations,
                             uint32_t *counts, uint32_t *length)
{
    for (uint32_t i = 0; i < iterations; i++)
        counts[i] = 0;
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
        counts[position->operations[id].iteration]++;
    *length = counts[iterations / 2];
    for (uint32_t i = 1; i + 1 < iterations; i++)
        if (counts[i] != *length)
            return false;
    return true;
}

struct beats *beats_of_iterations(const struct program *program, struct arena *arena)
{
    uint32_t **lengths = arena_array(arena, program->mesh->positions, sizeof *lengths);
    uint32_t *counts = arena_array(arena, program->iterations, sizeof *counts);
    for (uint32_t index = 0; index < program->mesh->positions; index++) {
        const struct position *position = &program->positions[index];
        lengths[index] = arena_array(arena, position->stream_count + 1, sizeof **lengths);
        for (uint32_t i = 0; i < position->stream_count; i++)
            if (!iteration_length(position, &position->streams[i], program->iterations, counts, &lengths[index][i]))
                return NULL;
    }
    return beats_create(program, lengths, NULL, arena);
}

/* ---- a timeline ---- */

static size_t count_lists(const struct timeline *timeline)
{
    size_t count = 0;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++)
        count +=
            timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[entry]]].stream_count;
    return count;
}

bool beats_find_cycle(const struct beats *beats, const struct timeline *timeline, double rounding, struct cycle *cycle,
                      struct arena *arena)
{
    const struct mesh *mesh = timeline->program->mesh;
    struct cycle_list *lists = arena_array(arena, count_lists(timeline) + 1, sizeof *lists);
    size_t count = 0;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        uint32_t index = mesh->position_of[timeline->ranks[entry]];
        const struct position *position = &timeline->program->positions[index];
        for (uint32_t i = 0; i < position->stream_count; i++) {
            const struct stream *stream = &position->streams[i];
            const struct stream_beat *beat = &beats->streams[index][i];
            lists[count++] = (struct cycle_list){.moments = timeline->moments[entry] + stream->first,
                                                 .count = stream->count,
                                                 .beat = beat->length,
                                                 .from = beat->from,
                                                 .to = beat->to,
                                                 .passive = stream->type == OPERATION_RECEIVE};
        }
    }
    return cycle_find(lists, count, rounding, cycle);
}
