/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/idle.h"

#include "analysis/figures/busy.h"
#include "analysis/figures/partner.h"
#include "base/arena.h"
#include "base/sum.h"

#include <math.h>
#include <stdlib.h>

const char *const idle_names[IDLE_PARTS] = {
    [IDLE_ORDER] = "order",
    [IDLE_IMBALANCE] = "imbalance",
    [IDLE_TRANSFER] = "transfer",
    [IDLE_CONTENTION] = "contention",
};

const char *const idle_definitions[IDLE_PARTS] = {
    [IDLE_ORDER] = "Filling, draining and waiting that the schedule makes by itself, even if data moved in no time",
    [IDLE_IMBALANCE] = "Ranks have less to compute than the busiest one",
    [IDLE_TRANSFER] = "Data move, each transfer as if alone on the network",
    [IDLE_CONTENTION] = "Transfers slow each other down",
};

struct idle_run idle_run_of(const struct frame *frame)
{
    const struct timeline *timeline = frame->timeline;
    const struct mesh *mesh = timeline->program->mesh;
    struct idle_run run = {.iteration = frame->iteration};
    struct sum busy = {0, 0};
    size_t none = 0;
    double *seconds = array_grow(NULL, &none, (size_t)timeline->rank_count + 1, sizeof *seconds);
    for (uint32_t entry = 0; entry < timeline->rank_count; entry++) {
        seconds[entry] = busy_seconds(frame, entry);
        run.busy_max = fmax(run.busy_max, seconds[entry]);
    }
    for (uint32_t rank = 0; rank < mesh->ranks; rank++) /* those that only feed others are not busy at any time */
        sum_add(&busy, seconds[timeline->index_of[rank]]);
    free(seconds);
    run.busy = sum_total(&busy) / program_counted_ranks(timeline->program);
    return run;
}

struct idle_split idle_split_of(const struct frame *frame, const struct idle_timelines *timelines, struct arena *arena)
{
    bool runs = timelines->free || timelines->free_time;
    struct idle_split split = {.known = runs && timelines->alone && frame->iteration > 0};
    if (!split.known)
        return split;
    struct idle_run real = idle_run_of(frame);
    split.free = timelines->free_time ? *timelines->free_time : idle_run_of(frame_create(timelines->free, arena));
    split.alone = timelines->alone == frame->timeline ? real : idle_run_of(frame_create(timelines->alone, arena));
    double idle_free = split.free.iteration - split.free.busy, idle_alone = split.alone.iteration - split.alone.busy;
    const double seconds[IDLE_PARTS] = {
        [IDLE_ORDER] = split.free.iteration - split.free.busy_max,
        [IDLE_IMBALANCE] = split.free.busy_max - split.free.busy,
        [IDLE_TRANSFER] = idle_alone - idle_free,
        [IDLE_CONTENTION] = real.iteration - real.busy - idle_alone,
    };
    for (int i = 0; i < IDLE_PARTS; i++)
        split.shares[i] = seconds[i] / real.iteration;
    return split;
}

/* ---- seconds alone ---- */

struct idle_alone {
    const struct idle_timelines *timelines;
    uint32_t **instances; /* [entry][stream] of the timeline of transfers that are alone */
    size_t *group_first;  /* [group]: of its instance 0 in `ready` */
    double **ready;       /* [instance][number of the collective]: when the last member has come */
};

static double *ready_of(const struct idle_alone *alone, uint32_t entry, const struct position *position,
                        uint32_t stream)
{
    return alone->ready[alone->group_first[position->streams[stream].peer] + alone->instances[entry][stream]];
}

static void note_entry(struct idle_alone *alone, uint32_t entry, struct arena *arena)
{
    const struct timeline *timeline = alone->timelines->alone;
    const struct position *position = timeline_position(timeline, entry);
    for (uint32_t i = 1; i < position->stream_count; i++) {
        const struct stream *stream = &position->streams[i];
        if (stream->type != OPERATION_COLLECTIVE)
            continue;
        double **ready = &alone->ready[alone->group_first[stream->peer] + alone->instances[entry][i]];
        if (!*ready)
            *ready = arena_array(arena, (size_t)stream->count + 1, sizeof **ready);
        for (uint32_t k = 0; k < stream->count; k++)
            (*ready)[k] = fmax((*ready)[k], timeline->moments[entry][stream->first + k].start);
    }
}

struct idle_alone *idle_alone_create(const struct idle_timelines *timelines, struct arena *arena)
{
    const struct program *program = timelines->alone->program;
    struct idle_alone *alone = arena_alloc(arena, sizeof *alone);
    *alone =
        (struct idle_alone){timelines, timeline_instances(timelines->alone),
                            arena_array(arena, (size_t)program->group_count + 1, sizeof *alone->group_first), NULL};
    for (uint32_t group = 0; group < program->group_count; group++)
        alone->group_first[group + 1] = alone->group_first[group] + group_instances(program, &program->groups[group]);
    alone->ready = arena_array(arena, alone->group_first[program->group_count] + 1, sizeof *alone->ready);
    for (uint32_t entry = 0; entry < timelines->alone->rank_count; entry++)
        note_entry(alone, entry, arena);
    return alone;
}

void idle_alone_destroy(struct idle_alone *alone)
{
    if (alone)
        free(alone->instances);
}

double idle_alone_seconds(const struct idle_alone *alone, uint32_t rank, uint32_t id)
{
    const struct timeline *timeline = alone->timelines->alone;
    uint32_t entry = timeline->index_of[rank];
    const struct position *position = timeline_position(timeline, entry);
    const struct operation *operation = &position->operations[id];
    const struct stream *stream = &position->streams[operation->stream];
    const struct moment *moment = &timeline->moments[entry][id];
    if (stream->type == OPERATION_COLLECTIVE)
        return moment->end - ready_of(alone, entry, position, operation->stream)[id - stream->first];
    if (stream->type == OPERATION_SEND || stream->type == OPERATION_RECEIVE)
        return moment->end - moment->data_start;
    if (operation_reads_storage(operation))
        return moment->end - moment->start;
    moment = &timeline_rank(alone->timelines->free, rank)[id];
    return moment->end - moment->start;
}
