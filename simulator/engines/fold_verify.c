/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/fold_proof.h"

#include "base/arena.h"
#include "simulator/collectives/assignment.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Ghost messages that end within this share of the time of their class's message are like it. */
static const double tolerance = 1e-9;

void folding_prepare(struct folding *folding)
{
    if (folding->ghost_ends)
        munmap(folding->ghost_ends, folding->ghost_bytes);
    size_t count = (size_t)folding->ghost_count * folding->proof->program->mesh->ranks;
    folding->ghost_bytes = (count ? count : 1) * sizeof *folding->ghost_ends;
    folding->ghost_ends = mmap(NULL, folding->ghost_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (folding->ghost_ends == MAP_FAILED)
        folding->ghost_ends = NULL;
}

static bool overlap(const struct moment *a, const struct moment *b)
{
    return a->data_start < b->end && b->data_start < a->end;
}

static bool mark(struct folding *folding, uint32_t position, uint32_t id)
{
    if (folding->ghosts[position][id] != GHOST_NONE)
        return false;
    folding->ghosts[position][id] = folding->ghost_count++;
    return true;
}

/* Times of a sender's messages in a slice. */
struct messages {
    const struct moment *times;
    uint32_t first, count;
};

static struct messages messages_of(const struct fold_proof *proof, const struct timeline *timeline,
                                   const struct fold_sender *sender, uint32_t slice)
{
    const struct stream *stream = &proof->program->positions[sender->position].streams[sender->stream];
    uint32_t rank = sender->rank + slice * proof->folding->stride;
    return (struct messages){timeline_rank(timeline, rank) + stream->first, stream->first, stream->count};
}

/* Marks messages that move while one rank is at collectives of a group: from its arrival on, for its flows with those
 * that are there may move before others come. Both are ordered in time, so one walk suffices. */
static bool mark_against_rank(struct folding *folding, const struct messages *messages, uint32_t position,
                              const struct moment *collectives, const struct stream *stream, bool together)
{
    bool marked = false;
    const struct moment *end = collectives + stream->count;
    for (uint32_t i = 0; i < messages->count; i++) {
        while (collectives < end && collectives->end <= messages->times[i].data_start)
            collectives++;
        double start = collectives < end ? together ? collectives->data_start : collectives->start : INFINITY;
        if (messages->times[i].end > start)
            marked |= mark(folding, position, messages->first + i);
    }
    return marked;
}

/* Whether all collectives of a group begin with their last member. */
static bool begins_together(const struct fold_proof *proof, uint32_t group)
{
    uint32_t count;
    const struct collective_flows *const *sets = assignment_all_flows(proof->program, group, &count);
    for (uint32_t i = 0; i < count; i++)
        if (sets[i]->start != START_TOGETHER)
            return false;
    return true;
}

/* Collectives of a coupling group that begin together take the same time on all members, so one rank per instance tells
 * them; of others every simulated member has its own, and ghosts are like their equals. */
static bool mark_against_group(struct folding *folding, const struct timeline *timeline,
                               const struct fold_sender *sender, uint32_t slice, uint32_t number)
{
    const struct fold_proof *proof = folding->proof;
    const struct group *group = &proof->program->groups[number];
    struct messages messages = messages_of(proof, timeline, sender, slice);
    bool marked = false, together = begins_together(proof, number);
    for (uint32_t i = 0; i < (together ? 1 : group->position_count); i++) {
        const struct position *position = &proof->program->positions[group->positions[i]];
        const struct stream *stream = &position->streams[position_group_stream(position, number)];
        for (uint32_t replica = 0; replica < proof->program->mesh->replicas; replica++) {
            uint32_t rank = mesh_rank(proof->program->mesh, group->positions[i], replica);
            if (together ? fold_slice(proof, rank) == 0 : timeline_simulates(timeline, rank))
                marked |= mark_against_rank(folding, &messages, sender->position,
                                            timeline_rank(timeline, rank) + stream->first, stream, together);
        }
    }
    return marked;
}

/* Marks messages of one sender that move together with marked messages of another. */
static bool mark_against_sender(struct folding *folding, const struct messages *messages, uint32_t position,
                                const struct messages *others, uint32_t other_position)
{
    bool marked = false;
    for (uint32_t i = 0, k = 0; i < messages->count; i++) {
        while (k < others->count && others->times[k].end <= messages->times[i].data_start)
            k++;
        for (uint32_t next = k; next < others->count && overlap(&messages->times[i], &others->times[next]); next++)
            if (folding->ghosts[other_position][others->first + next] != GHOST_NONE)
                marked |= mark(folding, position, messages->first + i);
    }
    return marked;
}

static bool mark_neighbours(struct folding *folding, const struct timeline *timeline, uint32_t slice)
{
    const struct fold_proof *proof = folding->proof;
    bool marked = false;
    for (size_t i = 0; i < proof->neighbours.count; i++) {
        const struct fold_sender *sender = &proof->senders[proof->neighbours.items[i].link];
        const struct fold_sender *other = &proof->senders[proof->neighbours.items[i].other];
        struct messages messages = messages_of(proof, timeline, sender, slice),
                        others = messages_of(proof, timeline, other, slice);
        marked |= mark_against_sender(folding, &messages, sender->position, &others, other->position);
    }
    return marked;
}

static bool mark_slice(struct folding *folding, const struct timeline *timeline, uint32_t slice)
{
    const struct fold_proof *proof = folding->proof;
    bool marked = false;
    for (size_t i = 0; i < proof->conflicts.count; i++)
        marked |= mark_against_group(folding, timeline, &proof->senders[proof->conflicts.items[i].link], slice,
                                     proof->conflicts.items[i].other);
    while (folding->ghost_count && mark_neighbours(folding, timeline, slice))
        marked = true;
    return marked;
}

/* ---- classes ---- */

static double ghost_end(const struct folding *folding, const struct timeline *timeline, uint32_t ghost, uint32_t id,
                        uint32_t rank)
{
    if (timeline_simulates(timeline, rank))
        return timeline_rank(timeline, rank)[id].end;
    return folding->ghost_ends[(size_t)ghost * folding->proof->program->mesh->ranks + rank];
}

/* Whether all ghost messages of two slices end at the same times. */
static bool ends_alike(const struct folding *folding, const struct timeline *timeline, uint32_t slice, uint32_t other)
{
    const struct fold_proof *proof = folding->proof;
    for (size_t i = 0; i < proof->sender_count; i++) {
        const struct fold_sender *sender = &proof->senders[i];
        const struct stream *stream = &proof->program->positions[sender->position].streams[sender->stream];
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
            uint32_t ghost = folding->ghosts[sender->position][id];
            if (ghost == GHOST_NONE)
                continue;
            double a = ghost_end(folding, timeline, ghost, id, sender->rank + slice * folding->stride);
            double b = ghost_end(folding, timeline, ghost, id, sender->rank + other * folding->stride);
            if (!(fabs(a - b) <= tolerance * a))
                return false;
        }
    }
    return true;
}

/* Splits slices off whose ghost messages end at other times than those of their class; those that agree form a new
 * class. */
static bool split_classes(struct folding *folding, const struct timeline *timeline)
{
    bool split = false;
    for (uint32_t slice = 0; slice < folding->slices; slice++) {
        uint32_t old = folding->class_of[slice];
        if (old == slice || ends_alike(folding, timeline, old, slice))
            continue;
        uint32_t fresh = old + 1;
        while (fresh < slice && !(folding->class_of[fresh] == fresh && ends_alike(folding, timeline, fresh, slice)))
            fresh++;
        folding->class_of[slice] = fresh;
        folding->classes += fresh == slice;
        split = true;
    }
    return split;
}

bool folding_meets(struct folding *folding, const struct timeline *timeline)
{
    bool marked = false;
    for (uint32_t slice = 0; slice < folding->slices; slice++)
        if (timeline_simulates(timeline, slice * folding->stride))
            marked |= mark_slice(folding, timeline, slice);
    return marked;
}

enum fold_verdict folding_verify(struct folding *folding, const struct timeline *timeline)
{
    if (folding->ghost_count && !folding->ghost_ends)
        return FOLD_REFUTED;
    /* Ghosts that are marked from here on have not been sent yet. */
    bool again = split_classes(folding, timeline);
    again |= folding_meets(folding, timeline);
    if (2 * folding->classes > folding->slices)
        return FOLD_REFUTED;
    return again ? FOLD_AGAIN : FOLD_PROVEN;
}
