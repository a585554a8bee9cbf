/* SPDX-License-Identifier: Apache-2.0 */
/* PipeDream and PipeDream-2BW: 1F1B without a flush, the iterations of a plan being one continuous order.
 *
 * PipeDream updates the weights after every micro-batch's backward. A backward uses the weight version that its forward
 * used, so worker w keeps the D - w versions of the forwards in flight, and its gradients are D - 1 - w updates old.
 * PipeDream-2BW adds up the gradients of an iteration's N >= D micro-batches before it makes a new version; two
 * versions are enough, and every gradient is one update old. */
#include "schedules/schedules.h"

static struct plan *continuous(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    plan->asynchronous = true;
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order_one_forward_one_backward(plan, worker, request->workers - 1 - worker);
    return plan;
}

static struct plan *generate_pipedream(const struct schedule_request *request)
{
    struct plan *plan = continuous(request);
    plan->steps_each = true;
    for (uint32_t worker = 0; worker < request->workers; worker++) {
        plan->weight_versions[worker] = request->workers - worker;
        plan->staleness[worker] = request->workers - 1 - worker;
    }
    return plan;
}

static struct plan *generate_2bw(const struct schedule_request *request)
{
    struct plan *plan = continuous(request);
    for (uint32_t worker = 0; worker < request->workers; worker++) {
        plan->weight_versions[worker] = 2;
        plan->staleness[worker] = 1;
    }
    return plan;
}

static bool fits_2bw(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    if (request->micro_batches >= request->workers)
        return true;
    return schedule_refuse(
        refusal, REFUSED_MICRO_BATCHES, NULL,
        "pipedream-2bw gets by with two weight versions only if an iteration has at least as many micro-batches as "
        "there are workers (%u), not %u",
        request->workers, request->micro_batches);
}

const struct schedule schedule_pipedream = {
    .name = "pipedream",
    .summary =
        "asynchronous 1f1b: no flush, weights updated after every micro-batch, D - w stashed versions on worker w",
    .when = "stale gradients are acceptable and weights small",
    .source =
        "Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP 2019, arXiv 1806.03377",
    .asynchronous = true,
    .crosses = true,
    .stages = stages_one_per_worker,
    .plan = generate_pipedream,
};

const struct schedule schedule_pipedream_2bw = {
    .name = "pipedream-2bw",
    .summary = "asynchronous 1f1b: no flush, two weight versions, every gradient one update old",
    .when = "gradients one update old are acceptable; many micro-batches",
    .source = "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021, arXiv 2006.09503",
    .asynchronous = true,
    .crosses = true,
    .stages = stages_one_per_worker,
    .fits = fits_2bw,
    .plan = generate_2bw,
};
