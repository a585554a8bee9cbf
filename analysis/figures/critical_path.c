/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/critical_path.h"

#include "analysis/figures/partner.h"
#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    const struct frame *frame;
    const struct timeline *timeline;
    uint32_t *ranks; /* scratch: members of a group */
    uint32_t cycles; /* that the path has not come to of those that the whole job has more */
};

static const struct moment *moment_at(const struct timeline *timeline, struct critical_step at)
{
    return &timeline->moments[at.entry][at.id];
}

/* Of the operation before it in its stream and those that it waits for, the one that ends last. A pipelined message
 * needs the one before only when its own latency is over. False: none. */
static bool last_awaited(const struct timeline *timeline, struct critical_step at, struct critical_step *before)
{
    const struct position *position = timeline_position(timeline, at.entry);
    const struct operation *operation = &position->operations[at.id];
    const struct moment *moments = timeline->moments[at.entry];
    bool found = at.id > position->streams[operation->stream].first;
    *before = (struct critical_step){.entry = at.entry, .id = at.id - 1, .later = at.later};
    double latest = found ? moments[before->id].end - timeline_send_latency(timeline, at.entry, operation) : 0;
    for (uint32_t i = 0; i < operation_wait_count(operation); i++) {
        uint32_t awaited = operation_wait(position, operation, i);
        if (!found || moments[awaited].end > latest) {
            before->id = awaited;
            latest = moments[awaited].end;
        }
        found = true;
    }
    return found;
}

/* The member that arrived last at a collective, itself if equal; where members end apart, of those that came before it
 * ended. */
static struct critical_step last_member(const struct walk *walk, struct critical_step at)
{
    const struct timeline *timeline = walk->timeline;
    const struct program *program = timeline->program;
    const struct position *position = timeline_position(timeline, at.entry);
    const struct stream *stream = &position->streams[position->operations[at.id].stream];
    const struct group *group = &program->groups[stream->peer];
    uint32_t replica = program->mesh->replica_of[timeline->ranks[at.entry]], size = group_size(program, group);
    group_ranks(program, group, group_instance_of(program, group, replica), walk->ranks);
    struct critical_step last = at;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t entry = timeline->index_of[walk->ranks[i]];
        const struct stream *theirs = partner_collectives(timeline_position(timeline, entry), stream->peer);
        struct critical_step member = {
            .entry = entry, .id = theirs->first + (at.id - stream->first), .later = at.later};
        const struct moment *other = moment_at(timeline, member);
        if (other->start > moment_at(timeline, last)->start && moment_bears_on(other, moment_at(timeline, at)))
            last = member;
    }
    return last;
}

/* What let an operation end when it did. False: it stood at the beginning. */
static bool step_before(const struct walk *walk, struct critical_step at, struct critical_step *before)
{
    const struct timeline *timeline = walk->timeline;
    const struct position *position = timeline_position(timeline, at.entry);
    const struct operation *operation = &position->operations[at.id];
    const struct stream *stream = &position->streams[operation->stream];
    if (operation->type == OPERATION_RECEIVE) {
        uint32_t rank = partner_rank(timeline->program, timeline->ranks[at.entry], stream);
        at = (struct critical_step){
            .entry = timeline->index_of[rank], .id = partner_id(timeline->program, stream, at.id), .later = at.later};
    } else if (operation->type == OPERATION_COLLECTIVE) {
        at = last_member(walk, at);
    }
    return last_awaited(timeline, at, before);
}

/* An operation that ended before the cycle is, in the whole job, the one that ended a cycle later, in the cycle before.
 * False: that one did not, which is not looked into. */
static bool go_back(struct walk *walk, struct critical_step *at)
{
    const struct steady *more = walk->frame->more;
    const struct timeline *timeline = walk->timeline;
    while (walk->cycles && moment_at(timeline, *at)->end <= more->start) {
        const struct position *position = timeline_position(timeline, at->entry);
        uint32_t stream = position->operations[at->id].stream;
        uint32_t index = (uint32_t)(position - timeline->program->positions);
        uint32_t advance = more->beats->streams[index][stream].length * more->cycle_beats;
        double end = moment_at(timeline, *at)->end + more->length,
               nearly = timeline->rounding * more->length + CLOCK_ROUNDING * end;
        at->id += advance;
        at->skipped += advance;
        at->later -= more->length;
        walk->cycles--;
        if (at->id >= position->streams[stream].first + position->streams[stream].count ||
            !(fabs(moment_at(timeline, *at)->end - end) <= nearly))
            return false;
    }
    return true;
}

static double *share_of(struct critical_path *path, uint8_t type)
{
    switch (type) {
    case OPERATION_COMPUTE:
        return &path->compute;
    case OPERATION_COLLECTIVE:
        return &path->collective;
    case OPERATION_DELAY:
        return &path->delay;
    default:
        return &path->receive;
    }
}

/* The first operation (by rank, then id) of an iteration that ends last. False: the iteration is empty. */
static bool last_operation(const struct timeline *timeline, uint32_t iteration, struct critical_step *last)
{
    bool found = false;
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        const struct position *position = timeline_position(timeline, entry);
        for (uint32_t id = 0; id < position->operation_count; id++) {
            if (position->operations[id].iteration != iteration)
                continue;
            if (found && timeline->moments[entry][id].end <= moment_at(timeline, *last)->end)
                continue;
            *last = (struct critical_step){.entry = entry, .id = id};
            found = true;
        }
    }
    return found;
}

static void reverse(struct critical_step *steps, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        struct critical_step step = steps[i];
        steps[i] = steps[count - 1 - i];
        steps[count - 1 - i] = step;
    }
}

/* Where the path that ends with an iteration begins: where that one, or where the cycle does. */
static double path_begin(const struct frame *frame, uint32_t iteration)
{
    if (frame->cycle.beats)
        return frame->ends[iteration] - frame->cycle.length;
    return frame->steady || frame->joined ? frame->ends[iteration - 1] : frame->starts[iteration];
}

/* Puts down the steps, the last one first; returns where there is room for them. */
static struct critical_step *walk_back(struct walk *walk, uint32_t iteration, struct critical_path *path)
{
    const struct timeline *timeline = walk->timeline;
    struct critical_step *steps = NULL, at, before;
    size_t capacity = 0;
    bool more = last_operation(timeline, iteration, &at);
    at.later = frame_more_seconds(walk->frame);
    while (more && !path->lost) {
        steps = array_grow(steps, &capacity, path->step_count + 1, sizeof *steps);
        steps[path->step_count++] = at;
        more = step_before(walk, at, &before);
        path->lost = more && !go_back(walk, &before);
        more = more && critical_end(timeline, before) > path->begin;
        double length = critical_end(timeline, at) - (more ? critical_end(timeline, before) : path->begin);
        *share_of(path, timeline_position(timeline, at.entry)->operations[at.id].type) += length;
        at = before;
    }
    return steps;
}

struct critical_path *critical_path_create(const struct frame *frame, struct arena *arena)
{
    const struct timeline *timeline = frame->timeline;
    struct critical_path *path = arena_alloc(arena, sizeof *path);
    struct walk walk = {.frame = frame,
                        .timeline = timeline,
                        .ranks = arena_array(arena, timeline->program->mesh->ranks, sizeof *walk.ranks),
                        .cycles = frame->more ? frame->more->cycles : 0};
    uint32_t iteration = frame->first_measured + frame->measured - 1;
    path->begin = path_begin(frame, iteration);
    struct critical_step *steps = walk_back(&walk, iteration, path);
    path->step_count = path->lost ? 0 : path->step_count;
    reverse(steps, path->step_count);
    path->length = frame->ends[iteration] + frame_more_seconds(frame) - path->begin;
    path->steps = arena_array(arena, path->step_count + 1, sizeof *steps);
    if (path->step_count)
        memcpy(path->steps, steps, path->step_count * sizeof *steps);
    free(steps);
    return path;
}
