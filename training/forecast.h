/* SPDX-License-Identifier: Apache-2.0 */
/* From what a scenario says of a training, and what a run says of its iteration, to days with a band. */
#ifndef STAGESIM_TRAINING_FORECAST_H
#define STAGESIM_TRAINING_FORECAST_H

#include "training/outcome.h"
#include "training/plan.h"

struct arena;

enum checkpoint_way {
    CHECKPOINT_BLOCKING,     /* steps wait until the state is written */
    CHECKPOINT_ASYNCHRONOUS, /* they wait for a copy of it, which is written while they go on */
    CHECKPOINT_MEMORY        /* the copy goes to the memory of another node, and now and then to storage */
};

#define INTERVAL_AUTO (-1.0)
#define SPARES_AUTO UINT32_MAX

/* What a scenario says. Distributions NULL, numbers 0: not given; the job says. */
struct training_settings {
    bool given;                  /* any of the sections */
    bool fails;                  /* something can fail */
    double step;                 /* seconds; 0: the iteration's */
    double steps;                /* 0: all tokens over those of an iteration */
    uint32_t runs;               /* of the simulation */
    const char *rates;           /* name of published ones; NULL: none */
    struct training_plan plan;   /* what does not depend on the job; nodes and the like are filled in */
    uint32_t spares;             /* SPARES_AUTO */
    bool batch_kept;             /* with fewer replicas */
    double interval;             /* seconds, INTERVAL_AUTO, or INFINITY: none */
    double interval_steps;       /* in place of it; 0: not given */
    double evaluate_steps;       /* between evaluations; 0: none */
    unsigned way;                /* enum checkpoint_way */
    double state_bytes, storage; /* bytes; bytes per second of all storage together */
    bool traffic_simulated;      /* of checkpoints, on the links that the job uses */
    const char *const *servers;  /* names of hosts that storage is behind, server_count of them */
    size_t server_count;
    double far_interval; /* seconds between states of CHECKPOINT_MEMORY that go to storage */
};

/* What was simulated of the traffic of checkpoints on the links that the job uses, too. Seconds. */
struct training_traffic {
    bool known;
    double write, slowed;           /* to storage, while the job goes on; how much longer the job takes for it */
    double load;                    /* from storage */
    double write_near, slowed_near; /* as the first two, to the memory of other nodes; 0: not asked for */
};

/* What a run says. */
struct training_job {
    double iteration;        /* seconds */
    double tokens, per_step; /* of the whole training, of an iteration; 0: not known */
    uint32_t nodes, gpus_per_node, replicas, stages, micro_batches;
    double state_bytes;        /* all that has to be saved; 0: not known */
    double joules, idle_watts; /* of an iteration; of all GPUs while they wait. Negative: not known */
    double price;              /* of a GPU for an hour; 0: not known */
    double flop;               /* of an iteration as the model counts them, recomputation not counted; 0: not known */
    struct training_traffic traffic; /* of checkpoints */
    double slow[TRAINING_CAUSES]; /* of the plan's components with a change: how many times as long steps take; 0: not
                                     simulated */
};

/* Plain data. */
struct training_forecast {
    bool known;
    double step, steps, work; /* seconds of one, number, seconds of all at full speed */
    double redundancy;        /* how many times as long a step takes for what is computed twice; 1: nothing is */
    uint32_t nodes, gpus_per_node, spares;
    bool spares_chosen, interval_chosen;
    double between;           /* seconds between failures that stop the job, on average; INFINITY: none */
    double interval, formula; /* of work between checkpoints; INFINITY: none. What the closed form says, 0: not asked */
    double half, twice;       /* the mean run, and what half and twice the interval add to it by the runs that chose it,
                                 which meet the same failures. Seconds; 0: not asked */
    double state_bytes, save, write, load; /* bytes, 0: not known; mean seconds */
    double slowed; /* seconds that steps take longer in all while a state goes to storage; 0: not simulated */
    struct training_outcome outcome;
    double joules;             /* of the mean run; negative: not known */
    struct training_band cost; /* 0: not known */
};

/* The plan of a job, with the interval and the spares chosen where they are left to the program. Memory from the arena.
 */
struct training_plan *training_plan_of(const struct training_settings *settings, const struct training_job *job,
                                       struct training_forecast *forecast, struct arena *arena);
/* What saving, writing and loading a state of so many bytes takes, where the settings do not say. */
void training_plan_times(struct training_plan *plan, const struct training_settings *settings, double bytes,
                         const struct training_traffic *traffic, struct arena *arena);
/* The rest of a forecast that training_plan_of has begun. */
void training_forecast_finish(struct training_forecast *forecast, const struct training_plan *plan,
                              const struct training_outcome *outcome, const struct training_job *job);
/* The plan simulated as often as the settings say. */
struct training_forecast training_forecast_of(const struct training_settings *settings, const struct training_job *job);

#endif
