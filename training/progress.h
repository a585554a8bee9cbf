/* SPDX-License-Identifier: Apache-2.0 */
/* Steps, evaluations and checkpoints of a training while nothing stops it. */
#ifndef STAGESIM_TRAINING_PROGRESS_H
#define STAGESIM_TRAINING_PROGRESS_H

#include "training/plan.h"

/* Seconds of work at full speed. */
struct progress {
    const struct training_plan *plan;
    struct training_run *run;   /* where time is counted */
    struct training_diary *log; /* NULL: none */
    struct draws draws;
    double done;           /* of the whole work */
    double safe, safe_far; /* of it what a restart begins with; from storage, where copies in memory are lost */
    double next_save, next_far, next_evaluation;
    enum training_part phase;  /* PART_STEPS, PART_CHECKPOINT or PART_EVALUATION */
    double phase_end;          /* on the calendar, of the latter two */
    bool pending, pending_far; /* a saved state is on its way */
    double pending_work, pending_at;
    double slow, share; /* steps take so many times as long; the share of them that the replicas there are do */
    const struct failure_component *cause; /* of being slow */
};

void progress_begin(struct progress *progress, const struct training_plan *plan, uint64_t run_seed,
                    struct training_run *run, struct training_diary *log);
/* From `now` on to `until`, or to the end of the training if that is earlier: returns when, and in *finished which. */
double progress_advance(struct progress *progress, double now, double until, bool *finished);
/* Counts a stretch of the calendar as `part`. */
void progress_count(struct progress *progress, enum training_part part, double from, double to,
                    const struct failure_component *cause);
/* So many seconds were lost to a component of the plan; NULL: to none. */
void progress_blame(struct progress *progress, const struct failure_component *cause, double seconds);
/* Everything stops at `now` because of a component, and goes on later with what is safe: in storage, where `far`. */
void progress_stop(struct progress *progress, double now, bool far, const struct failure_component *cause);
/* The same with `work` of it, or less. */
void progress_return(struct progress *progress, double work, const struct failure_component *cause);
/* It stands still. Nothing is lost but the step, the checkpoint or the evaluation that was being done. */
void progress_pause(struct progress *progress, double now);
/* The same, and the state is safe as it is. */
void progress_keep(struct progress *progress, double now);

#endif
