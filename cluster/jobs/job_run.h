/* SPDX-License-Identifier: Apache-2.0 */
/* A job of the cluster on its hosts, and jobs simulated side by side. */
#ifndef STAGESIM_JOB_RUN_H
#define STAGESIM_JOB_RUN_H

#include "cluster/jobs/jobs.h"
#include "job/job.h"
#include "simulator/engines/engine.h"
#include "simulator/run/folded_run.h"

struct arena;

/* A job that was built for some iterations. */
struct job_run {
    const struct cluster_job *described;
    const struct job *job;
    struct platform *whole, *part; /* of which are its own hosts */
    const uint32_t *given;         /* [host of part]: index into the hosts of the whole */
    uint32_t *hosts;               /* [rank]: index into the hosts of the whole platform */
    uint32_t iterations;           /* of the program */
    double lasts; /* seconds that all jobs take about where this is a part of it, which the engine makes its clock for;
                     0: not known */
    double start; /* seconds after the beginning of the simulation */
    struct timeline *timeline;  /* filled by job_runs_simulate, in the job's own time: it starts at 0. The caller's */
    const struct job_run *like; /* of those simulated together the one that was simulated for it; NULL: itself */
};

/* Where and how jobs are simulated; with contention the rule says what is folded. */
struct job_site {
    struct platform *whole;
    const struct engine *engine;
    struct folded_rule rule;
    FILE *notes;      /* where it is said before a simulation that it takes long; NULL: nowhere */
    char reason[256]; /* filled by job_runs_simulate: why no ranks were; "": some were */
};

/* Builds the job for that many iterations, on hosts of the whole platform. False with the mistakes reported. Memory
 * from the arena. */
bool job_run_create(const struct cluster_job *described, struct platform *whole, const uint32_t *hosts,
                    uint32_t iterations, struct arena *arena, struct diag *diag, struct job_run *run);

/* The same job on the same hosts for another number of iterations. */
bool job_run_again(const struct job_run *run, uint32_t iterations, struct arena *arena, struct diag *diag,
                   struct job_run *again);

/* Simulates jobs on one platform, in a process of its own. False with the fault filled when that fails: then there are
 * no timelines. */
bool job_runs_simulate(struct job_run *runs, uint32_t count, struct job_site *site, struct fault *fault);

void job_runs_finish(struct job_run *runs, uint32_t count);

/* [iterations]: when each iteration ended on all ranks, in the job's own time. Memory from the arena. */
double *job_run_ends(const struct job_run *run, struct arena *arena);

#endif
