/* SPDX-License-Identifier: Apache-2.0 */
/* A run inside the process that it has for itself; for simulation*.c only. */
#ifndef STAGESIM_SIMULATION_RUN_H
#define STAGESIM_SIMULATION_RUN_H

#include "base/isolate.h"
#include "job/job.h"
#include "studies/simulation.h"

struct class_store;
struct engine;
struct frame;
struct report;
struct timeline;

/* How far a child came, to tell bad input from a failed simulation when SimGrid ends the process. */
enum stage { STAGE_CONFIGURING = 1, STAGE_LOADING, STAGE_RUNNING };

/* One run inside the child. */
struct run {
    const struct simulation_request *request;
    const struct scenario *scenario;
    struct isolated *self;
    struct arena *arena;
    struct diag diag;
    FILE *told; /* notes for people: what is written to it comes to be told_text */
    char *told_text;
    size_t told_size;
    struct platform *platform;
    struct job *job;
    struct class_store *classes;
    struct timeline *alone;          /* the analytic timeline, kept until it is compared; NULL: none */
    bool ahead;                      /* the next iteration may take another time, and the request settles */
    bool unlike;                     /* the request is of such a run, which has found iterations that differ */
    bool unsettled;                  /* it may, and the job is too large to find out unasked */
    struct training_traffic traffic; /* of checkpoints; not known: not simulated */
    double slow[TRAINING_CAUSES];    /* as in struct training_job */
};

/* The body of the process: user is a struct simulation_request. An exit code. */
int run_child(void *user, struct isolated *self);
/* Loads the platform, with SimGrid where the run `simulates` on it, and does the rest. An exit code. */
int run_prepared(int (*rest)(struct run *run), bool simulates, struct run *run, struct isolated *self);
/* What is no job: runs it, or without a request checks it. */
int run_visit_kind(const struct simulation_request *request, const struct scenario *scenario, bool simulates,
                   struct isolated *self);
/* What messages call the platform. */
const char *run_platform_name(const struct platform_source *source);
/* The platform into the run; an exit code. */
int run_load_platform(struct run *run, bool simulates);
/* The job of the scenario; an exit code. */
int run_build(struct run *run);
/* Finds out how many iterations it takes on SimGrid until the time between their ends stands, and makes the run's
 * scenario one with as many: where it asks for that, or its schedule's order crosses iterations. */
void run_settle(struct run *run);
/* Whether the request settles, and the scenario leaves open how many iterations there are. */
bool run_is_open(const struct run *run);
/* Whether in addition the next iteration may take another time than that of the engine's timeline. */
bool run_is_ahead(const struct run *run, const struct engine *engine, const struct timeline *timeline);
/* Notes whether it may, of an iteration of so many operations. */
void run_note_ahead(struct run *run, bool ahead, double operations);
/* Notes whether iterations differ, where the request is of a run with `iterations: settled` that was not asked for. */
void run_note_unlike(struct run *run, const struct frame *frame);
/* Says of a run with `iterations: settled` that was not asked for, how many there are; or that it would take one. */
void run_note_settled(const struct run *run, const struct report *report, bool last, struct comparison_row *row);
/* What people are told of it: from run_tell_begin on notes may be written to run->told; run_tell adds those that follow
 * from the report, and hands all over. run_tell_end frees them. */
void run_tell_begin(struct run *run);
void run_tell(struct run *run, const struct report *report);
void run_tell_end(struct run *run);
/* Notes of that size into the results, where the picture's boxes come next. */
void run_hand_over_told(FILE *results, const char *told, size_t size);
/* Whether the checkpoints of its training are simulated on the job's links. */
bool run_asks_for_traffic(const struct scenario *scenario);
/* What has to be simulated beside the job for its training: before SimGrid's engine runs in this process, for each of
 * these simulations has one of its own. An exit code. */
int run_find_training(struct run *run);
/* The training, with its forecast, into the report. */
void run_add_training(const struct run *run, struct report *report);
/* Reports what the fault says of the input; EXIT_BAD_INPUT. */
int run_refuse(struct run *run, const struct fault *fault);

#endif
