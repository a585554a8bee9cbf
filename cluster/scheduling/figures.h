/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of a queue: waiting, completion, slowdown, fairness and how full the cluster was. All are defined in
 * doc/definitions.md. */
#ifndef STAGESIM_QUEUE_FIGURES_H
#define STAGESIM_QUEUE_FIGURES_H

#include "cluster/scheduling/queue.h"

/* Of one job. */
enum queue_figure {
    QUEUE_WAIT,       /* seconds */
    QUEUE_COMPLETION, /* seconds */
    QUEUE_SLOWDOWN,
    QUEUE_BOUNDED,
    QUEUE_FAIRNESS,
    QUEUE_FIGURES
};
extern const char *const queue_figure_names[QUEUE_FIGURES], *const queue_figure_titles[QUEUE_FIGURES];

/* A job's bounded slowdown takes it to run at least so long: seconds. */
#define QUEUE_BOUND 10.0

/* Over all jobs; the last by node-seconds that a job needs alone. */
struct queue_mean {
    double mean, median, p95, most, weighted;
};

/* A value that holds from a time on. */
struct queue_level {
    double time;
    uint32_t waiting, nodes; /* jobs that wait for their first start; nodes that jobs have */
};

/* What the nodes' time goes into. Shares of it, which add up to 1. */
enum queue_part {
    PART_USEFUL,   /* steps that count */
    PART_SAVING,   /* jobs save their states */
    PART_AGAIN,    /* steps that were lost and done again */
    PART_STANDING, /* jobs have nodes and stand still: failures are noticed, jobs start, rows or sizes change */
    PART_FREE,
    PART_AWAY, /* in repair */
    QUEUE_PARTS
};
extern const char *const queue_part_names[QUEUE_PARTS], *const queue_part_titles[QUEUE_PARTS];

/* What all nodes drew and cost from the first job's coming to the last one's end. */
struct queue_energy {
    bool known, carbon, priced;
    double joules, grams, cost;
    double free_joules, free_grams; /* of it what nodes drew that no job had */
    double *costs;                  /* by job, where priced */
};

/* Free nodes that are of no use. */
struct queue_fragments {
    double waiting; /* share of the cluster's time in which nodes are free while a job waits for nodes */
    double cluster; /* of free nodes' time: in which a job of the log's would not fit into them, on average over jobs */
    double
        blocks; /* the same of each block's free nodes and the jobs that a block holds; NAN: no blocks, no such jobs */
};

struct queue_figures {
    double makespan, allocated, busy; /* seconds; shares of the cluster's time */
    double running;                   /* allocated, without the time in which jobs stand still */
    struct queue_fragments fragments;
    struct queue_mean means[QUEUE_FIGURES];
    uint32_t changes, longest;       /* of all jobs; most that waited at one time */
    uint32_t moves, stops, requeues; /* of all jobs */
    double node_hours;               /* that jobs had */
    double parts[QUEUE_PARTS];
    struct queue_energy energy;
    double *values[QUEUE_FIGURES]; /* by job */
    struct queue_level *levels;    /* level_count of them, by time */
    size_t level_count;
};

/* The part of queue_figures that says of what use free nodes are. */
void queue_fragments(const struct queue_run *run, double makespan, struct queue_fragments *fragments);
/* The part of queue_figures that says what nodes drew. */
void queue_energy(const struct queue_run *run, double makespan, struct arena *arena, struct queue_energy *energy);

/* Memory from the arena. */
void queue_figures(const struct queue_run *run, struct arena *arena, struct queue_figures *figures);

#endif
