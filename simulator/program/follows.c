/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/follows.h"

#include <math.h>

struct look {
    const struct timeline *timeline;
    const struct program *twice;
    double end;   /* of the iteration, seconds */
    double early; /* what ends before this moment ends too early */
};

static const struct position *position_of(const struct timeline *timeline, const struct program *program,
                                          uint32_t entry)
{
    return &program->positions[program->mesh->position_of[timeline->ranks[entry]]];
}

static double end_of(const struct look *look, const struct position *position, uint32_t entry)
{
    double end = 0;
    for (uint32_t id = 0; id < position->operation_count; id++)
        end = fmax(end, look->timeline->moments[entry][id].end);
    return end;
}

/* The operation of the first iteration that stands where one of the program with two does; UINT32_MAX: it is of the
 * second. */
static uint32_t in_first(const struct position *once, const struct position *twice, uint32_t id)
{
    uint32_t index = twice->operations[id].stream, place = id - twice->streams[index].first;
    return place < once->streams[index].count ? once->streams[index].first + place : UINT32_MAX;
}

/* Whether a position has each stream twice as long, the second iteration behind the first. */
static bool is_doubled(const struct position *once, const struct position *twice)
{
    if (twice->stream_count != once->stream_count)
        return false;
    for (uint32_t i = 0; i < once->stream_count; i++) {
        const struct stream *one = &once->streams[i], *both = &twice->streams[i];
        if (both->type != one->type || both->peer != one->peer || both->count != 2 * one->count ||
            (one->count && (twice->operations[both->first + one->count - 1].iteration != 0 ||
                            twice->operations[both->first + one->count].iteration != 1)))
            return false;
    }
    return true;
}

/* When a stream's first operation may begin in the next iteration. */
static double ready_at(const struct look *look, uint32_t entry, uint32_t stream)
{
    const struct position *once = position_of(look->timeline, look->timeline->program, entry),
                          *twice = position_of(look->timeline, look->twice, entry);
    const struct moment *moments = look->timeline->moments[entry];
    const struct stream *both = &twice->streams[stream];
    const struct operation *operation = &twice->operations[both->first + once->streams[stream].count];
    double ready = moments[once->streams[stream].first + once->streams[stream].count - 1].end;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        uint32_t awaited = in_first(once, twice, operation_wait(twice, operation, i));
        if (awaited == UINT32_MAX)
            return INFINITY;
        ready = fmax(ready, moments[awaited].end);
    }
    return ready;
}

static enum follows look_at(const struct look *look, uint32_t entry)
{
    const struct program *program = look->timeline->program;
    const struct position *position = position_of(look->timeline, program, entry);
    enum follows found = FOLLOWS_ALIKE;
    bool all_early = end_of(look, position, entry) < look->early;
    if (look->twice && !is_doubled(position, position_of(look->timeline, look->twice, entry)))
        return FOLLOWS_OTHERWISE;
    for (uint32_t i = 0; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        /* A receive that is posted early receives no sooner. */
        if (!stream->count || stream->type == OPERATION_RECEIVE ||
            operation_wait_count(&position->operations[stream->first]) ||
            look->timeline->moments[entry][stream->first + stream->count - 1].end >= look->early)
            continue;
        if (all_early || (look->twice && ready_at(look, entry, i) < look->early))
            return FOLLOWS_OTHERWISE;
        if (!look->twice)
            found = FOLLOWS_PERHAPS;
    }
    return found;
}

enum follows follows(const struct timeline *timeline, const struct program *twice)
{
    const double nearly = 1e-5;
    struct look look = {.timeline = timeline, .twice = twice};
    enum follows found = FOLLOWS_ALIKE;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++)
        look.end = fmax(look.end, end_of(&look, position_of(timeline, timeline->program, entry), entry));
    look.early = (1 - nearly) * look.end;
    for (uint32_t entry = 0; entry < timeline->rank_count && found != FOLLOWS_OTHERWISE; entry++) {
        enum follows one = look_at(&look, entry);
        found = one > found ? one : found;
    }
    return found;
}
