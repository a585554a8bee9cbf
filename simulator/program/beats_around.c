/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "simulator/program/beats.h"

/* One position, and what is known of its streams. */
struct search {
    const struct program *program;
    const struct position *position;
    struct stream_beat *beats; /* length 0: not known */
    uint32_t *places;          /* [stream]: an operation that another one is, a beat later; counted in the stream */
    uint32_t *known;           /* streams whose beats are known, known_count of them, in the order in which they were
                                  found */
    uint32_t known_count;
};

/* ---- how many operations of each stream a beat has ---- */

/* Operation b of the stream that a is of is a, a beat later. */
static void learn(struct search *search, uint32_t a, uint32_t b)
{
    uint32_t which = search->position->operations[a].stream;
    struct stream_beat *beat = &search->beats[which];
    if (b <= a || beat->length || search->position->operations[b].stream != which)
        return;
    beat->length = b - a;
    search->places[which] = a - search->position->streams[which].first;
    search->known[search->known_count++] = which;
}

/* The first of those that wait for an operation before all else; they stand in a stream without known beats. */
static uint32_t first_dependent(const struct search *search, uint32_t id, uint32_t which)
{
    const struct position *position = search->position;
    for (uint32_t i = position->first_dependent[id]; i < position->first_dependent[id + 1]; i++) {
        uint32_t dependent = position->dependents[i];
        const struct operation *operation = &position->operations[dependent];
        if (operation->stream == which && operation_wait(position, operation, 0) == id)
            return dependent;
    }
    return UINT32_MAX;
}

/* Operation b is a, a beat later: so are those that wait for them, and those that they wait for. */
static void learn_from(struct search *search, uint32_t a, uint32_t b)
{
    const struct position *position = search->position;
    const struct operation *first = &position->operations[a], *later = &position->operations[b];
    for (uint32_t i = position->first_dependent[a]; i < position->first_dependent[a + 1]; i++) {
        uint32_t which = position->operations[position->dependents[i]].stream;
        if (search->beats[which].length)
            continue;
        uint32_t own = first_dependent(search, a, which), next = first_dependent(search, b, which);
        if (own != UINT32_MAX && next != UINT32_MAX)
            learn(search, own, next);
    }
    for (uint32_t i = 0; i < operation_wait_count(first) && operation_wait_count(first) == operation_wait_count(later);
         i++)
        learn(search, operation_wait(position, first, i), operation_wait(position, later, i));
}

/* From operations of the newest beats, the newest one first: the last one may be unlike the others. */
static void measure_streams(struct search *search, const struct beat_pair *pair)
{
    enum { BEATS = 3 };
    learn(search, pair->first, pair->next);
    for (uint32_t i = 0; i < search->known_count; i++) {
        const struct stream *stream = &search->position->streams[search->known[i]];
        uint32_t length = search->beats[search->known[i]].length, place = search->places[search->known[i]];
        for (uint32_t back = 0; back < BEATS * length && back <= place; back++)
            learn_from(search, stream->first + place - back, stream->first + place - back + length);
    }
}

/* ---- from where to where they repeat ---- */

static bool repeats(const struct search *search, uint32_t id, uint32_t length)
{
    const struct operation *a = &search->position->operations[id], *b = a + length;
    return operation_alike(search->program, a, search->program, b) &&
           waits_a_beat_later(search->position, search->beats, a, b);
}

/* Whether the stream has a whole beat once more from `place` on. */
static bool repeats_behind(const struct search *search, uint32_t which, uint32_t place)
{
    const struct stream *stream = &search->position->streams[which];
    uint32_t length = search->beats[which].length, alike = 0;
    for (; place + length < stream->count && alike < length; place++)
        alike = repeats(search, stream->first + place, length) ? alike + 1 : 0;
    return alike == length;
}

/* Operations that others wait for a beat later, and that are not alike themselves: they end what repeats, or, where it
 * repeats behind them, have not begun to; what is alike before them then only looks like beats, for it does not yet
 * wait for all that it waits for later.
 *
 * Collectives may wait for what was so many layers before them. Those that wait for nothing have no such layer before
 * them yet, and stand in front of the beats. */
static void find_run(struct search *search, uint32_t which)
{
    const struct stream *stream = &search->position->streams[which];
    struct stream_beat *beat = &search->beats[which];
    uint32_t from = search->places[which], to = from;
    if (!beat->length) {
        beat->to = stream->count;
        return;
    }
    while (from > 0 && repeats(search, stream->first + from - 1, beat->length))
        from--;
    while (to + beat->length < stream->count && repeats(search, stream->first + to, beat->length))
        to++;
    beat->from = from;
    beat->to = to > from ? to + beat->length : from;
    if (to == search->places[which] && repeats_behind(search, which, to + 1))
        beat->to = from;
    for (uint32_t place = from; stream->type == OPERATION_COLLECTIVE && place < beat->to; place++)
        if (!operation_wait_count(&search->position->operations[stream->first + place]))
            beat->from = place + 1;
}

/* ---- what stands before them and what behind ---- */

/* What stands still while the others repeat happens behind the beats, from the first operation on that waits for one
 * that repeats: that one is no part of them either. */
static void put_behind(struct search *search, uint32_t which)
{
    const struct position *position = search->position;
    const struct stream *stream = &position->streams[which];
    for (uint32_t place = 0; place < stream->count && !search->beats[which].length; place++) {
        const struct operation *operation = &position->operations[stream->first + place];
        for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
            uint32_t awaited = operation_wait(position, operation, i), other = position->operations[awaited].stream;
            struct stream_beat *beat = &search->beats[other], *own = &search->beats[which];
            if (!beat->length)
                continue;
            own->to = place < own->to ? place : own->to;
            awaited -= position->streams[other].first;
            beat->to = awaited < beat->to ? awaited : beat->to;
        }
    }
}

/* It is clear what an operation waits for when there are more beats. */
static bool is_clear(const struct search *search, uint32_t id)
{
    const struct position *position = search->position;
    const struct operation *operation = &position->operations[id];
    const struct stream_beat *own = &search->beats[operation->stream];
    uint32_t place = id - position->streams[operation->stream].first;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        uint32_t awaited = operation_wait(position, operation, i), other = position->operations[awaited].stream;
        const struct stream_beat *beat = &search->beats[other];
        awaited -= position->streams[other].first;
        if (beat->length && ((place < own->from && awaited >= beat->to) || (place >= own->to && awaited < beat->from)))
            return false;
    }
    return true;
}

/* What stands still and happens before the beats is there for something that is awaited: an operation that nothing
 * waits for could repeat. Messages are awaited where they arrive. */
static bool is_needed(const struct search *search, uint32_t id)
{
    const struct position *position = search->position;
    const struct stream *stream = &position->streams[position->operations[id].stream];
    const struct stream_beat *beat = &search->beats[position->operations[id].stream];
    return beat->length || id - stream->first >= beat->to || stream->type == OPERATION_SEND ||
           position->first_dependent[id] < position->first_dependent[id + 1];
}

static bool search_position(struct search *search, const struct beat_pair *pair)
{
    const struct position *position = search->position;
    measure_streams(search, pair);
    for (uint32_t i = 0; i < position->stream_count; i++)
        find_run(search, i);
    for (uint32_t i = 0; i < position->stream_count; i++)
        put_behind(search, i);
    for (uint32_t i = 0; i < position->stream_count; i++)
        if (search->beats[i].length && search->beats[i].to < search->beats[i].from + search->beats[i].length)
            return false;
    for (uint32_t id = 0; id < position->operation_count; id++)
        if (!is_clear(search, id) || !is_needed(search, id))
            return false;
    return true;
}

/* Messages are as many where they leave as where they arrive. */
static bool same_messages(const struct program *program, const struct beats *beats)
{
    for (uint32_t index = 0; index < program->mesh->positions; index++)
        for (uint32_t i = 0; i < program->positions[index].stream_count; i++) {
            const struct stream *stream = &program->positions[index].streams[i];
            if (stream->type == OPERATION_SEND &&
                beats->streams[index][i].length != beats->streams[stream->peer][stream->opposite].length)
                return false;
        }
    return true;
}

struct beats *beats_around(const struct program *program, const struct beat_pair *pairs, struct arena *arena)
{
    struct beats *beats = arena_alloc(arena, sizeof *beats);
    beats->streams = arena_array(arena, program->mesh->positions, sizeof *beats->streams);
    for (uint32_t index = 0; index < program->mesh->positions; index++) {
        const struct position *position = &program->positions[index];
        uint32_t count = position->stream_count + 1;
        beats->streams[index] = arena_array(arena, count, sizeof **beats->streams);
        uint32_t *numbers = arena_array(arena, 2 * (size_t)count, sizeof *numbers);
        struct search search = {program, position, beats->streams[index], numbers, &numbers[count], 0};
        if (!search_position(&search, &pairs[index]))
            return NULL;
    }
    return same_messages(program, beats) ? beats : NULL;
}
