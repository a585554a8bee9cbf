/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/drift.h"

#include "base/arena.h"
#include "simulator/program/extension.h"

#include <math.h>

/* Steps of times are equal that differ by no more than this share of the time itself. */
static const double rounding = 1e-14;
/* Places that are tried. */
enum { PLACES_MAX = 64 };

struct finder {
    const struct timeline *timeline;
    const struct beats *beats;
    struct drift *drift;
    double tolerance;
    uint32_t *members; /* scratch: ranks of a group */
};

static const struct position *position_at(const struct timeline *timeline, uint32_t entry)
{
    return &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[entry]]];
}

static const struct stream_beat *beat_at(const struct beats *beats, const struct timeline *timeline, uint32_t entry,
                                         uint32_t stream)
{
    return &beats->streams[timeline->program->mesh->position_of[timeline->ranks[entry]]][stream];
}

/* ---- the place ---- */

static uint32_t begun_before(const struct timeline *timeline, uint32_t entry, const struct stream *stream, double time)
{
    struct cycle_list list = {.moments = timeline->moments[entry] + stream->first, .count = stream->count};
    return cycle_begun(&list, time);
}

/* As many receives as there are messages sent; what else has begun. */
static uint32_t begun_of(const struct timeline *timeline, uint32_t entry, uint32_t index, double time)
{
    const struct stream *stream = &position_at(timeline, entry)->streams[index];
    const struct mesh *mesh = timeline->program->mesh;
    if (stream->type != OPERATION_RECEIVE)
        return begun_before(timeline, entry, stream, time);
    uint32_t peer = timeline->index_of[mesh_rank(mesh, stream->peer, mesh->replica_of[timeline->ranks[entry]])];
    return begun_before(timeline, peer, &position_at(timeline, peer)->streams[stream->opposite], time);
}

/* Three beats lie before the place; where no beat goes on nothing is under way. */
static bool is_behind_beats(const struct finder *finder, uint32_t entry, uint32_t index, double time)
{
    const struct stream *stream = &position_at(finder->timeline, entry)->streams[index];
    const struct stream_beat *beat = beat_at(finder->beats, finder->timeline, entry, index);
    uint32_t begun = finder->drift->begun[entry][index];
    if (begun < beat->from + 3 * beat->length || begun > beat->to)
        return false;
    return beat->length || !begun || finder->timeline->moments[entry][stream->first + begun - 1].end <= time;
}

static bool place_at(const struct finder *finder, double time)
{
    for (uint32_t entry = 0; entry < finder->timeline->rank_count; entry++)
        for (uint32_t i = 0; i < position_at(finder->timeline, entry)->stream_count; i++) {
            finder->drift->begun[entry][i] = begun_of(finder->timeline, entry, i, time);
            if (!is_behind_beats(finder, entry, i, time))
                return false;
        }
    return true;
}

/* ---- steps ---- */

static double step_of(const struct moment *moments, uint32_t id, uint32_t length)
{
    return moments[id].end - moments[id - length].end;
}

/* All three moments of an operation make the same step, the one of a beat before; a receive's start means nothing. */
static bool steps_alike(const struct finder *finder, const struct moment *moments, uint32_t id, uint32_t length,
                        bool receives)
{
    double step = step_of(moments, id, length);
    const struct moment *now = &moments[id], *before = &moments[id - length];
    return fabs(step_of(moments, id - length, length) - step) <= finder->tolerance &&
           fabs(now->data_start - before->data_start - step) <= finder->tolerance &&
           (receives || fabs(now->start - before->start - step) <= finder->tolerance);
}

/* Bounds the beats for which what ended at `end` with that step cannot have been the last that the operation waited
 * for; true where it was. */
static bool bound(const struct finder *finder, double start, double step, double end, double other)
{
    double behind = fmax(0, start - end), gain = other - step;
    if (gain > finder->tolerance) {
        double beats = floor(behind / gain);
        if (beats < finder->drift->holds)
            finder->drift->holds = (uint32_t)beats;
    }
    return behind <= finder->tolerance && fabs(gain) <= finder->tolerance;
}

/* The step of an operation that another waits for; 0 for one that does not belong to the beats. */
static double awaited_step(const struct finder *finder, uint32_t entry, uint32_t id)
{
    const struct position *position = position_at(finder->timeline, entry);
    uint32_t stream = position->operations[id].stream;
    uint32_t length = beat_at(finder->beats, finder->timeline, entry, stream)->length;
    if (!length || id - position->streams[stream].first < length)
        return 0;
    return step_of(finder->timeline->moments[entry], id, length);
}

/* Whether one of the things that the operation waits for explains its start. */
static bool follow_waits(const struct finder *finder, uint32_t entry, const struct stream *stream, uint32_t id,
                         uint32_t length)
{
    const struct position *position = position_at(finder->timeline, entry);
    const struct moment *moments = finder->timeline->moments[entry];
    const struct operation *operation = &position->operations[id];
    double start = moments[id].start, step = start - moments[id - length].start;
    bool explained =
        id > stream->first && bound(finder, start, step, moments[id - 1].end, awaited_step(finder, entry, id - 1));
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        uint32_t awaited = operation_wait(position, operation, i);
        explained |= bound(finder, start, step, moments[awaited].end, awaited_step(finder, entry, awaited));
    }
    return explained;
}

static bool stream_drifts(const struct finder *finder, uint32_t entry, uint32_t index)
{
    const struct stream *stream = &position_at(finder->timeline, entry)->streams[index];
    uint32_t length = beat_at(finder->beats, finder->timeline, entry, index)->length;
    uint32_t end = stream->first + finder->drift->begun[entry][index];
    bool receives = stream->type == OPERATION_RECEIVE;
    for (uint32_t id = end - length; id < end; id++) {
        if (!steps_alike(finder, finder->timeline->moments[entry], id, length, receives))
            return false;
        if (!receives && !follow_waits(finder, entry, stream, id, length))
            return false;
    }
    return true;
}

/* ---- collectives ---- */

/* Members are at the same collective, and all that they did in the last beat makes the same steps. */
static bool members_agree(const struct finder *finder, uint32_t group, uint32_t instance)
{
    const struct timeline *timeline = finder->timeline;
    const struct group *members = &timeline->program->groups[group];
    uint32_t size = group_size(timeline->program, members), begun = 0;
    const struct moment *first = NULL;
    group_ranks(timeline->program, members, instance, finder->members);
    for (uint32_t m = 0; m < size; m++) {
        uint32_t entry = timeline->index_of[finder->members[m]];
        const struct position *position = position_at(timeline, entry);
        uint32_t index = position_group_stream(position, group);
        uint32_t length = beat_at(finder->beats, timeline, entry, index)->length;
        const struct moment *own = timeline->moments[entry] + position->streams[index].first;
        if (!first) {
            first = own;
            begun = finder->drift->begun[entry][index];
        }
        if (finder->drift->begun[entry][index] != begun)
            return false;
        for (uint32_t i = begun - length; i < begun; i++)
            if (fabs(step_of(own, i, length) - step_of(first, i, length)) > finder->tolerance)
                return false;
    }
    return true;
}

static bool collectives_agree(const struct finder *finder)
{
    const struct program *program = finder->timeline->program;
    for (uint32_t group = 0; group < program->group_count; group++)
        for (uint32_t i = 0;
             program->groups[group].collective_count && i < group_instances(program, &program->groups[group]); i++)
            if (!members_agree(finder, group, i))
                return false;
    return true;
}

/* ---- the search ---- */

static bool drifts(struct finder *finder, double time)
{
    finder->drift->holds = UINT32_MAX;
    finder->tolerance = rounding * time;
    if (!place_at(finder, time) || !collectives_agree(finder))
        return false;
    for (uint32_t entry = 0; entry < finder->timeline->rank_count; entry++)
        for (uint32_t i = 0; i < position_at(finder->timeline, entry)->stream_count; i++)
            if (!stream_drifts(finder, entry, i))
                return false;
    return finder->drift->holds > 0;
}

bool drift_find(const struct beats *beats, const struct timeline *timeline, struct arena *arena, struct drift *drift)
{
    struct finder finder = {.timeline = timeline,
                            .beats = beats,
                            .drift = drift,
                            .members = arena_array(arena, timeline->program->mesh->ranks, sizeof(uint32_t))};
    drift->begun = arena_array(arena, timeline->rank_count, sizeof *drift->begun);
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++)
        drift->begun[entry] = arena_array(arena, position_at(timeline, entry)->stream_count + 1, sizeof **drift->begun);
    const struct stream_beat *pacer = beat_at(beats, timeline, 0, 0);
    const struct stream *stream = &position_at(timeline, 0)->streams[0];
    for (uint32_t place = pacer->to, tried = 0; place > pacer->from && pacer->length && tried < PLACES_MAX; tried++)
        if (drifts(&finder, timeline->moments[0][stream->first + --place].start))
            return true;
    return false;
}

/* ---- the times ---- */

static struct moment moved(const struct moment *moments, uint32_t place, uint32_t last, uint32_t length, double beats)
{
    double by = beats * step_of(moments, last, length);
    const struct moment *moment = &moments[place];
    return (struct moment){moment->start + by, moment->data_start + by, moment->end + by};
}

/* The operation of the last beat that stands where this one does. */
static uint32_t in_last_beat(uint32_t place, uint32_t begun, uint32_t length)
{
    return begun - 1 - (begun - 1 - place) % length;
}

void drift_resume(const struct drift *drift, const struct beats *beats, const struct timeline *part, uint32_t more,
                  struct timeline *resumed)
{
    for (uint32_t entry = 0; entry < part->rank_count; entry++)
        for (uint32_t i = 0; i < position_at(part, entry)->stream_count; i++) {
            const struct stream *stream = &position_at(part, entry)->streams[i];
            const struct stream_beat *beat = beat_at(beats, part, entry, i);
            const struct moment *from = part->moments[entry] + stream->first;
            struct moment *to = resumed->moments[entry] + stream->first;
            uint32_t begun = drift->begun[entry][i];
            for (uint32_t place = 0; place < begun; place++)
                to[place] = beat->length && place >= beat->from
                                ? moved(from, place, in_last_beat(place, begun, beat->length), beat->length, more)
                                : from[place];
        }
}

static void fill_stream(const struct moment *part, const struct moment *resumed, uint32_t begun, uint32_t length,
                        uint32_t more, uint32_t count, struct moment *whole)
{
    uint32_t jump = more * length;
    for (uint32_t place = 0; place < count; place++) {
        if (place < begun) {
            whole[place] = part[place];
        } else if (place < begun + jump) {
            uint32_t last = in_last_beat(begun - length + (place - begun) % length, begun, length);
            whole[place] = moved(part, last, last, length, 1 + (place - begun) / length);
        } else {
            whole[place] = resumed[place - jump];
        }
    }
}

static double last_end(const struct timeline *timeline)
{
    double last = 0;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        const struct stream *stream = &position_at(timeline, entry)->streams[0];
        if (stream->count)
            last = fmax(last, timeline->moments[entry][stream->first + stream->count - 1].end);
    }
    return last;
}

void drift_fill(const struct drift *drift, const struct beats *beats, const struct timeline *part,
                const struct timeline *resumed, uint32_t more, struct timeline *whole)
{
    for (uint32_t entry = 0; entry < part->rank_count; entry++)
        for (uint32_t i = 0; i < position_at(part, entry)->stream_count; i++) {
            const struct stream *shorter = &position_at(part, entry)->streams[i],
                                *longer = &position_at(whole, entry)->streams[i];
            fill_stream(part->moments[entry] + shorter->first, resumed->moments[entry] + shorter->first,
                        drift->begun[entry][i], beat_at(beats, part, entry, i)->length, more, longer->count,
                        whole->moments[entry] + longer->first);
        }
    extension_settle(whole, rounding * last_end(whole));
}
