/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/traces/replay.h"

#include "base/arena.h"

#include <math.h>

struct replay *replay_jobs(const struct trace_job *jobs, uint32_t count, struct arena *arena)
{
    struct replay *replays = arena_array(arena, count, sizeof *replays);
    uint32_t ranks = 0, groups = 1; /* 0 is everybody, for readers */
    for (uint32_t i = 0; i < count; i++) {
        const struct program *program = jobs[i].source.timeline->program;
        replays[i] = (struct replay){.job = &jobs[i], .program = program, .first_rank = ranks};
        replays[i].first_group = arena_array(arena, program->group_count + (size_t)1, sizeof(uint32_t));
        for (uint32_t group = 0; group < program->group_count; group++) {
            replays[i].first_group[group] = groups;
            groups += group_instances(program, &program->groups[group]);
        }
        replays[i].first_group[program->group_count] = groups;
        ranks += program->mesh->ranks;
    }
    return replays;
}

uint32_t replay_ranks(const struct replay *replays, uint32_t count)
{
    return replays[count - 1].first_rank + replays[count - 1].program->mesh->ranks;
}

bool replay_copies(const struct program *program)
{
    for (uint32_t i = 0; i < program->mesh->positions; i++)
        for (uint32_t k = 0; k < program->positions[i].stream_count; k++) {
            const struct stream *stream = &program->positions[i].streams[k];
            if (stream->type == OPERATION_DELAY || (stream->type == OPERATION_SEND && stream->peer == i))
                return true;
        }
    return false;
}

uint32_t replay_group(const struct replay *replay, uint32_t group, uint32_t rank)
{
    const struct program *program = replay->program;
    return replay->first_group[group] +
           group_instance_of(program, &program->groups[group], program->mesh->replica_of[rank]);
}

uint32_t replay_tag(const struct replay *replay, const struct stream *stream, uint32_t rank)
{
    return stream->type == OPERATION_COLLECTIVE ? STAGESIM_KINDS + replay_group(replay, stream->peer, rank)
                                                : stream->kind;
}

bool replay_is_copy(const struct replay *replay, uint32_t rank, const struct stream *stream)
{
    return (stream->type == OPERATION_SEND || stream->type == OPERATION_RECEIVE) &&
           stream->peer == replay->program->mesh->position_of[rank];
}

uint64_t replay_duration(double seconds, double per_second, double *rest)
{
    double exact = seconds * per_second + *rest, whole = fmax(round(exact), 0);
    *rest = exact - whole;
    return (uint64_t)whole;
}
