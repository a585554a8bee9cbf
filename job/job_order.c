/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule's orders for workloads that add the operations of a pipeline themselves. */
#include "job/job_parts.h"

#include "base/arena.h"
#include "schedules/plan/plan_weights.h"

/* What of a plan goes beyond whole slots of stages that are on one worker each; NULL: nothing. */
static const char *find_feature(const struct plan *plan)
{
    if (plan->pipelines > 1)
        return "holds stages on several workers";
    if (plan->asynchronous || plan->steps_each)
        return "updates weights while micro-batches that use the older ones are under way";
    if (plan->step == PLAN_STEP_BLOCKING)
        return "has all workers wait for each other before their optimizer steps";
    if (plan_travels(plan))
        return "has weights travel";
    if (plan->barriers)
        return "has workers share the output layer";
    return plan->slices > 1 ? "cuts sequences into slices" : NULL;
}

static const char *find_slot(const struct plan *plan, uint32_t worker, const struct slot *slot)
{
    if (plan_worker(plan, 0, slot->stage) != worker)
        return "has workers do the work of others";
    if (slot->kind != SLOT_FORWARD && slot->kind != SLOT_BACKWARD && slot->kind != SLOT_WEIGHT)
        return "moves stashes or computes forwards again";
    if (slot->part != PART_WHOLE)
        return "halves backwards";
    return slot->joined ? "runs several passes as one" : NULL;
}

static bool is_plain(struct stagesim_job *job, const struct plan *plan)
{
    const char *feature = find_feature(plan);
    for (uint32_t worker = 0; worker < plan->workers && !feature; worker++)
        for (size_t i = 0; i < plan->orders[worker].count && !feature; i++)
            feature = find_slot(plan, worker, &plan->orders[worker].slots[i]);
    if (!feature)
        return true;
    diag_error(job->diag, scenario_place(job->scenario, "schedule"),
               "%s %s, which is not possible with this workload's parts; expected a schedule of whole forwards, "
               "backwards and weight gradients on one worker for each stage, such as 1f1b",
               job->scenario->schedule_name, feature);
    return false;
}

bool job_plan_order(struct stagesim_job *job, const struct stagesim_pipeline *times)
{
    if (job->scenario->messages == MESSAGES_BLOCKING) {
        diag_error(job->diag, scenario_place(job->scenario, "communication.messages"),
                   "each part of a layer has messages of its own, beside the computing; messages are queued or "
                   "pipelined, not blocking");
        return false;
    }
    if (!scenario_check_pipeline(job->scenario, job->diag))
        return false;
    job->plan = job_make_plan(job, times, false);
    job->ordered = job->plan && job_check_stages(job, times->stages) && is_plain(job, job->plan);
    return job->ordered;
}

static enum stagesim_kind kind_of(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD    ? STAGESIM_FORWARD
           : slot->kind == SLOT_BACKWARD ? STAGESIM_BACKWARD
                                         : STAGESIM_WEIGHT;
}

const struct stagesim_slot *job_order(struct stagesim_job *job, uint32_t worker, size_t *count)
{
    const struct plan *plan = job->plan;
    if (!job_expect(job, worker < plan->workers, "there is no worker %u, only %u of them", worker, plan->workers))
        return NULL;
    const struct plan_order *order = &plan->orders[worker];
    const uint32_t each = plan->micro_batches / plan->iterations;
    struct stagesim_slot *slots = arena_array(job->arena, order->count, sizeof *slots);
    *count = order->count;
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        slots[i] = (struct stagesim_slot){.kind = kind_of(slot),
                                          .stage = slot->stage,
                                          .micro_batch = slot->micro_batch % each,
                                          .iteration = slot->micro_batch / each,
                                          .split = slot->split};
    }
    return slots;
}
