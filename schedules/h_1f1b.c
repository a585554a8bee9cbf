/* SPDX-License-Identifier: Apache-2.0 */
/* H-1F1B: 1F1B whose warm-up follows the speed of links. In the steady state a worker runs a forward and a backward in
 * the time S of the slowest worker; the gradient of a micro-batch is back from the worker behind S and two messages
 * after its forward was sent there. So a worker needs one forward ahead for the worker behind, as in 1F1B, and one more
 * for every S, begun, that the two messages between them take. With messages that take no time that is 1F1B, with any
 * that take up to half of S eager 1F1B. */
#include "schedules/schedules.h"

#include <math.h>

/* The longest forward and backward of a stage. */
static double period_of(const struct schedule_request *request)
{
    const struct plan_costs *costs = request->costs;
    double most = 0;
    for (uint32_t stage = 0; costs && stage < request->workers; stage++)
        most = fmax(most, costs->forward[stage] + costs->backward[stage]);
    return costs ? most : request->forward + request->backward;
}

/* Forwards that the two messages between a worker and the next one take the time of; a millionth of one is none. */
static uint32_t hidden(const struct schedule_request *request, uint32_t worker, double period)
{
    const struct plan_costs *costs = request->costs;
    double message = !costs ? 0 : costs->hops ? costs->hops[worker] : costs->latency;
    double forwards = period > 0 ? ceil(fmax(2 * message / period - 1e-6, 0)) : 0;
    return forwards < request->micro_batches ? (uint32_t)forwards : request->micro_batches;
}

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    double period = period_of(request);
    uint32_t ahead = 0;
    for (uint32_t worker = request->workers; worker-- > 0;) {
        if (worker + 1 < request->workers)
            ahead += 1 + hidden(request, worker, period);
        ahead = ahead < request->micro_batches ? ahead : request->micro_batches;
        order_one_forward_one_backward(plan, worker, ahead);
    }
    return plan;
}

const struct schedule schedule_h_1f1b = {
    .name = "h-1f1b",
    .summary = "1f1b with as many forwards ahead as hide the messages of each link, fast or slow",
    .when = "1f1b over links of unequal speed, such as between clusters",
    .source = "HAPT: Heterogeneity-Aware Automated Parallel Training on Heterogeneous Clusters, arXiv 2509.24859; how "
              "many forwards are ahead is our own derivation",
    .plain = true,
    .adapts = true,
    .stages = stages_one_per_worker,
    .plan = generate,
};
