/* SPDX-License-Identifier: Apache-2.0 */
/* DualPipe: two replicas of the model run through the same workers in opposite directions, half of the micro-batches
 * each, and in the steady state a forward of one direction and a backward of the other run as one block, which hides
 * the communication of either behind the computation of the other. Weight gradients are put off only at the ends, where
 * they fill bubbles. */
#include "schedules/kit/generate.h"
#include "schedules/split/dualpipe_steps.h"
#include "schedules/split/split.h"

static struct plan *generate(const struct schedule_request *request)
{
    uint32_t workers = request->workers, half = request->micro_batches / 2;
    struct plan *plan = plan_create(workers, workers, 2, request->micro_batches);
    for (uint32_t worker = 0; worker < workers; worker++) {
        uint32_t mirror = workers - 1 - worker;
        plan_place(plan, 0, worker, worker);
        plan_place(plan, 1, mirror, worker);
        struct dualpipe_phase down = {.pipeline = 0, .stage = worker, .first = 0};
        struct dualpipe_phase up = {.pipeline = 1, .stage = mirror, .first = half};
        bool upper = worker < mirror;
        dualpipe_order((struct dualpipe_worker){.plan = plan,
                                                .worker = worker,
                                                .length = workers / 2,
                                                .rank = upper ? worker : mirror,
                                                .micro_batches = half,
                                                .backward = request->options[0],
                                                .phase = {upper ? down : up, upper ? up : down}});
    }
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    if (request->workers % 2)
        return schedule_refuse(refusal, REFUSED_WORKERS, NULL,
                               "dualpipe runs pipelines in both directions and needs an even number of workers, not %u",
                               request->workers);
    if (request->micro_batches % 2 || request->micro_batches < 2 * request->workers)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "dualpipe on %u workers needs an even number of micro-batches, at least %u, not %u",
                               request->workers, 2 * request->workers, request->micro_batches);
    return true;
}

const struct schedule schedule_dualpipe = {
    .name = "dualpipe",
    .summary = "two directions at once, a forward and a backward as one block that hides their communication; two "
               "copies of the weights",
    .when = "experts' all-to-all as long as their computing, and room for two copies of the weights",
    .source = "DeepSeek-AI, DeepSeek-V3 Technical Report, arXiv 2412.19437, section 3.2.1; reference implementation "
              "deepseek-ai/DualPipe",
    .split_backward = true,
    .options = dualpipe_options,
    .stages = stages_one_per_worker,
    .fits = fits,
    .plan = generate,
};
