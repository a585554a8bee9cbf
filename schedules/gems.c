/* SPDX-License-Identifier: Apache-2.0 */
/* GEMS: two replicas of the model run through the same workers in opposite directions, and micro-batches alternate
 * between them. A worker finishes one micro-batch's backward before the next forward, so it stashes one at most; only
 * the two ends overlap. Of an odd number of workers the one in the middle has the same stage in both directions. */
#include "schedules/schedules.h"

static struct plan *generate(const struct schedule_request *request)
{
    uint32_t workers = request->workers;
    struct plan *plan = plan_create(workers, workers, 2, request->micro_batches);
    for (uint32_t stage = 0; stage < workers; stage++) {
        plan_place(plan, 0, stage, stage);
        plan_place(plan, 1, stage, workers - 1 - stage);
    }
    for (uint32_t worker = 0; worker < workers; worker++)
        for (uint32_t i = 0; i < request->micro_batches; i++) {
            uint32_t stage = i % 2 ? workers - 1 - worker : worker;
            plan_append(plan, worker, SLOT_FORWARD, i % 2, stage, i);
            plan_append(plan, worker, SLOT_BACKWARD, i % 2, stage, i);
        }
    return plan;
}

const struct schedule schedule_gems = {
    .name = "gems",
    .summary = "micro-batches alternate between two opposite replicas, one stash per worker; the least memory, the "
               "most bubble",
    .when = "no more than one micro-batch's activations fit",
    .source =
        "Jain et al., GEMS: GPU-Enabled Memory-Aware Model-Parallelism System for Distributed DNN Training, SC 2020",
    .stages = stages_one_per_worker,
    .plan = generate,
};
