/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/traces/trace_walk.h"

#include "analysis/figures/memory_use.h"
#include "base/arena.h"
#include "simulator/program/operation_text.h"

#include <stdio.h>
#include <stdlib.h>

void trace_walk_begin(struct trace_walk *walk, const struct trace_job *job)
{
    walk->source = &job->source;
    walk->program = job->source.timeline->program;
    walk->job = job->name;
    walk->start = job->start;
    walk->arena = arena_create();
    walk->ranks = trace_source_ranks(&job->source, &walk->count);
    walk->streams = stream_names_create(walk->program, walk->arena);
    walk->memory = memory_use_create(job->source.timeline, walk->arena);
}

void trace_walk_end(struct trace_walk *walk)
{
    walk->processes += walk->program->mesh->ranks;
    free(walk->ranks);
    arena_destroy(walk->arena);
}

const char *trace_walk_rank_name(const struct trace_walk *walk, uint32_t rank, char name[TRACE_RANK_NAME])
{
    const struct platform_host *host = trace_source_host(walk->source, rank);
    snprintf(name, TRACE_RANK_NAME, "%.60s%srank %u %.200s (%.200s)", walk->job ? walk->job : "", walk->job ? ": " : "",
             rank, host->name, host->node ? host->node : "");
    return name;
}
