/* SPDX-License-Identifier: Apache-2.0 */
/* Eager 1F1B: 1F1B with twice the forwards ahead, so that a message's way there and back is hidden behind the forwards
 * of other micro-batches; costs up to twice the activations. */
#include "schedules/schedules.h"

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order_one_forward_one_backward(plan, worker, 2 * (request->workers - 1 - worker));
    return plan;
}

const struct schedule schedule_eager_1f1b = {
    .name = "eager-1f1b",
    .summary = "1f1b with twice the forwards ahead: hides the latency that 1f1b shows, for up to twice its activations",
    .when = "1f1b over slow links, with memory to spare on the first workers",
    .source = "Zhuang et al., On Optimizing the Communication of Model Parallelism, MLSys 2023, arXiv 2211.05322",
    .plain = true,
    .stages = stages_one_per_worker,
    .plan = generate,
};
