/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaved zero bubble: the chunks and groups of interleaved 1F1B with the split backwards of ZB-H1. A worker begins
 * with half as many forwards ahead as in interleaved 1F1B for each worker behind it, since the input gradient alone
 * comes back sooner, and leaves as many weight gradients for later as there are workers before it. */
#include "schedules/kit/generate.h"
#include "schedules/kit/rounds.h"
#include "schedules/kit/zero_bubble.h"
#include "schedules/split/split.h"

static const struct schedule_option options[] = {ROUNDS_OPTION_ROWS, {0}};

/* A place among a worker's backwards, from the last chunk down. */
static uint32_t stage_of(const struct plan *plan, uint32_t worker, const struct rounds_cursor *cursor)
{
    return plan->stages - plan->workers - cursor->chunk * plan->workers + worker;
}

static void order(struct plan *plan, uint32_t worker, uint32_t group)
{
    uint32_t workers = plan->workers, count = plan->micro_batches, chunks = plan->stages / workers;
    uint64_t all = (uint64_t)count * chunks, warm = (uint64_t)(chunks - 1) * group + (workers - 1 - worker);
    struct rounds_cursor forward = rounds_begin(count, group), backward = forward, weight = forward;
    uint64_t forwards = 0, weights = 0;
    plan_expect(plan, worker, (size_t)(3 * all));
    for (uint64_t done = 0; done < all; done++) {
        for (; forwards < all && forwards <= warm + done; forwards++) {
            plan_append(plan, worker, SLOT_FORWARD, 0, forward.chunk * workers + worker, forward.micro_batch);
            rounds_next(&forward, count, group, chunks);
        }
        append_split_backward(plan, worker, stage_of(plan, worker, &backward), backward.micro_batch);
        rounds_next(&backward, count, group, chunks);
        for (; weights + worker <= done || (done + 1 == all && weights < all); weights++) {
            plan_append(plan, worker, SLOT_WEIGHT, 0, stage_of(plan, worker, &weight), weight.micro_batch);
            rounds_next(&weight, count, group, chunks);
        }
    }
}

static struct plan *generate(const struct schedule_request *request)
{
    return rounds_plan(request, order);
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    return rounds_fit(schedule_interleaved_zb.name, request, refusal);
}

const struct schedule schedule_interleaved_zb = {
    .name = "interleaved-zb",
    .summary = "interleaved whose weight gradients run later, as in zb-h1: a third of its bubble for equal passes",
    .when = "in place of interleaved where the framework splits backwards",
    .source = "PyTorch, torch.distributed.pipelining, ScheduleInterleavedZeroBubble; Qi et al., Zero Bubble Pipeline "
              "Parallelism, ICLR 2024, arXiv 2401.10241",
    .split_backward = true,
    .plain = true,
    .options = options,
    .stages = rounds_stages,
    .fits = fits,
    .plan = generate,
};
