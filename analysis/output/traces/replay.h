/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs as other simulators take them: every rank, in the numbers of one run. Ranks and groups of a job are numbered
 * behind those of the jobs before it. */
#ifndef STAGESIM_REPLAY_H
#define STAGESIM_REPLAY_H

#include "analysis/output/traces/trace_source.h"

struct arena;

struct replay {
    const struct trace_job *job;
    const struct program *program;
    uint32_t first_rank;
    uint32_t *first_group; /* [group]: number of its first instance; the last entry: of the next job's first */
};

/* The jobs, in the arena. */
struct replay *replay_jobs(const struct trace_job *jobs, uint32_t count, struct arena *arena);
uint32_t replay_ranks(const struct replay *replays, uint32_t count);

/* Whether data go to the memory of hosts, or come from storage. */
bool replay_copies(const struct program *program);

static inline const struct position *replay_position(const struct replay *replay, uint32_t rank)
{
    return &replay->program->positions[replay->program->mesh->position_of[rank]];
}

/* The number of the instance that a rank of the job takes part in. */
uint32_t replay_group(const struct replay *replay, uint32_t group, uint32_t rank);
/* What tells messages of a pair apart: those of a stream, and those of a collective's group, have a tag of their own.
 */
uint32_t replay_tag(const struct replay *replay, const struct stream *stream, uint32_t rank);
/* Messages from a position to itself go to the memory of its host. */
bool replay_is_copy(const struct replay *replay, uint32_t rank, const struct stream *stream);

/* Whole units (of `per_second` to the second) that a stream's operation takes, so that what is rounded does not add up:
 * *rest is what the stream's operations before it are short of; 0 before the first. */
uint64_t replay_duration(double seconds, double per_second, double *rest);

#endif
