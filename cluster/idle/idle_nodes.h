/* SPDX-License-Identifier: Apache-2.0 */
/* `idle_nodes:` a log of idle nodes, and the elastic jobs that are put on them. */
#ifndef STAGESIM_IDLE_NODES_H
#define STAGESIM_IDLE_NODES_H

#include "cluster/idle/idle_generate.h"
#include "cluster/idle/replay.h"
#include "job/scenario/scenario_kind.h"

/* Bounds of what a scenario may ask for. */
enum { IDLE_JOBS_MAX = 10000, IDLE_POLICIES_MAX = 64 };

enum idle_log_format { IDLE_LOG_SPANS, IDLE_LOG_SWF, IDLE_LOG_SACCT };

/* Equal elastic jobs, as the scenario has them. */
struct idle_entry {
    struct idle_job job; /* without its curve */
    struct place curve_at;
    uint64_t count, least, most;
    double every;                     /* seconds between their arrivals */
    const struct curve_point *points; /* point_count of them; NULL: `scenario` says */
    size_t point_count;
    const char *scenario; /* file; its data-parallel width grows with the nodes */
};

/* What the scenario says. */
struct idle_nodes {
    const char *log; /* file; NULL: drawn */
    struct place log_at;
    unsigned format;    /* enum idle_log_format */
    uint64_t log_nodes; /* of the machine, for logs of batch jobs; 0: as the log says */
    struct idle_generation generation;
    double start, duration;           /* seconds; duration INFINITY: to the end of the log */
    const struct idle_entry *entries; /* entry_count of them */
    size_t entry_count;
    const struct idle_policy *policies; /* policy_count of them */
    size_t policy_count;
    bool running_given; /* how many jobs run at a time is written there, no default */
};

/* The same with its log read and every job with its curve. */
struct idle_study {
    const struct idle_nodes *nodes;
    const struct idle_log *log;
    struct idle_moments moments;
    struct idle_job *jobs; /* job_count of them */
    size_t job_count;
    size_t simulated;        /* sizes of jobs that stagesim has simulated */
    struct replay **replays; /* [policy_count]; NULL until they have run */
    double *seconds;         /* [policy_count]: processor time that they took */
};

extern const struct scenario_kind idle_kind;

/* ---- idle_read.c, idle_study.c, idle_scaling.c ---- */

extern const char *const idle_keys[]; /* of the top level */
void idle_schema(struct json_writer *json);
struct scenario *idle_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                           struct diag *diag);
/* Reads or draws the log and finds the jobs' curves. NULL with the mistakes reported. Memory from the arena. */
struct idle_study *idle_study_create(const struct idle_nodes *nodes, bool plugins, struct arena *arena,
                                     struct diag *diag);
/* Samples per second of an entry's scenario on its least number of nodes, the doubles of that, and its most; its
 * data-parallel width is what these nodes have GPUs for. False with the mistakes reported. Memory from the arena. */
bool idle_scaling(const struct idle_entry *entry, bool plugins, struct curve_point **points, size_t *count,
                  struct arena *arena, struct diag *diag);

#endif
