/* SPDX-License-Identifier: Apache-2.0 */
/* Seq1F1B and SlimPipe: 1F1B in slices of the sequence of a micro-batch. Forwards go through the slices in order,
 * backwards from the last slice of a micro-batch to the first, so that the first backward can start once all slices of
 * a micro-batch have come through. Seq1F1B warms up with as few forwards as possible, which leaves gaps where slices
 * take unequal times. SlimPipe warms up eagerly and lets workers that have long slices exchange parts of their
 * attention with those that have short ones, so that all slices take the same time. With several chunks of the model a
 * worker, both go through the slices in groups, as interleaved 1F1B goes through micro-batches. */
#include "schedules/plan/plan_slices.h"
#include "schedules/schedules.h"

enum { OPTION_SLICES, OPTION_LENGTHS, OPTION_CHUNKS };
enum { OPTION_EXCHANGE = OPTION_LENGTHS };
enum { AVERAGE, BALANCED };

static const char *const lengths[] = {"average", "balanced", NULL};
static const char *const exchanges[] = {"on", "off", NULL};

#define CHUNKS                                                                                                         \
    {                                                                                                                  \
        .key = "chunks", .initial = 1, .least = 1, .most = SCHEDULE_STAGES_MAX,                                        \
        .doc = "chunks of the model per worker (v)"                                                                    \
    }

static const struct schedule_option sequence_options[] = {
    [OPTION_SLICES] = {.key = "slices", .initial = 4, .least = 1, .most = 4096, .doc = "slices of a sequence (n)"},
    [OPTION_LENGTHS] = {.key = "lengths",
                        .names = lengths,
                        .initial = AVERAGE,
                        .doc = "average: slices of equal length; balanced: slices that take the same time"},
    [OPTION_CHUNKS] = CHUNKS,
    {0},
};

static const struct schedule_option slim_options[] = {
    [OPTION_SLICES] = {.key = "slices",
                       .initial = 0,
                       .least = 0,
                       .most = 4096,
                       .doc = "slices of a sequence (n), a multiple of the workers; 0: as many as workers"},
    [OPTION_EXCHANGE] = {.key = "exchange",
                         .names = exchanges,
                         .doc = "whether workers exchange parts of their attention, so that all slices take the same "
                                "time"},
    [OPTION_CHUNKS] = CHUNKS,
    {0},
};

static uint32_t chunks_of(const struct schedule_request *request)
{
    return (uint32_t)request->options[OPTION_CHUNKS];
}

static uint32_t stages(const struct schedule_request *request)
{
    uint64_t count = (uint64_t)request->workers * chunks_of(request);
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

/* Slices that follow each other in one chunk: all of them where there is one chunk, else those of as few micro-batches
 * as make one slice for every worker. */
static uint32_t group_of(const struct plan *plan)
{
    uint32_t slices = plan->slices;
    return plan->stages == plan->workers ? plan->micro_batches : (plan->workers + slices - 1) / slices * slices;
}

/* A worker's forward or backward number `index`: groups in order, in each the chunks one after the other, forwards from
 * the first chunk on, backwards from the last one back and from the last slice of a micro-batch to the first. */
static void append(struct plan *plan, uint32_t worker, enum slot_kind kind, uint64_t index)
{
    uint32_t group = group_of(plan), chunks = plan->stages / plan->workers, slices = plan->slices;
    uint32_t chunk = (uint32_t)(index / group % chunks);
    uint32_t unit = (uint32_t)(index / group / chunks * group + index % group);
    if (kind == SLOT_BACKWARD) {
        chunk = chunks - 1 - chunk;
        unit = unit / slices * slices + (slices - 1 - unit % slices);
    }
    plan_append(plan, worker, kind, 0, chunk * plan->workers + worker, unit);
}

static void order(struct plan *plan, uint32_t worker, uint64_t warm)
{
    uint64_t count = (uint64_t)plan->micro_batches * (plan->stages / plan->workers);
    plan_expect(plan, worker, 2 * count);
    if (warm > count)
        warm = count;
    for (uint64_t i = 0; i < warm; i++)
        append(plan, worker, SLOT_FORWARD, i);
    for (uint64_t i = 0; i < count; i++) {
        if (warm + i < count)
            append(plan, worker, SLOT_FORWARD, warm + i);
        append(plan, worker, SLOT_BACKWARD, i);
    }
}

/* Forwards before the first backward follows a forward at once: all chunks but the last of the first group, the slices
 * of a micro-batch but the last, and `each` for every worker behind. */
static uint64_t warm_up(const struct plan *plan, uint32_t worker, uint32_t each)
{
    uint64_t before = (uint64_t)(plan->stages / plan->workers - 1) * group_of(plan);
    return before + plan->slices - 1 + (uint64_t)each * (plan->workers - 1 - worker);
}

static struct plan *create(const struct schedule_request *request, uint32_t slices)
{
    struct plan *plan = plan_create(request->workers, stages(request), 1, request->micro_batches * slices);
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        plan_place(plan, 0, stage, stage % plan->workers);
    if (slices > 1)
        plan_cut(plan, slices);
    return plan;
}

/* The share of all forwards that is causal attention. */
static double mean_attention(const struct schedule_request *request)
{
    const struct plan_costs *costs = request->costs;
    double attention = 0, all = 0;
    for (uint32_t stage = 0; costs && costs->attention[0] && stage < stages(request); stage++) {
        attention += costs->attention[0][stage] * costs->forward[stage];
        all += costs->forward[stage];
    }
    return all > 0 ? attention / all : 0;
}

static struct plan *generate_sequence(const struct schedule_request *request)
{
    uint32_t slices = (uint32_t)request->options[OPTION_SLICES], each = chunks_of(request) > 1 ? 2 : 1;
    struct plan *plan = create(request, slices);
    if (slices > 1 && request->options[OPTION_LENGTHS] == BALANCED)
        plan_cut_balanced(plan, mean_attention(request), request->grain);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order(plan, worker, warm_up(plan, worker, each));
    return plan;
}

static uint32_t slim_slices(const struct schedule_request *request)
{
    uint32_t slices = (uint32_t)request->options[OPTION_SLICES];
    return slices ? slices : request->workers;
}

static struct plan *generate_slim(const struct schedule_request *request)
{
    uint32_t slices = slim_slices(request);
    struct plan *plan = create(request, slices);
    plan->even_slices = slices > 1 && request->options[OPTION_EXCHANGE] == 0;
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order(plan, worker, warm_up(plan, worker, 2));
    return plan;
}

static bool sliced_fits(const char *name, const struct schedule_request *request, uint32_t slices,
                        struct schedule_refusal *refusal)
{
    uint64_t most = SCHEDULE_FORWARDS_MAX / stages(request) / slices;
    uint32_t together = (request->workers + slices - 1) / slices;
    if (request->micro_batches > most)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "%s with %u slices on %u workers takes at most %llu micro-batches, not %u", name, slices,
                               request->workers, (unsigned long long)most, request->micro_batches);
    return chunks_of(request) == 1 || request->micro_batches % together == 0 ||
           schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                           "%s with %u slices and chunks needs a multiple of %u micro-batches on %u workers, not %u",
                           name, slices, together, request->workers, request->micro_batches);
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
    .when = "long sequences: few, large micro-batches",
    .source = "Sun et al., Seq1F1B: Efficient Sequence-Level Pipeline Parallelism for Large Language Model Training, "
              "NAACL 2025, arXiv 2406.03488, and its implementation",
    .slices = true,
    .options = sequence_options,
    .stages = stages,
    .fits = sequence_fits,
    .plan = generate_sequence,
};

const struct schedule schedule_slimpipe = {
    .name = "slimpipe",
    .summary = "1F1B in slices of the sequence with attention exchanged between workers, so that slices are alike",
    .when = "as seq1f1b, over slow links or where balanced slices are too short to be efficient",
    .source = "SlimPipe: Memory-Thrifty and Efficient Pipeline Parallelism for Long-Context LLM Training, "
              "arXiv 2504.14519; the order is our own construction after its abstract",
    .slices = true,
    .options = slim_options,
    .stages = stages,
    .fits = slim_fits,
    .plan = generate_slim,
};
