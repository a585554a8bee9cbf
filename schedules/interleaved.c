/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaved 1F1B: a worker holds v chunks of the model, chunk c being stage c D + w, so that filling and draining
 * take 1/v of the time. Forwards go through the micro-batches in groups of g: within a group all of chunk 0, then all
 * of chunk 1 and so on; backwards likewise from the last chunk down. */
#include "schedules/kit/rounds.h"
#include "schedules/schedules.h"

static const struct schedule_option options[] = {ROUNDS_OPTION_ROWS, {0}};

static void order(struct plan *plan, uint32_t worker, uint32_t group)
{
    uint32_t workers = plan->workers, micro_batches = plan->micro_batches, chunks = plan->stages / workers;
    uint64_t count = (uint64_t)micro_batches * chunks;
    uint64_t warm = 2 * (uint64_t)(workers - 1 - worker) + (uint64_t)(chunks - 1) * group;
    struct rounds_cursor forward = rounds_begin(micro_batches, group), backward = forward;
    for (uint64_t i = 0, done = 0; done < count; i++) {
        if (i < count) {
            plan_append(plan, worker, SLOT_FORWARD, 0, forward.chunk * workers + worker, forward.micro_batch);
            rounds_next(&forward, micro_batches, group, chunks);
        }
        if (i < warm && i + 1 < count)
            continue;
        plan_append(plan, worker, SLOT_BACKWARD, 0, (chunks - 1 - backward.chunk) * workers + worker,
                    backward.micro_batch);
        rounds_next(&backward, micro_batches, group, chunks);
        done++;
    }
}

static struct plan *generate(const struct schedule_request *request)
{
    return rounds_plan(request, order);
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    return rounds_fit(schedule_interleaved.name, request, refusal);
}

const struct schedule schedule_interleaved = {
    .name = "interleaved",
    .summary = "1f1b with several chunks of the model per worker: 1/v of the bubble, v times the messages",
    .when = "few micro-batches a worker, fast links, a framework without split backwards",
    .source = "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, SC "
              "2021, arXiv 2104.04473",
    .plain = true,
    .options = options,
    .stages = rounds_stages,
    .fits = fits,
    .plan = generate,
};
