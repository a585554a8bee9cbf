/* SPDX-License-Identifier: Apache-2.0 */
/* What policies work with: the jobs that wait, those that run, and the steps between. */
#ifndef STAGESIM_QUEUE_STATE_H
#define STAGESIM_QUEUE_STATE_H

#include "cluster/queue/queue.h"

#define NO_JOB UINT32_MAX

struct queue_task {
    double left;     /* work */
    double rate;     /* while it runs */
    double since;    /* from when on it works: after its span's beginning by what it is stalled */
    double from;     /* its span's beginning */
    double ends;     /* where nothing comes between */
    double due;      /* when the scheduler takes it to end */
    uint32_t *nodes; /* it has, [count]; changed only while it does not run */
    uint32_t count;
    uint32_t version;        /* of `ends`: older ones in the heap are void */
    uint32_t next, previous; /* of those that wait, in order of submission */
    bool runs;
};

struct queue_end {
    double time;
    uint32_t job, version;
};

struct queue {
    const struct queue_request *request;
    struct arena *arena;
    struct queue_run *run;
    struct queue_task *tasks;
    double now;
    uint32_t first, last, waiting; /* of those that wait */
    struct queue_end *ends;        /* a heap, the soonest first */
    size_t end_count, end_capacity, span_capacity;
    struct node_pool *pool; /* of policies that give a node to one job only */
    double wake;            /* when the policy wants to decide, whatever happens; INFINITY: not at all */
    void *own;              /* the policy's */
    uint32_t failed;        /* NO_JOB: none has */
};

struct queue_policy {
    const char *name, *title, *summary;
    const char *changes;                /* what queue_record counts as such; NULL: there are none */
    bool resizes;                       /* jobs may run on other numbers of nodes than they ask for */
    void (*begin)(struct queue *queue); /* NULL: nothing to be done */
    void (*finish)(struct queue *queue);
    /* A job has ended: its nodes are the policy's again. */
    void (*ended)(struct queue *queue, uint32_t job);
    /* After all that happens at one time: jobs have come or ended, or it is time to wake. */
    void (*decide)(struct queue *queue);
};

extern const struct queue_policy queue_fcfs, queue_easy, queue_conservative, queue_shortest, queue_gang, queue_elastic;

/* Takes a job out of those that wait. */
void queue_unlist(struct queue *queue, uint32_t job);
/* It takes so many nodes of the pool and runs. */
void queue_start(struct queue *queue, uint32_t job, uint32_t count);
/* It runs on its nodes, and works from `since` on. */
void queue_resume(struct queue *queue, uint32_t job, double since);
/* It stands still; its span ends. */
void queue_pause(struct queue *queue, uint32_t job);

#endif
