/* SPDX-License-Identifier: Apache-2.0 */
/* What policies work with: the jobs that wait, those that run, and the steps between. */
#ifndef STAGESIM_QUEUE_STATE_H
#define STAGESIM_QUEUE_STATE_H

#include "cluster/scheduling/queue.h"

#define NO_JOB UINT32_MAX

struct queue_task {
    double left;            /* work */
    double rate;            /* while it runs */
    double since;           /* from when on what is left is counted, at its rate */
    double stands;          /* until when it stands still, from its span's beginning on */
    double from;            /* its span's beginning */
    double ends;            /* where nothing comes between */
    double due;             /* when the scheduler takes it to end */
    double full, alone;     /* its rate without a cap; under the cap, beside nobody */
    double watts, draws;    /* while it works: now, and where nobody slows it down */
    double gpus;            /* of its nodes, that it uses: with a budget */
    double charged, joules; /* up to when its energy is counted; of its span */
    uint32_t *nodes;        /* it has, [count]; changed only while it does not run */
    uint32_t count;
    uint32_t seat;           /* among those that run side by side, where it is seated */
    uint32_t version;        /* of `ends`: older ones in the heap are void */
    uint32_t next, previous; /* of those that wait, in order of submission */
    bool runs, waits, seated;
    bool yields; /* it will wait again, and has its nodes until its state is saved */
    bool moves;  /* it will have other nodes, and has its own until its state is saved */
};

struct outages;

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
    uint32_t first, last, waiting;                           /* of those that wait */
    struct queue_end *ends;                                  /* a heap, the soonest first */
    size_t end_count, end_capacity, end_most, span_capacity; /* end_most: when void ones go, 0: not yet said */
    struct node_pool *pool;                                  /* of policies that give a node to one job only */
    double wake;             /* when the policy wants to decide, whatever happens; INFINITY: not at all */
    void *own;               /* the policy's */
    uint32_t failed;         /* NO_JOB: none has */
    struct outages *outages; /* NULL: nothing fails */
    struct watts *watts;     /* NULL: nothing is known of them */
    uint32_t moving;         /* the job that moves; NO_JOB: none does */
    uint32_t *elsewhere;     /* room for the nodes that a job may move to; NULL: none has been looked at */
    uint32_t *beside;        /* beside_count jobs that run, where they slow each other down or move */
    uint32_t beside_count;
    size_t beside_capacity;
    bool moved;   /* and others run, or under another cap, than when their rates were asked for */
    double joins; /* when the next of those that stand still begins to work; INFINITY: none does */
};

struct queue_policy {
    const char *name, *title, *summary;
    const char *changes;                /* what queue_record counts as such; NULL: there are none */
    bool resizes;                       /* jobs may run on other numbers of nodes than they ask for */
    bool shares;                        /* it goes by users' accounts */
    bool preempts;                      /* jobs give way to others */
    bool endures;                       /* jobs may lose their nodes, and nodes be away */
    void (*begin)(struct queue *queue); /* NULL: nothing to be done */
    void (*finish)(struct queue *queue);
    /* A job has ended, or lost its nodes: those that it still has are the policy's again. */
    void (*ended)(struct queue *queue, uint32_t job);
    /* These where the policy endures; NULL: nothing to be done. A job that ran waits again. One that runs is due at
     * another time. Nodes have gone or come back. */
    void (*again)(struct queue *queue, uint32_t job);
    void (*postponed)(struct queue *queue, uint32_t job);
    void (*nodes_changed)(struct queue *queue);
    /* After all that happens at one time: jobs have come or ended, or it is time to wake. */
    void (*decide)(struct queue *queue);
};

extern const struct queue_policy queue_fair, queue_priority, queue_fcfs, queue_easy, queue_conservative, queue_shortest,
    queue_gang, queue_elastic;

/* Nodes that jobs may be given now. */
uint32_t queue_free(const struct queue *queue);
/* Seconds that the scheduler takes a job that waits to run: where it ran before, for what is left of it. */
double queue_expected(const struct queue *queue, uint32_t job);
/* A job waits, in the order in which jobs came. */
void queue_enlist(struct queue *queue, uint32_t job);
/* Takes a job out of those that wait. */
void queue_unlist(struct queue *queue, uint32_t job);
/* It takes so many nodes of the pool and runs. */
void queue_start(struct queue *queue, uint32_t job, uint32_t count);
/* It runs on its nodes, and works from `since` on. */
void queue_resume(struct queue *queue, uint32_t job, double since);
/* It has its nodes, and stands still until then, when something comes up. */
void queue_stand(struct queue *queue, uint32_t job, double until);
/* It stands still; its span ends. */
void queue_pause(struct queue *queue, uint32_t job);
/* Its span ends, and nothing else. */
void queue_close_span(struct queue *queue, uint32_t job);
/* A job runs beside the others, and no longer. Rates follow when all that happens at one time is done. */
void queue_beside_enter(struct queue *queue, uint32_t job);
void queue_beside_leave(struct queue *queue, uint32_t job);
void queue_beside_settle(struct queue *queue);
/* Where jobs may move and none does: the one that gains most by it begins to, if any gains. */
void queue_migrate(struct queue *queue);
/* The next of them that still holds; NULL: nothing runs. And it goes. */
const struct queue_end *queue_next_end(struct queue *queue);
void queue_pop_end(struct queue *queue);
/* Something comes up for the job at a time: its end, or what outages.h says. Whatever was to come does not. */
void queue_set_end(struct queue *queue, uint32_t job, double time);

#endif
