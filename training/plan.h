/* SPDX-License-Identifier: Apache-2.0 */
/* A training over calendar time: its steps, what fails, how it is noticed and mended, when its state is saved. Seconds;
 * doc/train.md has the model. */
#ifndef STAGESIM_TRAINING_PLAN_H
#define STAGESIM_TRAINING_PLAN_H

#include "base/random/distribution.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What fails as one: a device, a node, the nodes of a rack or behind a switch, or the job whatever its size. */
enum failure_unit { UNIT_GPU, UNIT_NODE, UNIT_RACK, UNIT_SWITCH, UNIT_JOB, FAILURE_UNITS };

enum failure_effect {
    EFFECT_STOP,    /* the job, or its replica, stops at once */
    EFFECT_SLOW,    /* steps take longer until it is noticed and mended */
    EFFECT_CORRUPT, /* steps go on, and all since are worth nothing once it is noticed */
    EFFECT_PLANNED, /* the job saves its state and stops */
    FAILURE_EFFECTS
};

/* A kind of failures. */
struct failure_component {
    const char *name;
    unsigned unit;      /* enum failure_unit */
    double every;       /* mean time between two failures of one unit */
    double shape;       /* of Weibull's distribution of these times; 1: at any moment alike */
    unsigned effect;    /* enum failure_effect */
    double slow;        /* EFFECT_SLOW: how many times as long a step takes */
    const char *change; /* what changes on the platform, from which `slow` follows ("nic-3-1=down"); NULL: given */
    bool replace;       /* nodes of the unit leave for repair; otherwise they are restarted as they are */
    const struct distribution *detect, *repair; /* NULL: those of the plan */
};

enum training_policy {
    POLICY_RESTART,   /* everything stops, and starts again when all nodes are there */
    POLICY_SHRINK,    /* it starts again at once with as many replicas as there are nodes for */
    POLICY_REPLICA,   /* the replica that failed drops out and comes back; the others go on */
    POLICY_REROUTE,   /* the micro-batches of a worker that failed go to those that have its stage in other replicas */
    POLICY_TEMPLATES, /* pipelines are made anew of all nodes that are left, of other lengths */
    POLICY_REDUNDANT  /* each worker also computes the forwards of the next one, and does its work when that fails */
};

/* Components whose losses are told apart; those behind count with the last. */
enum { TRAINING_CAUSES = 48 };

struct training_plan {
    double work;                   /* seconds that all steps take when nothing happens */
    double step;                   /* of one of them */
    uint32_t nodes, gpus_per_node; /* of the job */
    uint32_t spares;               /* nodes beside them that wait */
    uint32_t replicas;             /* equal parts of the job that train on different samples, at least 1 */
    uint32_t stages;               /* pipeline workers of a replica; POLICY_REROUTE, POLICY_REDUNDANT */
    uint32_t micro_batches;        /* of a replica and step where fewer replicas do the batch of all; 0: it shrinks */
    bool bubble_stays; /* POLICY_REROUTE: micro-batches that go around make a step longer, and fill no bubble */
    double redundancy; /* POLICY_REDUNDANT: how many times as long a step takes for what is computed twice; 0: by the
                          bubble */
    uint32_t rack, behind_switch;               /* nodes of one; at least 1 */
    const struct failure_component *components; /* component_count of them */
    size_t component_count;
    double rate;                            /* factor on all rates */
    double lemons, lemon_rate;              /* share of nodes that fail so many times as often as others */
    uint32_t lemon_strikes;                 /* after so many failures a node is given back for good; 0: never */
    const struct distribution *start;       /* from having the nodes to the first step */
    const struct distribution *detect;      /* from a failure to the decision to do something */
    const struct distribution *replacement; /* a spare taking a node's place */
    const struct distribution *pool;        /* how long until the batch system has another node; NULL: only spares */
    const struct distribution *repair;      /* from leaving to waiting as a spare */
    const struct distribution *restart;     /* processes and communicators */
    const struct distribution *load;        /* the saved state, from storage */
    const struct distribution *load_near;   /* the same from the memory of other nodes */
    const struct distribution *stall; /* POLICY_REPLICA: the others wait so long when one leaves, and when it is back */
    unsigned policy;                  /* enum training_policy */
    double interval;                  /* of work between two checkpoints; INFINITY: none */
    const struct distribution *save;  /* training stands still */
    const struct distribution *write; /* from then on until the state is safe */
    const struct distribution *write_near; /* the same in the memory of another node */
    double slowed, slowed_near; /* seconds that steps take longer in all while a state is written: to storage, to the
                                   memory of another node. Counted where the state is saved */
    bool near;                  /* states are in the memory of other nodes: lost where two nodes fail at once */
    double far_interval;        /* near: of work between two that go to storage as well */
    double evaluate_every, evaluate; /* of work between two evaluations, INFINITY: none; how long each takes */
    double busy_watts, idle_watts;   /* of the whole job: while it computes, and otherwise; 0: not known */
    uint64_t seed;
};

/* What the calendar is spent with. All but the first are lost: they and the first add up to it. */
enum training_part {
    PART_STEPS,       /* steps that count, at full speed */
    PART_START,       /* before the first step */
    PART_EVALUATION,  /* between steps */
    PART_CHECKPOINT,  /* standing still while the state is saved */
    PART_LOST,        /* steps that were done again later */
    PART_DETECTION,   /* from failures to being noticed */
    PART_WAITING,     /* for a node */
    PART_REPLACEMENT, /* of a node by a spare */
    PART_RESTART,     /* processes, communicators; replicas that leave and come back */
    PART_LOAD,        /* of the saved state */
    PART_SLOW,        /* what steps took longer because something was slow */
    PART_REPLICAS,    /* what was not done because replicas were missing */
    TRAINING_PARTS
};
extern const char *const training_part_names[]; /* [enum training_part], NULL-terminated */

/* A stretch of one simulated calendar. */
struct training_span {
    double from, to;
    enum training_part part;
    const struct failure_component *cause; /* NULL: none */
};

/* One simulated training. */
struct training_run {
    double wall;                    /* from the start to the last state being safe */
    double parts[TRAINING_PARTS];   /* seconds */
    double computed;                /* seconds of steps at full speed, those that were lost included */
    double causes[TRAINING_CAUSES]; /* seconds that were lost to a component of the plan */
    uint32_t stops, slowed, checkpoints;
    uint32_t spares_used; /* most that were away at a time, of those beyond the job's own */
    bool stuck;           /* it does not get on: given up */
};

/* Where the calendar of a run is written down; spans of one part and cause behind each other are one. */
struct training_diary {
    struct training_span *spans; /* count of them; the caller frees it */
    size_t count, capacity;
    double end; /* nothing that begins later is kept */
};

/* Simulates run number `run` of the plan's seed. `log` NULL: not asked for. */
struct training_run training_simulate(const struct training_plan *plan, uint64_t run, struct training_diary *log);

#endif
