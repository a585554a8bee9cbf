/* SPDX-License-Identifier: Apache-2.0 */
/* What a pipeline's plan and costs say before a program is made of them: the memory that every worker needs, which its
 * own order decides, and times that no iteration is shorter than. */
#ifndef STAGESIM_PIPELINE_OUTLINE_H
#define STAGESIM_PIPELINE_OUTLINE_H

#include "abi/workload.h"
#include "schedules/plan/plan.h"
#include "simulator/program/mesh.h"

struct arena;

/* What is asked; borrowed for the call. */
struct pipeline_outline_request {
    const struct plan *plan;
    const struct stagesim_pipeline *costs; /* costs->stages equals plan->stages */
    const struct mesh *mesh;
    /* Seconds of a collective among the ranks along the axes of a worker (of the first replica), and of a message of
     * the first replica from worker to worker, when nothing else is under way. A collective in which members go on
     * apart from each other counts 0. */
    double (*collective)(void *user, uint32_t worker, const char *axes, enum stagesim_collective collective,
                         double bytes);
    double (*message)(void *user, uint32_t from, uint32_t to, double bytes);
    void *user;
    bool repeated; /* of several iterations, which may run into each other; then the two calls above give the least of
                      all replicas, whose ranks compute no faster than the first one's */
};

/* Peaks of all workers, in bytes, with the state of their parameters; peaks[worker]. Equal to what the program's
 * timeline shows, but for rounding, and but for stashes that move to host memory: those count by the order of slots,
 * whenever their transfers run. */
void pipeline_outline_peaks(const struct plan *plan, const struct stagesim_pipeline *costs, double *peaks);

/* Times that no synchronous iteration on the contention-free engine is shorter than, nor the time between the ends of
 * two that run into each other, over as many of them as there are; 0 where iterations cross each other. The first is
 * the largest over workers of the earliest start, own computations and exposed communication, and the shortest tail;
 * for it the plan is walked once. The second is the longest path through the plan's order. Where iterations are
 * repeated both are less where that cannot be ruled out; 0: nothing is known. */
struct pipeline_outline_work {
    double seconds;   /* the first */
    double bare;      /* the same without optimizer steps: of one iteration, else 0 */
    double computing; /* what a micro-batch computes on all workers together, of one iteration of a plan that takes each
                         micro-batch once forward and once backward through every stage by itself, else 0 */
};
struct pipeline_outline_work pipeline_outline_work(const struct pipeline_outline_request *request, struct arena *arena);
double pipeline_outline_order(const struct pipeline_outline_request *request, struct arena *arena);
/* Whether the plan runs weight gradients apart. */
bool pipeline_outline_splits(const struct plan *plan);
/* The third, of one iteration, is of all orders of the same slots on the same workers, weight gradients apart where
 * those of the plan are, however much they stash. Where iterations cross each other, it is what the busiest worker has
 * to do in each. */
double pipeline_outline_any(const struct pipeline_outline_request *request, struct arena *arena);

#endif
