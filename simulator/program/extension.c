/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/extension.h"

#include "base/arena.h"
#include "base/numbers/divisor.h"

#include <math.h>

/* ---- the step of the order ---- */

static bool same_work(const struct program *program, const struct operation *a, const struct operation *b,
                      uint32_t step)
{
    if (a->micro_batch == MICRO_BATCH_NONE || b->micro_batch == MICRO_BATCH_NONE)
        return false;
    return b->micro_batch == a->micro_batch + step && a->stage == b->stage && a->pipeline == b->pipeline &&
           operation_alike(program, a, program, b);
}

/* Whether `length` operations from the middle on are those before them, some micro-batches later; how many, or 0. */
static uint32_t step_after(const struct program *program, const struct operation *middle, uint32_t length)
{
    if (middle[length].micro_batch <= middle->micro_batch)
        return 0;
    uint32_t step = middle[length].micro_batch - middle->micro_batch;
    for (uint32_t i = 0; i < length; i++)
        if (!same_work(program, &middle[i], &middle[i + length], step))
            return 0;
    return step;
}

static uint32_t position_step(const struct program *program, const struct position *position)
{
    const struct stream *stream = &position->streams[0];
    const struct operation *middle = &position->operations[stream->first + stream->count / 2];
    for (uint32_t length = 1; 4 * length < stream->count; length++) {
        uint32_t step = step_after(program, middle, length);
        if (step)
            return step;
    }
    return 0;
}

uint32_t extension_step(const struct program *program)
{
    uint64_t step = 1;
    for (uint32_t index = 0; index < program->mesh->positions; index++) {
        const struct position *position = &program->positions[index];
        uint32_t own = position->stream_count && position->streams[0].count ? position_step(program, position) : 0;
        if (!own)
            return 0;
        step = step / common_divisor(step, own) * own;
        if (step > program->micro_batches)
            return 0;
    }
    return (uint32_t)step;
}

/* ---- the order ---- */

/* One position of both programs. */
struct splice {
    const struct program *whole, *part;
    const struct position *long_position, *short_position;
    struct stream_beat *beats; /* of the short one; `to` is where beats are put in */
    uint32_t more;
};

static bool same_stream(const struct stream *a, const struct stream *b)
{
    return a->type == b->type && a->kind == b->kind && a->peer == b->peer && a->opposite == b->opposite;
}

/* Streams one by one, each with the same number of operations for every beat that is missing. */
static bool measure_beats(const struct position *whole, const struct position *part, uint32_t more, uint32_t *lengths)
{
    if (whole->stream_count != part->stream_count)
        return false;
    for (uint32_t i = 0; i < part->stream_count; i++) {
        uint32_t count = whole->streams[i].count, least = part->streams[i].count;
        if (!same_stream(&whole->streams[i], &part->streams[i]) || count < least || (count - least) % more)
            return false;
        lengths[i] = (count - least) / more;
    }
    return true;
}

/* Where in the long position an operation of the short one's end is; of one before the beats, where it is there. */
static uint32_t place_in_whole(const struct splice *splice, uint32_t id)
{
    uint32_t stream = splice->short_position->operations[id].stream;
    uint32_t place = id - splice->short_position->streams[stream].first;
    const struct stream_beat *beat = &splice->beats[stream];
    uint32_t shift = beat->length && place >= beat->from ? splice->more * beat->length : 0;
    return splice->long_position->streams[stream].first + place + shift;
}

/* Both operations wait for the same, the longer program's `late` ones behind the beats that it has more. */
static bool same_waits(const struct splice *splice, const struct operation *longer, const struct operation *shorter,
                       bool late)
{
    if (operation_wait_count(longer) != operation_wait_count(shorter))
        return false;
    for (uint32_t i = 0; i < operation_wait_count(shorter); i++) {
        uint32_t awaited = operation_wait(splice->short_position, shorter, i);
        uint32_t stream = splice->short_position->operations[awaited].stream;
        uint32_t early =
            awaited - splice->short_position->streams[stream].first + splice->long_position->streams[stream].first;
        if (operation_wait(splice->long_position, longer, i) != (late ? place_in_whole(splice, awaited) : early))
            return false;
    }
    return true;
}

/* Up to where a stream of both programs is the same: no beat can be put in behind that. */
static uint32_t same_beginning(const struct splice *splice, uint32_t index)
{
    const struct stream *longer = &splice->long_position->streams[index],
                        *shorter = &splice->short_position->streams[index];
    for (uint32_t i = 0; i < shorter->count; i++) {
        const struct operation *a = &splice->long_position->operations[longer->first + i];
        const struct operation *b = &splice->short_position->operations[shorter->first + i];
        if (!operation_alike(splice->whole, a, splice->part, b) || !same_waits(splice, a, b, false))
            return i;
    }
    return shorter->count;
}

/* The short stream's operations up to `to` are the long one's, and those from there on are those of its end. */
static bool same_order(const struct splice *splice, uint32_t index)
{
    const struct stream *longer = &splice->long_position->streams[index],
                        *shorter = &splice->short_position->streams[index];
    uint32_t to = splice->beats[index].to, shift = longer->count - shorter->count;
    for (uint32_t i = 0; i < shorter->count; i++) {
        const struct operation *a = &splice->long_position->operations[longer->first + i + (i < to ? 0 : shift)];
        const struct operation *b = &splice->short_position->operations[shorter->first + i];
        if (!operation_alike(splice->whole, a, splice->part, b) || !same_waits(splice, a, b, i >= to))
            return false;
    }
    return true;
}

/* A stream that has no part in the beats: they are put in between two of its operations, behind all that wait for what
 * comes before them and before all that wait for what comes after. */
static bool same_rest(const struct splice *splice, uint32_t index)
{
    const struct stream *longer = &splice->long_position->streams[index],
                        *shorter = &splice->short_position->streams[index];
    struct stream_beat *beat = &splice->beats[index];
    for (uint32_t i = 0; i < shorter->count; i++) {
        const struct operation *a = &splice->long_position->operations[longer->first + i];
        const struct operation *b = &splice->short_position->operations[shorter->first + i];
        bool early = same_waits(splice, a, b, false), late = same_waits(splice, a, b, true);
        if (!operation_alike(splice->whole, a, splice->part, b) || (!early && !late))
            return false;
        if (!late)
            beat->from = i + 1;
        if (!early && i < beat->to)
            beat->to = i;
    }
    return beat->from <= beat->to;
}

/* Beats can be put in where both programs repeat; false where that is nowhere. */
static bool meet(struct stream_beat *beat, const struct stream_beat *longer, uint32_t more)
{
    uint32_t shift = more * beat->length;
    if (!beat->length)
        return true;
    beat->from = beat->from > longer->from ? beat->from : longer->from;
    if (longer->to < shift)
        return false;
    beat->to = beat->to < longer->to - shift ? beat->to : longer->to - shift;
    return beat->to >= beat->from + beat->length;
}

static bool same_groups(const struct program *whole, const struct program *part)
{
    if (whole->group_count != part->group_count)
        return false;
    for (uint32_t g = 0; g < part->group_count; g++) {
        const struct group *a = &whole->groups[g], *b = &part->groups[g];
        if (a->axes != b->axes || a->position_count != b->position_count)
            return false;
        for (uint32_t i = 0; i < a->position_count; i++)
            if (a->positions[i] != b->positions[i])
                return false;
    }
    return true;
}

/* Of every stream of one position: operations of a beat, and where beats end at the latest in the short program and in
 * the long one. False where the numbers of operations do not go together. */
static bool measure(const struct splice *splice, uint32_t *lengths, uint32_t *limits, uint32_t *long_limits)
{
    if (!measure_beats(splice->long_position, splice->short_position, splice->more, lengths))
        return false;
    for (uint32_t i = 0; i < splice->short_position->stream_count; i++) {
        limits[i] = lengths[i] ? same_beginning(splice, i) : UINT32_MAX;
        long_limits[i] = lengths[i] ? limits[i] + splice->more * lengths[i] : UINT32_MAX;
    }
    return true;
}

struct beats *extension_beats(const struct program *whole, const struct program *part, uint32_t more,
                              struct arena *arena)
{
    uint32_t positions = part->mesh->positions;
    uint32_t **numbers = arena_array(arena, 3 * (size_t)positions, sizeof *numbers);
    uint32_t **lengths = numbers, **limits = &numbers[positions], **long_limits = &limits[positions];
    if (!more || whole->mesh->positions != positions || !same_groups(whole, part))
        return NULL;
    for (uint32_t index = 0; index < positions; index++) {
        struct splice splice = {whole, part, &whole->positions[index], &part->positions[index], NULL, more};
        size_t streams = part->positions[index].stream_count + (size_t)1;
        lengths[index] = arena_array(arena, 3 * streams, sizeof **lengths);
        limits[index] = &lengths[index][streams];
        long_limits[index] = &limits[index][streams];
        if (!measure(&splice, lengths[index], limits[index], long_limits[index]))
            return NULL;
    }
    struct beats *beats = beats_create(part, lengths, limits, arena),
                 *longer = beats_create(whole, lengths, long_limits, arena);
    for (uint32_t index = 0; index < positions; index++) {
        struct splice splice = {whole, part, &whole->positions[index], &part->positions[index], beats->streams[index],
                                more};
        for (uint32_t i = 0; i < part->positions[index].stream_count; i++)
            if (!meet(&beats->streams[index][i], &longer->streams[index][i], more))
                return NULL;
        for (uint32_t i = 0; i < part->positions[index].stream_count; i++)
            if (!(splice.beats[i].length ? same_order : same_rest)(&splice, i))
                return NULL;
    }
    return beats;
}

/* ---- the times ---- */

/* One stream of one rank. */
struct copying {
    const struct moment *from;
    struct moment *to;
    uint32_t count, begun; /* operations of the whole; those of the part that began before the end of the cycle */
    uint32_t advance;      /* operations in a cycle */
    uint32_t cycles;       /* that the whole has more */
    double end, length;    /* of the cycle */
};

/* A moment of an operation: of the one so many cycles earlier in the part that has it before the cycle's end, that many
 * cycles later; behind the last cycle the part's rest follows. */
static double moment_in_whole(const struct copying *copying, uint32_t place, size_t which, uint32_t cycles)
{
    const struct moment *moment = &copying->from[place - (size_t)cycles * copying->advance];
    for (;; cycles++, moment -= copying->advance) {
        double time = which == 0 ? moment->start : which == 1 ? moment->data_start : moment->end;
        bool further = cycles < copying->cycles && time >= copying->end;
        if (further && copying->advance && place >= ((size_t)cycles + 1) * copying->advance)
            continue;
        return time + (further ? copying->cycles : cycles) * copying->length;
    }
}

static void copy_stream(const struct copying *copying)
{
    for (uint32_t place = 0; place < copying->count; place++) {
        uint32_t cycles = 0;
        if (place >= copying->begun && copying->advance)
            cycles = 1 + (place - copying->begun) / copying->advance;
        cycles = cycles < copying->cycles ? cycles : copying->cycles;
        copying->to[place] =
            (struct moment){moment_in_whole(copying, place, 0, cycles), moment_in_whole(copying, place, 1, cycles),
                            moment_in_whole(copying, place, 2, cycles)};
    }
}

static void settle(const struct position *position, struct moment *moments, uint32_t id, double nearly)
{
    const struct operation *operation = &position->operations[id];
    bool follows = id > position->streams[operation->stream].first;
    double latest = follows ? moments[id - 1].end : 0;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        latest = fmax(latest, moments[operation_wait(position, operation, i)].end);
    if (fabs(moments[id].start - latest) > nearly)
        return;
    if (moments[id].data_start <= moments[id].start)
        moments[id].data_start = latest;
    moments[id].start = latest;
}

void extension_settle(struct timeline *timeline, double nearly)
{
    timeline_finish_receives(timeline);
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        const struct position *position =
            &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[entry]]];
        for (uint32_t id = 0; id < position->operation_count; id++)
            if (position->operations[id].type != OPERATION_RECEIVE)
                settle(position, timeline->moments[entry], id, nearly);
    }
    timeline_finish_receives(timeline);
}

void extension_fill(struct timeline *whole, const struct timeline *part, const struct beats *beats,
                    const struct cycle *cycle, uint32_t more)
{
    const struct mesh *mesh = part->program->mesh;
    for (uint32_t entry = 0; entry < part->rank_count; entry++) {
        uint32_t index = mesh->position_of[part->ranks[entry]];
        const struct position *longer = &whole->program->positions[index], *shorter = &part->program->positions[index];
        for (uint32_t i = 0; i < shorter->stream_count; i++) {
            struct cycle_list list = {.moments = part->moments[entry] + shorter->streams[i].first,
                                      .count = shorter->streams[i].count};
            struct copying copying = {.from = list.moments,
                                      .to = whole->moments[entry] + longer->streams[i].first,
                                      .count = longer->streams[i].count,
                                      .begun = cycle_begun(&list, cycle->start + cycle->length),
                                      .advance = beats->streams[index][i].length * cycle->beats,
                                      .cycles = more / cycle->beats,
                                      .end = cycle->start + cycle->length,
                                      .length = cycle->length};
            copy_stream(&copying);
        }
    }
    double end = cycle->start + cycle->length * (1 + more / cycle->beats);
    extension_settle(whole, part->rounding * cycle->length + CLOCK_ROUNDING * end);
}
