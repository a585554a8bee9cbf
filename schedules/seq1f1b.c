/* SPDX-License-Identifier: Apache-2.0 */
/* Seq1F1B and SlimPipe: 1F1B in slices of the sequence of a micro-batch. Forwards go through the slices in order,
 * backwards from the last slice of a micro-batch to the first, so that the first backward can start once all slices of
 * a micro-batch have come through. Seq1F1B warms up with as few forwards as possible, which leaves gaps where slices
 * take unequal times. SlimPipe warms up eagerly and lets workers that have long slices exchange parts of their
 * attention with those that have short ones, so that all slices take the same time. */
#include "schedules/plan/plan_slices.h"
#include "schedules/schedules.h"

enum { OPTION_SLICES, OPTION_LENGTHS };
enum { AVERAGE, BALANCED };

static const char *const lengths[] = {"average", "balanced", NULL};
static const char *const exchanges[] = {"on", "off", NULL};

static const struct schedule_option sequence_options[] = {
    [OPTION_SLICES] = {.key = "slices", .initial = 4, .least = 1, .most = 4096, .doc = "slices of a sequence (n)"},
    [OPTION_LENGTHS] = {.key = "lengths",
                        .names = lengths,
                        .initial = AVERAGE,
                        .doc = "slices of the same length, or such that they take the same time"},
    {0},
};

static const struct schedule_option slim_options[] = {
    [OPTION_SLICES] = {.key = "slices",
                       .initial = 0,
                       .least = 0,
                       .most = 4096,
                       .doc = "slices of a sequence (n), a multiple of the workers; 0: as many as workers"},
    {.key = "exchange",
     .names = exchanges,
     .doc = "whether workers exchange parts of their attention, so that all slices take the same time"},
    {0},
};

/* The place of a worker in its backwards: slice by slice from the last one back. */
static uint32_t backward_at(uint64_t index, uint32_t slices)
{
    return (uint32_t)(index / slices * slices + (slices - 1 - index % slices));
}

static void order(struct plan *plan, uint32_t worker, uint64_t warm)
{
    uint32_t count = plan->micro_batches;
    plan_expect(plan, worker, 2 * (size_t)count);
    if (warm > count)
        warm = count;
    for (uint32_t i = 0; i < warm; i++)
        plan_append(plan, worker, SLOT_FORWARD, 0, worker, i);
    for (uint32_t i = 0; i < count; i++) {
        if (warm + i < count)
            plan_append(plan, worker, SLOT_FORWARD, 0, worker, (uint32_t)warm + i);
        plan_append(plan, worker, SLOT_BACKWARD, 0, worker, backward_at(i, plan->slices));
    }
}

static struct plan *create(const struct schedule_request *request, uint32_t slices)
{
    uint32_t workers = request->workers;
    struct plan *plan = plan_create(workers, workers, 1, request->micro_batches * slices);
    for (uint32_t stage = 0; stage < workers; stage++)
        plan_place(plan, 0, stage, stage);
    if (slices > 1)
        plan_cut(plan, slices);
    return plan;
}

/* The share of all forwards that is causal attention. */
static double mean_attention(const struct schedule_request *request)
{
    const struct plan_costs *costs = request->costs;
    double attention = 0, all = 0;
    for (uint32_t stage = 0; costs && costs->attention[0] && stage < request->workers; stage++) {
        attention += costs->attention[0][stage] * costs->forward[stage];
        all += costs->forward[stage];
    }
    return all > 0 ? attention / all : 0;
}

static struct plan *generate_sequence(const struct schedule_request *request)
{
    uint32_t slices = (uint32_t)request->options[OPTION_SLICES], workers = request->workers;
    struct plan *plan = create(request, slices);
    if (slices > 1 && request->options[OPTION_LENGTHS] == BALANCED)
        plan_cut_balanced(plan, mean_attention(request), request->grain);
    /* The first backward is that of the last slice of a micro-batch. */
    for (uint32_t worker = 0; worker < workers; worker++)
        order(plan, worker, (uint64_t)(workers - 1 - worker) + slices - 1);
    return plan;
}

static uint32_t slim_slices(const struct schedule_request *request)
{
    uint32_t slices = (uint32_t)request->options[OPTION_SLICES];
    return slices ? slices : request->workers;
}

static struct plan *generate_slim(const struct schedule_request *request)
{
    uint32_t slices = slim_slices(request), workers = request->workers;
    struct plan *plan = create(request, slices);
    plan->even_slices = slices > 1 && request->options[1] == 0;
    for (uint32_t worker = 0; worker < workers; worker++)
        order(plan, worker, 2 * (uint64_t)(workers - 1 - worker) + slices - 1);
    return plan;
}

static bool sliced_fits(const char *name, const struct schedule_request *request, uint32_t slices,
                        struct schedule_refusal *refusal)
{
    uint64_t most = SCHEDULE_FORWARDS_MAX / request->workers / slices;
    return request->micro_batches <= most ||
           schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                           "%s with %u slices on %u workers takes at most %llu micro-batches, not %u", name, slices,
                           request->workers, (unsigned long long)most, request->micro_batches);
}

static bool sequence_fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    return sliced_fits("seq1f1b", request, (uint32_t)request->options[OPTION_SLICES], refusal);
}

static bool slim_fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint32_t slices = slim_slices(request), workers = request->workers;
    if (slices % workers)
        return schedule_refuse(refusal, REFUSED_OPTION, "slices",
                               "slimpipe needs a multiple of %u slices, as many as workers, not %u", workers, slices);
    return sliced_fits("slimpipe", request, slices, refusal);
}

const struct schedule schedule_seq1f1b = {
    .name = "seq1f1b",
    .summary = "1F1B in slices of the sequence: 1/n of the bubble and about 1/n of the memory",
    .source = "Sun et al., Seq1F1B: Efficient Sequence-Level Pipeline Parallelism for Large Language Model Training, "
              "NAACL 2025, arXiv 2406.03488, and its implementation",
    .slices = true,
    .options = sequence_options,
    .stages = stages_one_per_worker,
    .fits = sequence_fits,
    .plan = generate_sequence,
};

const struct schedule schedule_slimpipe = {
    .name = "slimpipe",
    .summary = "1F1B in slices of the sequence with attention exchanged between workers, so that slices are alike",
    .source = "SlimPipe: Memory-Thrifty and Efficient Pipeline Parallelism for Long-Context LLM Training, "
              "arXiv 2504.14519; the order is our own construction after its abstract",
    .slices = true,
    .options = slim_options,
    .stages = stages_one_per_worker,
    .fits = slim_fits,
    .plan = generate_slim,
};
