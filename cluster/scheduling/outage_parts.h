/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of outages: what is known of nodes and jobs. */
#ifndef STAGESIM_QUEUE_OUTAGE_PARTS_H
#define STAGESIM_QUEUE_OUTAGE_PARTS_H

#include "cluster/scheduling/queue_state.h"
#include "training/clocks.h"
#include "training/progress.h"

#define AWAY (NO_JOB - 1)

/* A node in repair, or that will be: then its time is how long. */
struct repair {
    uint32_t node;
    double time;
};

/* What a job has done and what it goes through. */
struct stay {
    struct progress progress;
    struct training_run counts;
    double replacement, again; /* from having its nodes: until they are in place; until its first step */
    double replaced;           /* before which nothing has been started */
    bool stopped;              /* it waits for a failure to be noticed */
    struct repair *leaving;    /* leaving_count of its nodes, then */
    size_t leaving_count, leaving_capacity;
};

struct outages {
    struct clocks *clocks;
    struct stay *stays;        /* by job */
    uint32_t *owner, *strikes; /* by node: its job, NO_JOB or AWAY; failures of it */
    struct repair *repairs;    /* repair_count of them, in no order: when nodes are back */
    size_t repair_count, repair_capacity, away_capacity, outage_capacity;
    double back;          /* the first of these times */
    double begin;         /* of the calendar */
    double last, longest; /* when a job came or ended last; the longest one's steps */
};

/* Nodes in repair. */
uint32_t outages_away(const struct outages *outages);
/* As queue_expected. */
double outages_expected(const struct queue *queue, uint32_t job);

/* A job begins on nodes that it was given: returns from when on it works. */
double outages_begin(struct queue *queue, uint32_t job);
/* It works from task->since on, at task->rate: returns when it ends if nothing fails. */
double outages_end(struct queue *queue, uint32_t job);
/* Whether it waits for a failure to be noticed, or for its state to be saved. */
bool outages_stopped(const struct queue *queue, uint32_t job);
/* It works, and counts what it has done until now. */
void outages_settle(struct queue *queue, uint32_t job);
/* A job's nodes are this job's, NO_JOB's or AWAY. */
void outages_own(struct queue *queue, uint32_t job, uint32_t owner);

#endif
