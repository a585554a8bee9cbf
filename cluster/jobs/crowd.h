/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs simulated together for all their iterations, most of which repeat.
 *
 * Why leaving iterations out is exact. (1) Each job's order repeats iteration by iteration (simulator/program/beats.h).
 * (2) In a run with fewer iterations of each job all jobs together come back to a state (base/numbers/cycle.h) while
 * all of them run: then the rates that they give each other come back as well. (3) What comes next follows from the
 * state and from the order of what is still to come, and the jobs with all their iterations have more of the same. So
 * they go through the cycle again until these are used up, and what is left is the end of the shorter run. */
#ifndef STAGESIM_CROWD_H
#define STAGESIM_CROWD_H

#include "base/numbers/cycle.h"
#include "cluster/jobs/job_run.h"

/* A job of a crowd that was simulated. */
struct crowd_job {
    double duration;    /* seconds from its start to its end, with all its iterations */
    double *ends;       /* [run iterations]: when its iterations ended, in its own time, as they were simulated */
    uint32_t left_out;  /* iterations that were not */
    struct job_run run; /* with its timeline, as it was simulated */
};

struct crowd {
    struct crowd_job *jobs; /* [count] */
    uint32_t count;
    struct cycle cycle;   /* length 0: all iterations were simulated */
    uint32_t repeats;     /* how many more times the jobs go through the cycle */
    uint64_t simulated;   /* operations, also of runs in vain */
    const char *unfolded; /* why no ranks stand for others; NULL: some do */
    bool even;            /* groups that are alike had no turns, since that is cheaper */
};

/* What crowds are made of. */
struct crowd_world {
    struct platform *platform; /* the whole */
    const struct engine *engine;
    bool steady; /* iterations may be left out */
    bool fold;   /* ranks that are alike may be simulated once */
    enum jobs_leads leads;
    FILE *notes; /* where it is said before a simulation that it takes long; NULL: nowhere */
    struct arena *arena;
    struct diag *diag;
};

/* Simulates jobs (each built for any number of iterations; its start counts) with all the iterations that they are
 * described with. NULL with the fault filled, or mistakes reported. crowd_finish frees what is not the arena's. */
struct crowd *crowd_simulate(const struct crowd_world *world, const struct job_run *const *runs, uint32_t count,
                             struct fault *fault);
void crowd_finish(struct crowd *crowd);

#endif
