/* SPDX-License-Identifier: Apache-2.0 */
/* The actors of a rank and of its streams: they post, compute and wait, and the end of an operation sets off what waits
 * for it. See engine_simgrid.c. */
#include "simulator/engines/simgrid/run.h"

#include "base/arena.h"
#include "simulator/engines/simgrid/bridge.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdlib.h>

#include "simulator/engines/simgrid/services.h"

static double message_bytes(const struct rank *rank, uint32_t id)
{
    double bytes = operation_cost(rank->run->program, &rank->position->operations[id])->bytes;
    return bytes > 0 ? bytes : EMPTY_MESSAGE_BYTES;
}

/* ---- what the end of an operation sets off ---- */

/* Records the end of the message in flight. False while it is under way. */
static bool settle(struct stream_state *stream)
{
    if (!stream->in_flight)
        return true;
    if (bridge_comm_finish(stream->in_flight) < 0)
        return false;
    uint32_t id = stream->rank->position->streams[stream->index].first + stream->next - 1;
    stream->rank->times[id].end = bridge_wait(stream->in_flight);
    stream->in_flight = NULL;
    return true;
}

static void send_post(struct stream_state *stream, uint32_t id)
{
    struct rank *rank = stream->rank;
    stream->next++;
    rank->times[id].start = rank->times[id].data_start = simgrid_get_clock();
    while (simgrid_get_clock() <= rank->last_post)
        run_stagger(rank->run, 1);
    rank->last_post = simgrid_get_clock();
    double bytes = message_bytes(rank, id);
    stream->in_flight = bridge_send(stream->box, bytes);
    rank->run->activities++;
    if (rank->ghosts && rank->ghosts[id] != GHOST_NONE)
        ghosts_send(rank, rank->ghosts[id], rank->position->streams[stream->index].peer, bytes);
    count_done(rank->run);
}

/* Posts what can be posted of a send stream that the rank's actor serves. When a message has to queue, the stream gets
 * an actor of its own, which goes on from there. */
static void send_advance(struct stream_state *stream)
{
    struct rank *rank = stream->rank;
    const struct stream *description = &rank->position->streams[stream->index];
    while (stream->next < description->count && operation_ready(rank, description->first + stream->next)) {
        if (!settle(stream)) {
            stream->service = ACTOR_OWN;
            bridge_actor_start(rank->run->site, rank->run->places[rank->number], stream_actor, stream);
            return;
        }
        send_post(stream, description->first + stream->next);
    }
}

static void wake_sleepers(struct rank *rank, uint32_t id)
{
    for (struct sleeper **link = &rank->sleepers; *link;) {
        struct sleeper *sleeper = *link;
        if (sleeper->awaited == id) {
            *link = sleeper->next;
            sg_sem_release(sleeper->semaphore);
            link = &rank->sleepers; /* meanwhile others ran, who come and go */
        } else {
            link = &sleeper->next;
        }
    }
}

void operation_done(struct rank *rank, uint32_t id)
{
    const struct position *position = rank->position;
    if (rank->sleepers)
        wake_sleepers(rank, id);
    for (uint32_t i = position->first_dependent[id]; i < position->first_dependent[id + 1]; i++) {
        uint32_t dependent = position->dependents[i], index = position->operations[dependent].stream;
        struct stream_state *stream = &rank->streams[index];
        if (stream->service == SERVED_BY_RANK && position->streams[index].type == OPERATION_SEND)
            send_advance(stream);
        else if (stream->service == ACTOR_GROUP && operation_ready(rank, dependent))
            group_arrive(rank, index, dependent - position->streams[index].first);
    }
}

/* ---- waiting ---- */

static void sleep_until_done(struct rank *rank, uint32_t id)
{
    struct sleeper sleeper = {id, sg_sem_init(0), rank->sleepers};
    rank->sleepers = &sleeper;
    sg_sem_acquire(sleeper.semaphore);
    sg_sem_destroy(sleeper.semaphore);
}

/* Takes messages out of the mailbox up to and including index `last`. Their exact times follow from the sends. */
static void receive_until(struct stream_state *stream, uint32_t last)
{
    uint32_t first = stream->rank->position->streams[stream->index].first;
    while (stream->next <= last) {
        sg_mailbox_get(stream->box);
        stream->rank->times[first + stream->next++].end = simgrid_get_clock();
        count_done(stream->rank->run);
    }
}

static void await(struct rank *rank, uint32_t id)
{
    if (operation_is_done(rank, id))
        return;
    uint32_t index = rank->position->operations[id].stream;
    struct stream_state *stream = &rank->streams[index];
    if (stream->service == SERVED_BY_STREAM)
        receive_until(stream, id - rank->position->streams[index].first);
    else
        sleep_until_done(rank, id);
}

static void await_waits(struct rank *rank, uint32_t id)
{
    const struct operation *operation = &rank->position->operations[id];
    for (uint32_t i = 0; i < operation_wait_count(operation); i++)
        await(rank, operation_wait(rank->position, operation, i));
}

/* ---- the actors ---- */

static void compute(struct rank *rank, uint32_t id)
{
    await_waits(rank, id);
    const struct operation *operation = &rank->position->operations[id];
    double seconds = operation_cost(rank->run->program, operation)->seconds;
    seconds *= operation_factor(rank->run->program, operation, rank->run->program->mesh->replica_of[rank->number]);
    rank->times[id].start = rank->times[id].data_start = simgrid_get_clock();
    if (seconds > 0) {
        overlap_execute(rank, seconds);
        rank->run->activities++;
    }
    rank->times[id].end = simgrid_get_clock();
    count_done(rank->run);
    operation_done(rank, id);
}

/* A message in flight dies with the actor that sent it, and with the one that it is addressed to. */
static void drain(struct rank *rank)
{
    for (uint32_t i = 0; i < rank->position->stream_count; i++) {
        struct stream_state *stream = &rank->streams[i];
        const struct stream *description = &rank->position->streams[i];
        if (stream->service == SERVED_BY_STREAM && rank->position->streams[i].type == OPERATION_RECEIVE)
            receive_until(stream, description->count - 1);
        else if (stream->service == SERVED_BY_RANK && stream->in_flight) {
            rank->times[description->first + stream->next - 1].end = bridge_wait(stream->in_flight);
            stream->in_flight = NULL;
        }
    }
}

void rank_actor(void *argument)
{
    struct rank *rank = argument;
    run_await_beginning(rank->run);
    for (uint32_t i = 0; i < rank->position->stream_count; i++)
        if (rank->position->streams[i].type == OPERATION_SEND && rank->streams[i].service == SERVED_BY_RANK)
            send_advance(&rank->streams[i]);
    const struct stream *stream = &rank->position->streams[0];
    for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
        compute(rank, id);
    for (uint32_t i = 1; i < rank->position->stream_count; i++)
        if (rank->streams[i].service == ACTOR_OWN || rank->streams[i].service == ACTOR_GROUP)
            await(rank, rank->position->streams[i].first + rank->position->streams[i].count - 1);
    drain(rank);
}

/* ---- messages that do not wait until the one before has arrived ---- */

struct watch {
    struct stream_state *stream;
    uint32_t id;
    void *comm;
};

/* Sees a message arrive, after all those before it. */
static void watch_actor(void *argument)
{
    const struct watch *watch = argument;
    struct stream_state *stream = watch->stream;
    struct rank *rank = stream->rank;
    double end = bridge_wait(watch->comm);
    if (stream->in_flight == watch->comm)
        stream->in_flight = NULL;
    if (watch->id > rank->position->streams[stream->index].first) {
        if (!operation_is_done(rank, watch->id - 1))
            sleep_until_done(rank, watch->id - 1);
        end = fmax(end, rank->times[watch->id - 1].end);
    }
    rank->times[watch->id].end = end;
    operation_done(rank, watch->id);
}

static void watch_newest(struct stream_state *stream)
{
    struct run *run = stream->rank->run;
    uint32_t id = stream->rank->position->streams[stream->index].first + stream->next - 1;
    struct watch *watch = arena_alloc(run->arena, sizeof *watch);
    *watch = (struct watch){stream, id, stream->in_flight};
    bridge_actor_start(run->site, run->places[stream->rank->number], watch_actor, watch);
}

/* Until what is left of the newest message takes no longer than the next one's latency. Where others slow it down, how
 * long that is shows only by and by. */
static void await_departure(struct stream_state *stream)
{
    const struct rank *rank = stream->rank;
    const struct run *run = rank->run;
    struct platform_route route;
    stream_route(run->program, run->platform, run->hosts, rank->number, &rank->position->streams[stream->index],
                 &route);
    uint32_t newest = rank->position->streams[stream->index].first + stream->next - 1;
    if (stream->next && route.latency <= 0)
        await(stream->rank, newest);
    while (stream->in_flight) {
        /* Before its bytes move none of them is gone, and the latency is still ahead. */
        double begins = rank->times[newest].start + route.latency - simgrid_get_clock();
        double left = fmax(begins, 0) + bridge_comm_remaining(stream->in_flight) / route.bandwidth - route.latency;
        if (left <= 1e-3 * route.latency) {
            if (left > 0)
                sg_actor_sleep_for(left);
            return;
        }
        sg_actor_sleep_for(left);
    }
}

/* The whole stream. */
static void pipelined_sends(struct stream_state *stream)
{
    struct rank *rank = stream->rank;
    const struct stream *description = &rank->position->streams[stream->index];
    if (stream->in_flight)
        watch_newest(stream);
    while (stream->next < description->count) {
        await_waits(rank, description->first + stream->next);
        await_departure(stream);
        send_post(stream, description->first + stream->next);
        watch_newest(stream);
    }
    await(rank, description->first + description->count - 1); /* messages in flight die with their sender */
}

static void own_send(struct stream_state *stream, uint32_t id)
{
    await_waits(stream->rank, id);
    send_post(stream, id);
    stream->rank->times[id].end = bridge_wait(stream->in_flight);
    stream->in_flight = NULL;
}

static void own_delay(struct stream_state *stream, uint32_t id)
{
    struct rank *rank = stream->rank;
    await_waits(rank, id);
    stream->next++;
    rank->times[id].start = rank->times[id].data_start = simgrid_get_clock();
    sg_actor_sleep_for(operation_cost(rank->run->program, &rank->position->operations[id])->seconds);
    rank->times[id].end = simgrid_get_clock();
    count_done(rank->run);
}

/* Serves one stream to its end. A stream that was served by the rank before begins with the message in flight. */
void stream_actor(void *argument)
{
    struct stream_state *stream = argument;
    run_await_beginning(stream->rank->run);
    const struct stream *description = &stream->rank->position->streams[stream->index];
    if (description->type == OPERATION_SEND && stream->rank->run->program->pipelined) {
        pipelined_sends(stream);
        return;
    }
    if (stream->in_flight) {
        stream->rank->times[description->first + stream->next - 1].end = bridge_wait(stream->in_flight);
        stream->in_flight = NULL;
        operation_done(stream->rank, description->first + stream->next - 1);
    }
    while (stream->next < description->count) {
        uint32_t id = description->first + stream->next;
        if (description->type == OPERATION_SEND)
            own_send(stream, id);
        else if (description->type == OPERATION_RECEIVE)
            receive_until(stream, stream->next);
        else
            own_delay(stream, id);
        operation_done(stream->rank, id);
    }
}

/* ---- setting up ---- */
