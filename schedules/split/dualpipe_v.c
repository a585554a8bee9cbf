/* SPDX-License-Identifier: Apache-2.0 */
/* DualPipeV: DualPipe cut in half. Every worker holds two half stages in a V; the way down and the way up are the two
 * directions whose forwards and backwards run as blocks, so that one copy of the weights is enough. */
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/dualpipe_steps.h"
#include "schedules/split/split.h"

static struct plan *generate(const struct schedule_request *request)
{
    uint32_t workers = request->workers;
    struct plan *plan = plan_create_waves(request, 2 * workers);
    for (uint32_t worker = 0; worker < workers; worker++)
        dualpipe_order((struct dualpipe_worker){.plan = plan,
                                                .worker = worker,
                                                .length = workers,
                                                .rank = worker,
                                                .micro_batches = request->micro_batches,
                                                .backward = request->options[0],
                                                .phase = {{.stage = worker}, {.stage = 2 * workers - 1 - worker}}});
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    if (request->micro_batches < 2 * request->workers)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "dualpipe-v on %u workers needs at least %u micro-batches, not %u", request->workers,
                               2 * request->workers, request->micro_batches);
    return true;
}

const struct schedule schedule_dualpipe_v = {
    .name = "dualpipe-v",
    .summary = "DualPipe on half the workers: two half stages a worker in a V, one copy of the weights",
    .when = "as dualpipe with one copy of the weights",
    .source = "deepseek-ai/DualPipe, DualPipeV; Sea AI Lab, DualPipe could be better without the Dual, 2025",
    .split_backward = true,
    .options = dualpipe_options,
    .stages = stages_two_per_worker,
    .fits = fits,
    .plan = generate,
};
