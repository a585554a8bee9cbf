/* SPDX-License-Identifier: Apache-2.0 */
/* The other side of messages and collectives on a timeline. */
#ifndef STAGESIM_PARTNER_H
#define STAGESIM_PARTNER_H

#include "simulator/program/timeline.h"

static inline const struct position *timeline_position(const struct timeline *timeline, uint32_t entry)
{
    return &timeline->program->positions[timeline->program->mesh->position_of[timeline->ranks[entry]]];
}

/* The rank at the other end of a message stream of `rank`. */
static inline uint32_t partner_rank(const struct program *program, uint32_t rank, const struct stream *stream)
{
    return mesh_rank(program->mesh, stream->peer, program->mesh->replica_of[rank]);
}

/* The id at the other end of message `id` of that stream: the k-th send meets the k-th receive. */
static inline uint32_t partner_id(const struct program *program, const struct stream *stream, uint32_t id)
{
    return program->positions[stream->peer].streams[stream->opposite].first + (id - stream->first);
}

/* Whether a member of a collective can have a part in when another one ends: it came before, or both end together. */
static inline bool moment_bears_on(const struct moment *member, const struct moment *other)
{
    return member->start < other->end || member->end >= other->end;
}

/* The position's stream of collectives in a group; NULL when it is no member. */
static inline const struct stream *partner_collectives(const struct position *position, uint32_t group)
{
    for (uint32_t i = 1; i < position->stream_count; i++)
        if (position->streams[i].type == OPERATION_COLLECTIVE && position->streams[i].peer == group)
            return &position->streams[i];
    return NULL;
}

#endif
