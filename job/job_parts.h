/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of the job share. */
#ifndef STAGESIM_JOB_PARTS_H
#define STAGESIM_JOB_PARTS_H

#include "job/job.h"
#include "schedules/plan/plan.h"

/* How long a collective takes that the workload has asked for. */
struct collective_time {
    uint32_t position, axes;
    enum stagesim_collective collective;
    double bytes, seconds;
    bool together; /* its members begin and end together */
    bool least;    /* in any replica; otherwise in the first */
};

/* The job while it is built: what the workload's calls act on. */
struct stagesim_job {
    const struct scenario *scenario;
    struct platform *platform;
    struct program_builder *builder;
    struct job *job;
    struct arena *arena;
    struct diag *diag;
    uint32_t crossing;
    struct stagesim_pace pace;
    uint32_t *seen;                /* [position]: number of the newest group that names it, counted from 1 */
    uint32_t groups;               /* so far */
    bool clocked;                  /* the workload has asked for a clock: its times are those at it */
    bool refused;                  /* the workload has made a mistake, which has been reported */
    bool adds;                     /* the workload adds operations or memory beside its pipeline's */
    struct collective_time *times; /* time_count of them, in memory of its own */
    size_t time_count, time_capacity;
    struct job_outline *sketch;        /* where all that is asked for is an outline: nothing is built; otherwise NULL */
    enum job_bounds bounds;            /* those of the outline */
    struct job_repetition *repetition; /* where a part is enough; otherwise NULL */
    bool uneven;                       /* micro-batches do not take equal times */
    struct slot *pairs;      /* [2 * worker]: of a part: two slots, the second one is the first a beat later */
    const struct plan *plan; /* NULL until the workload lowers its pipeline */
    bool ordered;            /* the workload adds the plan's operations itself */
    bool own_plan;           /* it is not shared with other jobs */
    struct plan *outline; /* the same schedule with times that are not known yet, for where its stages are; NULL until
                             asked for */
};

/* Reports a mistake at the place of `key` in the workload's section (NULL: the section itself). */
__attribute__((format(printf, 3, 4))) void job_error(struct stagesim_job *job, const char *key, const char *format,
                                                     ...);

/* Tells of what is not as the scenario asks for, once; `key` as for job_error, `path` as in the scenario. */
__attribute__((format(printf, 3, 4))) void job_note(struct stagesim_job *job, const char *key, const char *format, ...);
__attribute__((format(printf, 3, 4))) void job_tell(struct stagesim_job *job, const char *path, const char *format,
                                                    ...);

/* ---- job_pipeline.c ---- */

/* Lowers the workload's pipeline; false after a mistake was reported. */
bool job_plan_pipeline(struct stagesim_job *job, const struct stagesim_pipeline *costs);
/* The checked plan of the scenario's schedule; where `part`, one of fewer micro-batches if that is enough for the job.
 * NULL after a mistake was reported. */
const struct plan *job_make_plan(struct stagesim_job *job, const struct stagesim_pipeline *costs, bool part);
/* Whether the plan has the stages that the workload knows; reports that it has not. */
bool job_check_stages(struct stagesim_job *job, uint32_t stages);
/* Reads the plan of a schedule file, before the workload asks for the number of stages. False after a mistake was
 * reported. */
bool job_read_plan(struct stagesim_job *job);
/* Whether so many operations are more than are to be evaluated, which is then reported. */
bool job_refuse_operations(struct stagesim_job *job, double operations);
/* The calls of struct stagesim_api that ask where stages are, what of one is recomputed, and whether weights travel. */
uint32_t job_stage_workers(struct stagesim_job *job, uint32_t stage, uint32_t *workers, uint32_t capacity);
double job_recomputed(struct stagesim_job *job, uint32_t stage);
bool job_weights_travel(struct stagesim_job *job);

/* ---- job_order.c: the calls of struct stagesim_api for workloads that add a pipeline's operations themselves ---- */

bool job_plan_order(struct stagesim_job *job, const struct stagesim_pipeline *times);
const struct stagesim_slot *job_order(struct stagesim_job *job, uint32_t worker, size_t *count);

/* ---- job_operations.c: the calls of struct stagesim_api that add to the program ---- */

/* The builder trusts its caller, who may be a plug-in: what it asks for is looked at first. Where it is not fine the
 * first mistake is reported (the others follow from it) and false returned; false from then on. */
__attribute__((format(printf, 3, 4))) bool job_expect(struct stagesim_job *job, bool fine, const char *format, ...);

uint32_t job_add_cost(struct stagesim_job *job, const struct stagesim_cost *cost);
uint32_t job_add_pairs_cost(struct stagesim_job *job, const struct stagesim_cost *cost, uint32_t group,
                            const double *bytes);
uint32_t job_add_varying_cost(struct stagesim_job *job, const struct stagesim_cost *cost, const char *axes,
                              const double *factors);
bool job_cut(struct stagesim_job *job, const char *axes, uint32_t inner);
uint32_t job_add_group(struct stagesim_job *job, const char *axes, const uint32_t *positions, size_t count);
/* As in the workload's interface; the same with what else is known of it, or `least`: where it takes least of all
 * replicas. */
double job_collective_seconds(struct stagesim_job *job, uint32_t position, const char *axes,
                              enum stagesim_collective collective, double bytes);
struct collective_time job_collective_time(struct stagesim_job *job, uint32_t position, const char *axes,
                                           enum stagesim_collective collective, double bytes, bool least);
uint32_t job_add_compute(struct stagesim_job *job, uint32_t position, struct stagesim_identity identity, uint32_t cost);
uint32_t job_add_delay(struct stagesim_job *job, uint32_t position, uint32_t lane, struct stagesim_identity identity,
                       uint32_t cost);
void job_add_message(struct stagesim_job *job, uint32_t from, uint32_t to, struct stagesim_identity identity,
                     uint32_t cost, uint32_t *send, uint32_t *receive);
uint32_t job_add_collective(struct stagesim_job *job, uint32_t position, uint32_t group,
                            enum stagesim_collective collective, struct stagesim_identity identity, uint32_t cost);
void job_add_wait(struct stagesim_job *job, uint32_t position, uint32_t operation, uint32_t awaited);
void job_add_static_memory(struct stagesim_job *job, uint32_t position, const struct stagesim_static_memory *memory);

/* ---- job_notes.c ---- */

/* Tells of algorithms that the scenario names and that do not serve the job's groups. */
void job_tell_algorithms(struct stagesim_job *job, const struct program *program);
/* Tells of the sections of a training where neither its steps nor its tokens are known. */
void job_tell_training(struct stagesim_job *job);

/* ---- job_power.c ---- */

/* Clocks and watts of the hosts. Times are those of a position's first replica, so the others have its clock. */
bool job_plan_power(const struct scenario *scenario, struct job *job, struct arena *arena, struct diag *diag);
/* Computing times under a cap, where the workload has not seen to it. An optimizer moves bytes, unless it is said what
 * share goes with the clock. */
void job_stretch(struct stagesim_job *building, struct program *program);

/* ---- job_part.c ---- */

/* A plan that lacks beats of the whole one, which is what the request asks for, and takes its place; the whole one
 * where there is none. Fills the repetition's `more`, and the pairs. */
const struct plan *job_plan_part(struct stagesim_job *job, const struct plan *whole,
                                 const struct schedule_request *request);
/* Finds the beats of the part's program. False: there are none. */
bool job_find_beats(struct stagesim_job *job);

/* ---- job_outline.c ---- */

/* Seconds of a message of the first replica from position to position while nothing else is under way; 0 where there is
 * no route. */
double job_message_seconds(const struct stagesim_job *job, uint32_t from, uint32_t to, double bytes);
/* Fills job->sketch for the plan and these costs. */
void job_sketch(struct stagesim_job *job, const struct stagesim_pipeline *costs);
/* The order of the job's pipeline goes to the job. */
void job_keep_order(struct stagesim_job *job, const struct stagesim_pipeline *costs, double message);
/* What no order of the job takes less than goes to the job. */
void job_bound(struct stagesim_job *job, const struct stagesim_pipeline *costs);

#endif
