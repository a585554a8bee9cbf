/* SPDX-License-Identifier: Apache-2.0 */
/* From a scenario and a platform to a program: asks the workload to build it, with the schedule's plan where it has
 * one. */
#ifndef STAGESIM_JOB_H
#define STAGESIM_JOB_H

#include "platforms/platform.h"
#include "simulator/program/program.h"
#include "simulator/scenario/scenario.h"

struct arena;

struct job {
    const struct scenario *scenario;
    struct platform *platform;
    const struct program *program;
    struct mesh mesh;                /* the scenario's, cut further where the workload asked for it */
    uint32_t *hosts;                 /* [rank]: index into the platform's hosts */
    struct stagesim_figures figures; /* what the workload declared; zero otherwise */
    bool asynchronous;               /* the schedule is not equivalent to synchronous training */
    const uint32_t *staleness; /* [position]: updates between the weights used and the newest; NULL when synchronous */
};

/* Builds the job; all memory from the arena. `crossing` is the number of iterations that a schedule whose order crosses
 * iterations spells out (ignored by others). NULL with the mistakes reported. */
struct job *job_create(const struct scenario *scenario, struct platform *platform, uint32_t crossing,
                       struct arena *arena, struct diag *diag);

/* The same with `crossing` chosen so that the steady state is reached: two consecutive intervals between the ends of
 * iterations agree to 1e-9 on the analytic engine, at most 2 D iterations; the last interval is the next one. */
struct job *job_create_steady(const struct scenario *scenario, struct platform *platform, struct arena *arena,
                              struct diag *diag);

#endif
