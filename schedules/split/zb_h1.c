/* SPDX-License-Identifier: Apache-2.0 */
/* ZB-H1: 1F1B whose backward is split. Worker w runs the weight gradient of a micro-batch w backwards after its input
 * gradient, so that the input gradients travel upstream early, the weight gradients fill the drain, and no worker
 * stashes more than the first one does in 1F1B. */
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"

static void order(struct plan *plan, uint32_t worker)
{
    uint32_t count = plan->micro_batches, warm = plan->workers - 1 - worker;
    if (warm > count)
        warm = count;
    for (uint32_t i = 0; i < warm; i++)
        plan_append(plan, worker, SLOT_FORWARD, 0, worker, i);
    for (uint32_t i = 0; i < count; i++) {
        if (warm + i < count)
            plan_append(plan, worker, SLOT_FORWARD, 0, worker, warm + i);
        append_split_backward(plan, worker, worker, i);
        if (i >= worker)
            plan_append(plan, worker, SLOT_WEIGHT, 0, worker, i - worker);
    }
    for (uint32_t i = count > worker ? count - worker : 0; i < count; i++)
        plan_append(plan, worker, SLOT_WEIGHT, 0, worker, i);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order(plan, worker);
    return plan;
}

const struct schedule schedule_zb_h1 = {
    .name = "zb-h1",
    .summary = "1F1B with weight gradients moved into the drain; a third of its bubble at the same memory",
    .when = "in place of 1f1b where the framework splits backwards",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241, section 2.1",
    .split_backward = true,
    .plain = true,
    .stages = stages_one_per_worker,
    .plan = generate,
};
