/* SPDX-License-Identifier: Apache-2.0 */
/* One job after the other, and of each rank by rank: what traces for viewers are written along. */
#ifndef STAGESIM_TRACE_WALK_H
#define STAGESIM_TRACE_WALK_H

#include "analysis/output/traces/trace_source.h"

struct arena;
struct memory_use;

enum { TRACE_RANK_NAME = 512 };

/* All zero before the first job. */
struct trace_walk {
    const struct trace_source *source;
    const struct program *program;
    const char *job;        /* of several; NULL */
    double start;           /* seconds that its time begins at */
    uint64_t processes;     /* ranks of the jobs before it: its own ranks are numbered behind them */
    struct arena *arena;    /* for what lives as long as the job is written */
    uint32_t *ranks, count; /* that the trace shows, ascending */
    const char ***streams;  /* [position][stream]: their names */
    struct memory_use *memory;
};

/* The next job, until trace_walk_end. */
void trace_walk_begin(struct trace_walk *walk, const struct trace_job *job);
void trace_walk_end(struct trace_walk *walk);

/* "job: rank 3 gpu-3 (node-0)"; a name that is very long is cut. Returns `name`. */
const char *trace_walk_rank_name(const struct trace_walk *walk, uint32_t rank, char name[TRACE_RANK_NAME]);

#endif
