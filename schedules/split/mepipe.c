/* SPDX-License-Identifier: Apache-2.0 */
/* MEPipe's slice-level schedule: the sequence of a micro-batch in slices, the model in chunks, and split backwards. A
 * worker starts with the forwards of all chunks but the last of one group of slices, the slices of a micro-batch but
 * the last, and one for each worker behind. Then a forward and an input gradient alternate; weight gradients follow as
 * many input gradients later as there are workers before this one. */
#include "schedules/kit/generate.h"
#include "schedules/kit/zero_bubble.h"
#include "schedules/plan/plan_slices.h"
#include "schedules/split/split.h"

enum { OPTION_SLICES, OPTION_CHUNKS };

static const struct schedule_option options[] = {
    [OPTION_SLICES] = {.key = "slices", .initial = 4, .least = 1, .most = 4096, .doc = "slices of a sequence (n)"},
    [OPTION_CHUNKS] = {.key = "chunks",
                       .initial = 2,
                       .least = 1,
                       .most = SCHEDULE_STAGES_MAX,
                       .doc = "chunks of the model per worker (v)"},
    {0},
};

static uint32_t stages(const struct schedule_request *request)
{
    uint64_t count = (uint64_t)request->workers * (uint64_t)request->options[OPTION_CHUNKS];
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

/* Slices that follow each other in one chunk: those of as few micro-batches as make one slice for every worker. */
static uint32_t group_of(const struct schedule_request *request)
{
    uint32_t slices = (uint32_t)request->options[OPTION_SLICES];
    return (request->workers + slices - 1) / slices * slices;
}

/* The chunk and slice of a worker's forward, or of its backward, of that number. */
static struct slot place(const struct plan *plan, uint32_t worker, enum slot_kind kind, uint32_t group, uint64_t number)
{
    uint32_t chunks = plan->stages / plan->workers, slices = plan->slices;
    uint32_t chunk = (uint32_t)(number / group % chunks);
    uint32_t unit = (uint32_t)(number / group / chunks * group + number % group);
    if (kind != SLOT_FORWARD) {
        chunk = chunks - 1 - chunk;
        unit = unit / slices * slices + (slices - 1 - unit % slices);
    }
    return (struct slot){.micro_batch = unit, .stage = (uint16_t)(chunk * plan->workers + worker)};
}

static void append(struct plan *plan, uint32_t worker, enum slot_kind kind, uint32_t group, uint64_t number)
{
    struct slot at = place(plan, worker, kind, group, number);
    plan_append(plan, worker, kind, 0, at.stage, at.micro_batch)->split = kind == SLOT_BACKWARD;
}

static void order(struct plan *plan, uint32_t worker, uint32_t group)
{
    uint32_t chunks = plan->stages / plan->workers;
    uint64_t all = (uint64_t)plan->micro_batches * chunks, forwards = 0, weights = 0;
    uint64_t warm = (uint64_t)(chunks - 1) * group + plan->slices - 1 + (plan->workers - 1 - worker);
    plan_expect(plan, worker, (size_t)(3 * all));
    for (uint64_t done = 0; done < all; done++) {
        for (; forwards < all && forwards <= warm + done; forwards++)
            append(plan, worker, SLOT_FORWARD, group, forwards);
        append(plan, worker, SLOT_BACKWARD, group, done);
        for (; weights + worker <= done || (done + 1 == all && weights < all); weights++)
            append(plan, worker, SLOT_WEIGHT, group, weights);
    }
}

static struct plan *generate(const struct schedule_request *request)
{
    uint32_t slices = (uint32_t)request->options[OPTION_SLICES];
    struct plan *plan = plan_create(request->workers, stages(request), 1, request->micro_batches * slices);
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        plan_place(plan, 0, stage, stage % plan->workers);
    if (slices > 1)
        plan_cut(plan, slices);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order(plan, worker, group_of(request));
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint32_t slices = (uint32_t)request->options[OPTION_SLICES], together = group_of(request) / slices;
    uint64_t most = SCHEDULE_FORWARDS_MAX / stages(request) / slices;
    if (request->micro_batches > most)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "mepipe with %u slices on %u workers takes at most %llu micro-batches, not %u", slices,
                               request->workers, (unsigned long long)most, request->micro_batches);
    return request->options[OPTION_CHUNKS] == 1 || request->micro_batches % together == 0 ||
           schedule_refuse(
               refusal, REFUSED_MICRO_BATCHES, NULL,
               "mepipe with %u slices and chunks needs a multiple of %u micro-batches on %u workers, not %u", slices,
               together, request->workers, request->micro_batches);
}

const struct schedule schedule_mepipe = {
    .name = "mepipe",
    .summary = "slices of the sequence, chunks of the model and split backwards: least of all stashes of a 1F1B",
    .when = "long sequences and little memory, in a framework that splits backwards",
    .source =
        "Sun et al., MEPipe: Democratizing LLM Training with Memory-Efficient Slice-Level Pipeline Scheduling on "
        "Cost-Effective Accelerators, EuroSys 2025; the order is our own construction after its memory and bubble",
    .split_backward = true,
    .slices = true,
    .options = options,
    .stages = stages,
    .fits = fits,
    .plan = generate,
};
