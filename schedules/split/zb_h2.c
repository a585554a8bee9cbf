/* SPDX-License-Identifier: Apache-2.0 */
/* ZB-H2: worker w fills the pipeline with 2 (D - w) - 1 forwards before its first backward, and delays weight gradients
 * by 2 w backwards. With N >= 2D - 1 and equal passes every worker computes without a gap from its first operation to
 * its last; the price is a stash of 2D - 1 micro-batches and an optimizer step that does not wait for the other
 * workers. */
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"

/* One iteration, from micro-batch `first` on. */
static void order(struct plan *plan, uint32_t worker, uint32_t first, uint32_t count)
{
    uint32_t forwards = 2 * (plan->workers - worker) - 1, delay = 2 * worker;
    if (forwards > count)
        forwards = count;
    for (uint32_t i = 0; i < forwards; i++)
        plan_append(plan, worker, SLOT_FORWARD, 0, worker, first + i);
    for (uint32_t i = 0; i < count; i++) {
        append_split_backward(plan, worker, worker, first + i);
        if (i >= delay)
            plan_append(plan, worker, SLOT_WEIGHT, 0, worker, first + i - delay);
        if (forwards + i < count)
            plan_append(plan, worker, SLOT_FORWARD, 0, worker, first + forwards + i);
    }
    for (uint32_t i = count > delay ? count - delay : 0; i < count; i++)
        plan_append(plan, worker, SLOT_WEIGHT, 0, worker, first + i);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct schedule_request spelled = optimizer_request(request, 0);
    struct plan *plan = plan_create_looped(&spelled, spelled.workers);
    optimizer_apply(request, 0, plan);
    for (uint32_t worker = 0; worker < spelled.workers; worker++)
        for (uint32_t iteration = 0; iteration < spelled.iterations; iteration++)
            order(plan, worker, iteration * spelled.micro_batches, spelled.micro_batches);
    return plan;
}

const struct schedule schedule_zb_h2 = {
    .name = "zb-h2",
    .summary =
        "split backward, twice the warm-up of 1F1B: no bubble for equal passes, at a stash of 2D - 1 micro-batches",
    .when = "memory for 2D - 1 micro-batches, and optimizers that step without a global norm before",
    .source = "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv 2401.10241, section 2.2 and Fig. 3",
    .crosses = true,
    .split_backward = true,
    .plain = true,
    .options = optimizer_options,
    .stages = stages_one_per_worker,
    .plan = generate,
};
