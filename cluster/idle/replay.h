/* SPDX-License-Identifier: Apache-2.0 */
/* Elastic jobs on a log of idle nodes: what they produce when their sizes are decided anew at every event.
 *
 * An event is a moment at which nodes leave or join, a job arrives or ends, or a profiling run is over. Then, in this
 * order: the time since the last event adds rate * time to each job; nodes that left leave their job, which loses
 * shrink * (its rate before) once, however many they are; ended jobs go and waiting ones come; sizes are chosen; a job
 * that changes its size loses grow or shrink times its rate before. That is the replay of BFTrainer (arXiv 2106.12091).
 * Of equal nodes the lowest are taken and given back first. */
#ifndef STAGESIM_REPLAY_H
#define STAGESIM_REPLAY_H

#include "cluster/idle/choice.h"
#include "cluster/idle/idle_job.h"
#include "cluster/idle/idle_log.h"

struct arena;

enum idle_objective { OBJECTIVE_SAMPLES, OBJECTIVE_SPEED_UP, OBJECTIVES };
extern const char *const objective_names[]; /* "samples", "speed-up", NULL */

/* How sizes are decided. */
struct idle_policy {
    const struct chooser *chooser;
    unsigned objective;          /* enum idle_objective: samples, or speed-up over one node */
    double forward;              /* T, seconds */
    uint64_t running;            /* jobs at a time, first come first served */
    bool grow_new;               /* a job that grows loses time at its new rate */
    double profile;              /* seconds of a profiling run of one size */
    const double *profile_sizes; /* [profile_count], ascending; sizes that are measured */
    size_t profile_count;
};

struct replay_request {
    const struct idle_moments *moments;
    uint32_t node_count; /* of the log */
    const struct idle_job *jobs;
    size_t job_count;
    struct idle_policy policy;
};

enum size_cause { CAUSE_LEFT, CAUSE_CHOSEN, CAUSE_PROFILE, CAUSE_ENDED, SIZE_CAUSES };
extern const char *const size_cause_names[]; /* "left", "chosen", "profile", "ended" */

/* A job's size changes. */
struct size_change {
    double time;
    uint32_t job, before, after;
    enum size_cause cause;
};

/* A decision. */
struct replay_decision {
    double time;
    uint32_t idle, used;   /* nodes, after it */
    uint32_t left, joined; /* nodes that did so at the moment */
    uint32_t running;      /* jobs */
    uint32_t grown, shrunk;
    double rate,
        best;    /* work a second, after it; and at best: with these jobs and nodes, and changes that cost nothing */
    double lost; /* work, in this moment by nodes that left and sizes that changed */
};

/* A node's time with a job. */
struct node_stay {
    uint32_t node, job;
    double from, to;
};

struct job_figures {
    double samples;         /* produced */
    double gross;           /* rate * time: what it would have without changes of size */
    double dedicated;       /* what its share of dedicated nodes would have produced, see doc/definitions.md */
    double node_time;       /* node-seconds that it had */
    double profiling;       /* seconds of profiling runs */
    double began, ended;    /* seconds; when it was taken in; when it ended, INFINITY: not */
    uint64_t grown, shrunk; /* by decisions */
    uint64_t preempted;     /* times that nodes left it */
    uint64_t nodes_lost;    /* the nodes that did */
};

struct replay {
    struct job_figures *jobs;          /* [job_count] */
    struct replay_decision *decisions; /* decision_count of them */
    size_t decision_count;
    struct size_change *changes; /* change_count of them, in order */
    size_t change_count;
    struct node_stay *stays; /* stay_count of them, by their end */
    size_t stay_count;
    double duration;
    double idle_time;     /* node-seconds that nodes were idle */
    double used_time;     /* node-seconds that jobs had */
    double work, gross;   /* of all jobs, in the objective's unit: samples, or seconds of one node */
    double dedicated;     /* of all jobs, in the same unit */
    double best;          /* the most that the jobs present could have produced if nothing were lost in changes */
    uint64_t rescales;    /* sizes changed by decisions */
    uint64_t preemptions; /* times that a job lost nodes that left */
    size_t finished;
    size_t capacity[3]; /* of decisions, changes, stays */
};

/* The caller frees it with replay_destroy. */
struct replay *replay_run(const struct replay_request *request, struct arena *arena);
void replay_destroy(struct replay *replay); /* NULL is fine */

/* work / dedicated: against as many nodes as were idle on average, had the jobs had them for themselves. */
double replay_efficiency(const struct replay *replay);
/* work / best: against the most that the idle nodes could have done. */
double replay_attainment(const struct replay *replay);

#endif
