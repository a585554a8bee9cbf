/* SPDX-License-Identifier: Apache-2.0 */
/* Which actor serves a stream, and how many actors that makes. */
#include "base/arena.h"
#include "simulator/engines/simgrid/run.h"

#include "simulator/engines/simgrid/services.h"

/* True when every operation that waits for one of the stream's operations is in one other stream; *only is that stream.
 */
static bool sole_waiter(const struct position *position, const struct stream *stream, uint32_t *only)
{
    *only = UINT32_MAX;
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
        for (uint32_t i = position->first_dependent[id]; i < position->first_dependent[id + 1]; i++) {
            uint32_t waiter = position->operations[position->dependents[i]].stream;
            if (*only != UINT32_MAX && waiter != *only)
                return false;
            *only = waiter;
        }
    return true;
}

/* True when the rank's own actor is the one that sees all that the stream waits for end, and nobody waits for the
 * stream. */
static bool served_in_passing(const struct position *position, const struct stream *stream)
{
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++) {
        const struct operation *operation = &position->operations[id];
        if (position->first_dependent[id] != position->first_dependent[id + 1])
            return false;
        for (uint32_t i = 0; i < operation_wait_count(operation); i++)
            if (position->operations[operation_wait(position, operation, i)].stream != 0)
                return false;
    }
    return true;
}

static enum service choose_service(const struct position *position, uint32_t index)
{
    const struct stream *stream = &position->streams[index];
    if (stream->type == OPERATION_COMPUTE)
        return SERVED_BY_RANK;
    if (stream->type == OPERATION_COLLECTIVE)
        return ACTOR_GROUP;
    if (stream->type == OPERATION_SEND && stream->kind == STAGESIM_LOAD)
        return ACTOR_OWN; /* it sends from another host than the rank's */
    if (stream->type == OPERATION_SEND)
        return served_in_passing(position, stream) ? SERVED_BY_RANK : ACTOR_OWN;
    uint32_t waiter;
    if (stream->type == OPERATION_RECEIVE && sole_waiter(position, stream, &waiter) &&
        (waiter == UINT32_MAX || position->streams[waiter].type == OPERATION_COMPUTE))
        return SERVED_BY_STREAM;
    return ACTOR_OWN;
}

enum service *stream_services(const struct position *position, struct arena *arena)
{
    enum service *services = arena_array(arena, position->stream_count, sizeof *services);
    for (uint32_t i = 0; i < position->stream_count; i++)
        services[i] = choose_service(position, i);
    return services;
}

/* Those of a stream: where messages are pipelined, each may have one. */
static uint32_t expected_actors(const struct run *run, const struct rank *rank, uint32_t index)
{
    const struct stream *stream = &rank->position->streams[index];
    if (stream->type == OPERATION_SEND && run->program->pipelined)
        return stream->count;
    return rank->streams[index].service == ACTOR_OWN;
}

uint64_t run_count_actors(const struct run *run)
{
    uint64_t actors = run->timeline->rank_count + drivers_actor_count(&run->drivers);
    for (uint32_t index = 0; index < run->timeline->rank_count; index++)
        for (uint32_t i = 0; i < run->ranks[index].position->stream_count; i++)
            actors += expected_actors(run, &run->ranks[index], i);
    return actors;
}
