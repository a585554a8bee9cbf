/* SPDX-License-Identifier: Apache-2.0 */
/* What traces of a run are written from. */
#ifndef STAGESIM_TRACE_SOURCE_H
#define STAGESIM_TRACE_SOURCE_H

#include "analysis/figures/idle.h"
#include "platforms/platform.h"
#include "simulator/program/timeline.h"

#include <stdbool.h>

/* Everything is borrowed. */
struct trace_source {
    const struct timeline *timeline;
    struct platform *platform;
    const uint32_t *hosts;               /* rank -> index into platform->hosts */
    bool all_replicas;                   /* also ranks that another one stands for, with its times */
    const struct idle_timelines *nested; /* what alone_s comes from; NULL: not known, no such column */
};

/* A job of several on one platform. */
struct trace_job {
    struct trace_source source;
    const char *name; /* NULL: it is the only one */
    double start;     /* seconds: its own time begins then */
};

/* Ranks that a trace shows, ascending; `count` of them. The caller frees the array. */
uint32_t *trace_source_ranks(const struct trace_source *source, uint32_t *count);

/* Whether a trace shows a rank. */
static inline bool trace_source_shows(const struct trace_source *source, uint32_t rank)
{
    return source->all_replicas || source->timeline->ranks[source->timeline->index_of[rank]] == rank;
}

static inline const struct position *trace_source_position(const struct trace_source *source, uint32_t rank)
{
    const struct program *program = source->timeline->program;
    return &program->positions[program->mesh->position_of[rank]];
}

static inline const struct platform_host *trace_source_host(const struct trace_source *source, uint32_t rank)
{
    return &source->platform->hosts[source->hosts[rank]];
}

#endif
