/* SPDX-License-Identifier: Apache-2.0 */
/* GPipe: all forwards, then all backwards. */
#include "schedules/schedules.h"

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order_one_forward_one_backward(plan, worker, request->micro_batches);
    return plan;
}

const struct schedule schedule_gpipe = {
    .name = "gpipe",
    .summary = "all forwards, then all backwards; stashes every micro-batch",
    .source = "Huang et al., GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism, NeurIPS "
              "2019, arXiv 1811.06965",
    .stages = stages_one_per_worker,
    .plan = generate,
};
