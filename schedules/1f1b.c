/* SPDX-License-Identifier: Apache-2.0 */
/* 1F1B with flush, also known as DAPPLE and PipeDream-Flush: a worker runs as many forwards ahead as there are workers
 * behind it, then one forward and one backward in turn, so that it stashes at most D - w micro-batches. */
#include "schedules/schedules.h"

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order_one_forward_one_backward(plan, worker, request->workers - 1 - worker);
    return plan;
}

const struct schedule schedule_1f1b = {
    .name = "1f1b",
    .summary =
        "one forward, one backward in turn after the fill; stashes at most D micro-batches (DAPPLE, PipeDream-Flush)",
    .when = "where to start: gpipe's time, memory that does not grow with N",
    .source = "Fan et al., DAPPLE: A Pipelined Data Parallel Approach for Training Large Models, PPoPP 2021, arXiv "
              "2007.01045; "
              "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021, arXiv 2006.09503",
    .plain = true,
    .stages = stages_one_per_worker,
    .plan = generate,
};
