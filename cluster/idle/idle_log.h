/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes are idle when: spans of time of single nodes, and the moments at which something changes. */
#ifndef STAGESIM_IDLE_LOG_H
#define STAGESIM_IDLE_LOG_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { IDLE_NODES_MAX = 100000, IDLE_SPANS_MAX = 20000000 };

struct idle_span {
    uint32_t node;
    double from, to; /* seconds, from < to */
};

struct idle_log {
    const char *const *names; /* [node_count]: of the nodes, node-2 before node-10 */
    uint32_t node_count;
    const struct idle_span *spans; /* count of them; by start, then node. Those of a node do not overlap */
    size_t count;
    double end; /* the latest end of a span */
};

/* Reads a table with the columns node, from and to, in seconds; an empty `to`: idle to the end of the log. Mistakes go
 * to diag, with `name` as the file; NULL after any. Memory from the arena. */
struct idle_log *idle_log_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                struct diag *diag);
/* The same for a file; why it cannot be read is reported at `at`. */
struct idle_log *idle_log_load(const char *file, struct place at, struct arena *arena, struct diag *diag);
/* From spans in any order whose nodes are below node_count, and those of one node do not overlap; names NULL: node-0,
 * node-1, ... Takes names and spans, which are memory from the arena, over. */
struct idle_log *idle_log_create(const char *const *names, uint32_t node_count, struct idle_span *spans, size_t count,
                                 struct arena *arena);

/* What changes at a moment: nodes that leave, then nodes that join, each in ascending order. */
struct idle_moment {
    double time; /* seconds since the beginning of the window */
    const uint32_t *left, *joined;
    uint32_t left_count, joined_count;
};

struct idle_moments {
    const struct idle_moment *items; /* count of them, by time */
    size_t count;
    double duration; /* of the window; nothing ends with it */
};

/* The changes within `duration` seconds from `start`; what is idle at the start joins then. Memory from the arena. */
struct idle_moments idle_log_moments(const struct idle_log *log, double start, double duration, struct arena *arena);

#endif
