/* SPDX-License-Identifier: Apache-2.0 */
/* Combined 1F1B: interleaved 1F1B whose steady state runs a forward and the backward of another micro-batch as one
 * block, so that the all-to-alls of experts of the one hide behind the computing of the other. A worker begins with one
 * forward more than interleaved does: otherwise the last worker's block would hold a forward and the backward that
 * waits for it. */
#include "schedules/kit/rounds.h"
#include "schedules/schedules.h"

static const struct schedule_option options[] = {ROUNDS_OPTION_ROWS, {0}};

static void order(struct plan *plan, uint32_t worker, uint32_t group)
{
    uint32_t workers = plan->workers, count = plan->micro_batches, chunks = plan->stages / workers;
    uint64_t all = (uint64_t)count * chunks, warm = 2 * (uint64_t)(workers - 1 - worker) + 1;
    struct rounds_cursor forward = rounds_begin(count, group), backward = forward;
    warm += (uint64_t)(chunks - 1) * group;
    plan_expect(plan, worker, (size_t)(2 * all));
    for (uint64_t i = 0; i < all + (warm < all ? warm : all); i++) {
        if (i < all) {
            plan_append(plan, worker, SLOT_FORWARD, 0, forward.chunk * workers + worker, forward.micro_batch);
            rounds_next(&forward, count, group, chunks);
        }
        if (i < warm && i < all)
            continue;
        struct slot *slot = plan_append(plan, worker, SLOT_BACKWARD, 0,
                                        (chunks - 1 - backward.chunk) * workers + worker, backward.micro_batch);
        slot->joined = i < all ? SLOT_JOINED : SLOT_ALONE;
        rounds_next(&backward, count, group, chunks);
    }
}

static struct plan *generate(const struct schedule_request *request)
{
    return rounds_plan(request, order);
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    return rounds_fit(schedule_combined_1f1b.name, request, refusal);
}

const struct schedule schedule_combined_1f1b = {
    .name = "combined-1f1b",
    .summary = "interleaved whose forwards and backwards run in pairs, each hiding the other's all-to-alls",
    .when = "experts whose all-to-alls take as long as their computing, one copy of the weights",
    .source = "Megatron-LM, megatron/core/pipeline_parallel/combined_1f1b.py (overlap_moe_expert_parallel_comm)",
    .options = options,
    .stages = rounds_stages,
    .fits = fits,
    .plan = generate,
};
