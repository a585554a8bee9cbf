/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario with values changed, built and timed on the analytic engine: what searches and levers ask many times. */
#ifndef STAGESIM_EVALUATE_H
#define STAGESIM_EVALUATE_H

#include "analysis/figures/report.h"
#include "job/job.h"
#include "job/scenario/scenario.h"
#include "platforms/platform.h"

struct arena;

/* What to evaluate; borrowed. */
struct evaluation_request {
    struct scenario_request scenario;
    const struct scenario_set *changes; /* change_count of them, after the scenario's own sets */
    size_t change_count;
    uint64_t operations_max;     /* jobs of about more operations are refused, also an outline; 0: none are */
    bool whole;                  /* the evaluation's job must be built with all its micro-batches */
    bool communication;          /* the report is to say what of it is exposed */
    bool order;                  /* also the job's bound and order */
    bool fits;                   /* that it does is known: the report is to say nothing of memory */
    struct class_store *classes; /* and these, on the platform */
    struct plan_store *plans;    /* shared with other evaluations; NULL: none are */
};

struct evaluation {
    const struct job *job;
    struct report *report;
    bool part; /* the job's program is a part of the whole one, which goes through beats of it again and again */
    double stream_ends; /* of columns, see struct columns_time; 0: they were not asked */
};

/* Times the changed scenario (report: time, throughput, bubble and memory, see struct run_description). Ranks that are
 * alike are evaluated once, and of micro-batches that repeat as few as possible: then the evaluation's job is the
 * shorter one. False with the mistakes reported where `stagesim check` would refuse it. Memory from
 * the arena. */
bool evaluate(const struct evaluation_request *request, struct platform *platform, struct arena *arena,
              struct diag *diag, struct evaluation *evaluation);

/* The same without building anything: memory, and bounds up to the one named. */
bool evaluate_outline(const struct evaluation_request *request, struct platform *platform, enum job_bounds bounds,
                      struct arena *arena, struct diag *diag, struct job_outline *outline);

#endif
