/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/sensitivity.h"

#include "analysis/figures/partner.h"
#include "base/arena.h"
#include "simulator/collectives/assignment.h"
#include "simulator/collectives/estimate.h"
#include "simulator/program/stream_route.h"

#include <math.h>

/* Flows as an instance of their group carries them out. */
struct estimated {
    const struct collective_flows *flows;
    uint32_t instance;
    struct estimate estimate;
    struct estimated *next;
};

struct reading {
    const struct timeline *timeline;
    struct platform *platform;
    const uint32_t *hosts;
    uint32_t *members;           /* scratch */
    struct estimated *estimated; /* the newest first: a path stays with a few groups for long */
    struct arena *arena;
};

/* What of a transfer's time does not depend on its bytes. */
struct start_up {
    double latency, fixed;
};

static const struct estimate *estimate_of(struct reading *reading, const struct group *group, uint32_t instance,
                                          const struct collective_flows *flows)
{
    const struct program *program = reading->timeline->program;
    struct estimated *estimated = reading->estimated;
    while (estimated && (estimated->flows != flows || estimated->instance != instance))
        estimated = estimated->next;
    if (estimated)
        return &estimated->estimate;
    group_ranks(program, group, instance, reading->members);
    for (uint32_t i = 0; i < group_size(program, group); i++)
        reading->members[i] = reading->hosts[reading->members[i]];
    estimated = arena_alloc(reading->arena, sizeof *estimated);
    *estimated =
        (struct estimated){flows, instance, estimate_create(flows, reading->platform, reading->members, reading->arena),
                           reading->estimated};
    reading->estimated = estimated;
    return &estimated->estimate;
}

/* Of a collective that nothing else disturbs: start-ups of its flows, and its launch. */
static struct start_up collective_start_up(struct reading *reading, uint32_t rank, const struct stream *stream,
                                           const struct operation *operation)
{
    const struct program *program = reading->timeline->program;
    const struct group *group = &program->groups[stream->peer];
    const struct stagesim_cost *cost = operation_cost(program, operation);
    const struct collective_flows *flows = assignment_flows(program, stream->peer, operation);
    struct collective_choice choice = assignment_choose(program, stream->peer, operation);
    double repeats = fmax(cost->repeats, 1);
    if (!flows)
        return (struct start_up){0};
    uint32_t instance = group_instance_of(program, group, program->mesh->replica_of[rank]);
    double latency =
        estimate_latency(estimate_of(reading, group, instance, flows), &choice.ratios, cost->bytes / repeats);
    return (struct start_up){repeats * latency, repeats * choice.delay};
}

/* Of the transfer that a step of the path stands for. */
static struct start_up step_start_up(struct reading *reading, struct critical_step step)
{
    const struct position *position = timeline_position(reading->timeline, step.entry);
    const struct operation *operation = &position->operations[step.id];
    const struct stream *stream = &position->streams[operation->stream];
    uint32_t rank = reading->timeline->ranks[step.entry];
    if (operation->type == OPERATION_COLLECTIVE)
        return collective_start_up(reading, rank, stream, operation);
    const struct program *program = reading->timeline->program;
    bool receives = operation->type == OPERATION_RECEIVE;
    const struct stream *sends = receives ? &program->positions[stream->peer].streams[stream->opposite] : stream;
    struct platform_route route;
    stream_route(program, reading->platform, reading->hosts, receives ? partner_rank(program, rank, stream) : rank,
                 sends, &route);
    return (struct start_up){.latency = route.latency};
}

/* Whether a message stands behind the one before it in its stream: the latency of a pipelined one is over by then. */
static bool follows_message(const struct timeline *timeline, struct critical_step before, struct critical_step step)
{
    const struct position *position = timeline_position(timeline, step.entry);
    const struct stream *stream = &position->streams[position->operations[step.id].stream];
    if (!timeline->latencies || (stream->type != OPERATION_SEND && stream->type != OPERATION_RECEIVE))
        return false;
    struct critical_step send = step;
    if (stream->type == OPERATION_RECEIVE)
        send = (struct critical_step){
            .entry = timeline->index_of[partner_rank(timeline->program, timeline->ranks[step.entry], stream)],
            .id = partner_id(timeline->program, stream, step.id)};
    const struct operation *operations = timeline_position(timeline, send.entry)->operations;
    return before.entry == send.entry && before.id - before.skipped + 1 == send.id &&
           operations[before.id].stream == operations[send.id].stream;
}

struct sensitivity sensitivity_of(const struct frame *frame, const struct critical_path *path,
                                  struct platform *platform, const uint32_t *hosts, struct arena *arena)
{
    const struct timeline *timeline = frame->timeline;
    struct reading reading = {
        timeline, platform, hosts, arena_array(arena, timeline->program->mesh->ranks, sizeof(uint32_t)), NULL, arena};
    struct sensitivity sensitivity = {0};
    double before = path->begin;
    for (size_t i = 0; i < path->step_count; i++) {
        struct critical_step step = path->steps[i];
        uint8_t type = timeline_position(timeline, step.entry)->operations[step.id].type;
        double end = critical_end(timeline, step), length = end - before;
        before = end;
        if (type == OPERATION_COMPUTE || type == OPERATION_DELAY) {
            *(type == OPERATION_COMPUTE ? &sensitivity.compute : &sensitivity.fixed) += length;
            continue;
        }
        struct start_up start_up = step_start_up(&reading, step);
        if (i > 0 && follows_message(timeline, path->steps[i - 1], step))
            start_up.latency = 0;
        double fixed = fmin(length, start_up.fixed), latency = fmin(length - fixed, start_up.latency);
        sensitivity.fixed += fixed;
        sensitivity.latency += latency;
        sensitivity.bandwidth += length - fixed - latency;
    }
    return sensitivity;
}
