/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that come to a cluster, and a policy that says which of them has which nodes when. Knows nothing of files: jobs
 * have work, and a function says how much of it some nodes do in a second. */
#ifndef STAGESIM_QUEUE_H
#define STAGESIM_QUEUE_H

#include "base/diagnostics.h"
#include "cluster/scheduling/node_pool.h"
#include "platforms/power/power.h"
#include "training/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct queue_job {
    const char *name;
    double submit;   /* seconds */
    double work;     /* seconds of a job whose rate is 1, samples of others: what queue_request.rate is of */
    double alone;    /* seconds that it runs on the nodes that it is given in an empty cluster */
    double expected; /* seconds that the scheduler takes it to run */
    uint32_t nodes;  /* that it asks for */
    uint32_t kind;   /* its type; not looked at here */
    const uint32_t
        *sizes; /* numbers of nodes that it can run on, ascending, size_count of them: for elastic policies */
    uint32_t size_count;
    double share;      /* of its nodes' devices that it uses */
    const char *user;  /* NULL: not known */
    uint32_t priority; /* for policies that preempt */
    bool placed;       /* how fast it is depends on which nodes it has */
    uint32_t account;  /* its user's, for policies with shares */
};

/* What a user may use. */
struct queue_account {
    const char *name;
    double share;        /* above 0 */
    uint32_t nodes_most; /* at a time; at least as many as any of his jobs asks for */
};

struct queue_policy;

struct queue_options {
    const struct queue_policy *policy;
    enum node_choice placement;
    uint32_t block;      /* nodes of one, for NODES_BLOCK */
    double save, resume; /* of a job that gives way or moves: seconds in which it saves its state, and until it goes on
                          * when it has nodes again */
    bool migrate;        /* jobs that run move to better nodes; then a request has failures, maybe without components */
    double half_life;    /* fair: seconds after which what was used counts half */
    double slice, change; /* gang: seconds that a row has the cluster, of which the first go into changing over */
    uint32_t rows;        /* gang: at most */
    double grow, shrink;  /* elastic: seconds in which a job that changes its size does nothing */
};

/* A job that runs, with what it does in a second. */
struct queue_neighbour {
    uint32_t job, count;
    const uint32_t *nodes; /* [count] */
    double alone, rate;    /* work a second: alone on its nodes under the cap, and beside the others */
};

/* What fails. Everything is borrowed. */
struct queue_failures {
    const struct training_plan *cluster; /* of all nodes: components, rates, times */
    const struct training_plan *jobs;    /* by job: its work in seconds of its steps, its checkpoints */
    uint64_t run;                        /* which months of the plan's seed */
    uint32_t spares;                     /* so many nodes fewer than there are have jobs at a time */
};

/* What a job comes to on its nodes under a cap. */
struct queue_draw {
    double speed; /* share of the rate that it has without one */
    double watts; /* of all its nodes while it works */
};

/* What nodes draw. Everything is borrowed. */
struct queue_power {
    const double *idle;        /* [node]: watts while nothing is computed there */
    const uint32_t *gpus;      /* [node] */
    double gpu_idle, gpu_full; /* with a cap or a budget: watts of each */
    double gpu_total;          /* of all nodes */
    double full_total;         /* watts of all nodes where all GPUs compute */
    double cap, budget;        /* of each GPU; of all. 0: none */
    const struct power_settings *settings;
    /* `cap` is of each GPU, 0: none. */
    struct queue_draw (*draw)(void *user, uint32_t job, const uint32_t *nodes, uint32_t count, double cap);
    void *user;
};

/* Everything is borrowed. */
struct queue_request {
    const struct queue_job *jobs; /* job_count of them, by submit time */
    uint32_t job_count, nodes;
    struct queue_options options;
    /* Work a second of a job on these nodes; not above 0: it cannot run there, and the queue ends. */
    double (*rate)(void *user, uint32_t job, const uint32_t *nodes, uint32_t count);
    void *user;
    /* Whenever other jobs work than before, or the cap of GPUs is another one (0: none): changes the rates, which are
     * above 0, of those that slow each other down, of `count` that work. At the beginning of a run it is told of none.
     * NULL: each runs as if it were alone. */
    void (*beside)(void *user, struct queue_neighbour *working, uint32_t count, double cap);
    const struct queue_failures *failures; /* NULL: nothing fails */
    const struct queue_account *accounts;  /* account_count of them */
    uint32_t account_count;
    const struct queue_power *power; /* NULL: nothing is known of watts */
    const uint32_t *gpus;            /* [node]: for prices */
    double gpu_hour, kilowatt_hour;  /* prices; 0: not known */
};

/* A time for which a job had nodes. */
struct queue_span {
    uint32_t job, count;
    const uint32_t *nodes; /* ascending */
    double from, to;
    double stalled; /* seconds at its beginning in which nothing is done */
    double joules;
};

struct queue_record {
    double start, end; /* of the first and of the last span */
    uint32_t spans;
    uint32_t changes; /* gang: times that it got the cluster again; elastic: changes of its size; priority: times that
                 it gave way */
    uint32_t moves;   /* to other nodes, while it ran */
    uint32_t stops, requeues; /* by failures; of these, those after which it waited for nodes again */
    double saving, lost;      /* seconds in which it saved its state; of steps that it had to do again */
    double joules, grams;     /* of its nodes while it had them; of carbon dioxide */
};

/* A failure that met nodes that were not away. */
struct queue_outage {
    double time;
    const struct failure_component *component;
    uint32_t first, count;    /* nodes of the unit */
    double detection;         /* seconds; of a planned one those in which states are saved */
    double replacement, back; /* seconds for new nodes to take their places; for jobs to start and load their states */
    const double *repairs;    /* [count]: seconds that nodes are away; NULL: they are restarted as they are */
    const uint32_t *jobs;     /* job_count of them, which it stopped */
    uint32_t job_count;
};

/* A node in repair. */
struct queue_away {
    uint32_t node;
    double from, to;
};

struct queue_run {
    const struct queue_request *request;
    struct queue_record *records; /* by job */
    struct queue_span *spans;     /* span_count of them, in the order in which they ended */
    size_t span_count;
    struct queue_outage *outages; /* outage_count of them, by time */
    size_t outage_count;
    struct queue_away *away; /* away_count of them, by their beginnings; up to the last job's end */
    size_t away_count;
    bool stuck; /* a job fails again and again: given up */
};

/* Runs all jobs to their ends; no job asks for more nodes than there are beside the spares. False where a rate was not
 * above 0, or the run is stuck: *failed is the job. Memory from the arena. */
bool queue_run(const struct queue_request *request, struct arena *arena, struct queue_run *run, uint32_t *failed);

/* Policies by name. NULL-terminated. */
extern const struct queue_policy *const queue_policies[];
const char *queue_policy_name(const struct queue_policy *policy);
const char *queue_policy_title(const struct queue_policy *policy);
const char *queue_policy_summary(const struct queue_policy *policy);
/* What queue_record.changes counts; NULL: nothing. */
const char *queue_policy_changes(const struct queue_policy *policy);
/* Whether jobs may run on other numbers of nodes than they ask for. */
bool queue_policy_resizes(const struct queue_policy *policy);
/* Whether jobs give way to others: then a request has failures, which may have no components. */
bool queue_policy_preempts(const struct queue_policy *policy);
/* Whether it knows users. */
bool queue_policy_shares(const struct queue_policy *policy);
/* Whether it goes on when nodes fail. */
bool queue_policy_endures(const struct queue_policy *policy);

#endif
