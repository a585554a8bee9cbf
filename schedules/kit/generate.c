/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/kit/generate.h"

uint32_t stages_one_per_worker(const struct schedule_request *request)
{
    return request->workers;
}

struct plan *plan_create_looped(const struct schedule_request *request, uint32_t stages)
{
    struct plan *plan = plan_create(request->workers, stages, 1, request->micro_batches * request->iterations);
    plan->iterations = request->iterations;
    for (uint32_t stage = 0; stage < stages; stage++)
        plan_place(plan, 0, stage, stage % request->workers);
    return plan;
}

void order_one_forward_one_backward(struct plan *plan, uint32_t worker, uint32_t warm)
{
    uint32_t count = plan->micro_batches;
    plan_expect(plan, worker, 2 * (size_t)count);
    if (warm > count)
        warm = count;
    for (uint32_t i = 0; i < warm; i++)
        plan_append(plan, worker, SLOT_FORWARD, 0, worker, i);
    for (uint32_t i = 0; i < count; i++) {
        if (warm + i < count)
            plan_append(plan, worker, SLOT_FORWARD, 0, worker, warm + i);
        plan_append(plan, worker, SLOT_BACKWARD, 0, worker, i);
    }
}
