/* SPDX-License-Identifier: Apache-2.0 */
/* From a scenario and a platform to a program: asks the workload to build it, with the schedule's plan where it has
 * one. */
#ifndef STAGESIM_JOB_H
#define STAGESIM_JOB_H

#include "job/scenario/scenario.h"
#include "platforms/platform.h"
#include "simulator/program/program.h"
#include "workloads/pipeline/imprint.h"

struct arena;
struct beats;
struct timeline;

/* The order of a pipeline as rows of a schedule file, and what its stages take without communication. */
struct job_order {
    const char *rows;
    uint32_t stages;
    const double *forward, *backward, *weight; /* [stage]; backward is whole */
    double message;                            /* the longest between neighbours */
};

struct job {
    const struct scenario *scenario;
    struct platform *platform;
    const struct program *program;
    struct mesh mesh;                /* the scenario's, cut further where the workload asked for it */
    uint32_t *hosts;                 /* [rank]: index into the platform's hosts */
    struct stagesim_figures figures; /* what the workload declared; zero otherwise */
    const struct job_order *order;   /* NULL: not asked for, or not one that rows can say */
    const char **notes; /* "compute.kernels: ...": what is not as the scenario asks for, note_count of them */
    size_t note_count;
    struct power_plan *power;  /* NULL: the scenario says nothing of power */
    bool bound_splits;         /* `bound` is of orders that run weight gradients apart, as this one does */
    double bound;              /* no order of these stages on these workers takes less, without contention; 0: not
                                  known, of several iterations, or the scenario does not ask for it. Seconds */
    bool asynchronous;         /* the schedule is not equivalent to synchronous training */
    const uint32_t *staleness; /* [position]: updates between the weights used and the newest; NULL when synchronous */
};

/* Builds the job; all memory from the arena. `crossing` is the number of iterations that a schedule whose order crosses
 * iterations spells out (ignored by others). NULL with the mistakes reported. */
struct job *job_create(const struct scenario *scenario, struct platform *platform, uint32_t crossing,
                       struct arena *arena, struct diag *diag);

/* The same with as many iterations as `iterations: settled` takes, and with `crossing` as the scenario says, or so that
 * without contention the job comes back to a state (simulator/program/beats.h), or, where it does not in a million
 * operations, 2 D + 1. */
struct job *job_create_steady(const struct scenario *scenario, struct platform *platform, struct arena *arena,
                              struct diag *diag);

/* How many iterations a schedule whose order crosses them spells out: so that the job comes back to a state, as above.
 * 0 after a mistake was reported. */
uint32_t job_crossing(const struct scenario *scenario, struct platform *platform, struct diag *diag);
/* Whether one with the next number of iterations (simulator/program/ends.h) may be tried: not beyond a million
 * operations or so. */
bool job_may_double(const struct job *job, uint32_t iterations);

/* Whether ranks begin the next iteration before the only one of the timeline has ended, so that it may take another
 * time (simulator/program/follows.h). The scenario is that of the timeline's program. False where iterations overlap or
 * each rank has its own pace. */
bool job_runs_ahead(const struct scenario *scenario, struct platform *platform, const struct timeline *timeline);

/* Whether a job of so many operations in an iteration is small enough for `iterations: settled` to be tried unasked. */
bool job_may_settle(double operations);

/* How a job goes on from the part of it that was built: `more` times through the beats. */
struct job_repetition {
    uint32_t spare;            /* beats that are built more than the order asks for: some are found only then */
    uint32_t more;             /* 0: the whole job was built */
    const struct beats *beats; /* of the part's program */
};

/* Whether the scenario allows that a part is built. */
bool job_may_repeat(const struct scenario *scenario, const struct platform *platform);

/* Builds of a job with beats that repeat, in a scenario that allows it, only as many as its order needs to be seen.
 * Nothing is compared with the whole job's program, which is known all the same. (1) The whole job's plan is made, and
 * is the part's but for the beats (schedules/plan/plan_repeats.h). (2) Costs are those of the whole job: who computes
 * them is not told of the part. (3) A pipeline's operations follow from its slots one after the other, from what the
 * newest ones have left behind and from how many are to come (workloads/pipeline). They are seen to repeat, what they
 * wait for included (simulator/program/beats.h). Fills all but `spare`. Where the plan shows no part, it is the whole
 * job. NULL with the mistakes reported, or, without any and `more` not 0, where the program does not repeat as the plan
 * does. Memory from the arena. */
struct job *job_create_part(const struct scenario *scenario, struct platform *platform, struct arena *arena,
                            struct diag *diag, struct job_repetition *repetition);

/* Bounds on a job's time, each beside those before it: by the workers' own work, by the plan's order, of any order. */
enum job_bounds { JOB_BOUND_WORK, JOB_BOUND_ORDER, JOB_BOUND_ANY };

/* What a job comes to before its program is built. */
struct job_outline {
    bool known; /* false: no pipeline with one iteration after the other; only the program can say */
    bool fits;
    double peak_bytes, capacity_bytes; /* of the fullest rank; of the smallest host in use, 0: not known */
    /* Times that the contention-free engine is never below: by the workers' own work, and by the plan's order (0: was
     * not asked for, or for several iterations not known). Seconds. */
    double work, order;
    double bare, computing; /* see struct pipeline_outline_work */
    double
        any; /* the same of any order of these stages on these workers; 0: was not asked for, or several iterations */
    struct stagesim_figures figures; /* as in struct job */
    /* Jobs that fit, of scenarios which differ in nothing but the workload's keys and what is recomputed, are the same
     * if this is: they take as long. `count` 0: not known. */
    struct imprint imprint;
};

/* Checks all that job_create checks before the program, and fills the outline with the bounds up to the one
 * named; nothing is built. False with the mistakes reported. Memory from the arena. */
bool job_outline(const struct scenario *scenario, struct platform *platform, enum job_bounds bounds,
                 struct arena *arena, struct diag *diag, struct job_outline *outline);

#endif
