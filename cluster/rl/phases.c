/* SPDX-License-Identifier: Apache-2.0 */
/* What the phases of a step take: generation on all engines, rewards, the transfer of weights. */
#include "base/arena.h"
#include "cluster/rl/rl.h"
#include "simulator/collectives/communicator.h"
#include "workloads/generation/cost.h"

#include <math.h>
#include <stdlib.h>

/* ---- generation ---- */

static int by_value(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* What engines do with their requests, one after the other. */
struct gathering {
    struct generation *generation;
    struct rl_generation *batch;
    double ended; /* seconds of all engines */
    double idle;  /* of them those without steps */
    uint32_t filled;
    double *done; /* [sample]: when it ends */
};

uint32_t rl_engines(const struct rl *rl, uint32_t step)
{
    const struct stagesim_list *pool = &rl->values.pool;
    double most = 0;
    for (size_t i = 0; i < pool->count; i++)
        most = fmax(most, pool->values[i]);
    return pool->count ? (uint32_t)(rl->engines * pool->values[step % pool->count] / most + 0.5) : rl->engines;
}

/* The first prompt of an engine, of those of a step. */
static uint32_t first_of(const struct rl *rl, uint32_t engine)
{
    return (uint32_t)((uint64_t)engine * rl_prompts(&rl->values) / rl->engines);
}

/* The samples of an engine's prompts in one step, numbered from `group` on. Returns how many. */
static uint32_t put_requests(const struct rl *rl, uint32_t engine, const struct rl_samples *samples, uint32_t group,
                             struct batching_request *requests)
{
    uint32_t first = first_of(rl, engine), count = (first_of(rl, engine + 1) - first) * samples->each;
    for (uint32_t i = 0; i < count; i++)
        requests[i] = rl_sample(samples, first * samples->each + i, group - first);
    return count;
}

static void run_engine(struct gathering *g, const struct batching_limits *limits,
                       const struct batching_request *requests, uint32_t count)
{
    struct batching_run run;
    batching_simulate(g->generation, limits, requests, count, &run);
    g->batch->seconds = fmax(g->batch->seconds, run.end);
    g->batch->batch += run.sequences * run.end;
    g->batch->preempted += run.preempted;
    g->batch->forgotten += run.forgotten;
    g->idle += run.end - run.busy;
    g->ended += run.end;
    for (uint32_t i = 0; i < count; i++)
        g->done[g->filled++] = run.outcomes[i].last;
    batching_finish(&run);
}

/* Seconds until the last sample has its reward. */
static double rewarded(const struct rl_values *v, uint32_t step, const double *done, uint32_t count)
{
    enum { PURPOSE_REWARDS = 7201 };
    struct draws draws = draws_of(v->seed, PURPOSE_REWARDS, step);
    double last = 0;
    for (uint32_t i = 0; i < count; i++)
        last = fmax(last, done[i] + distribution_draw(&v->reward->distribution, &draws));
    return last;
}

/* What tools take and answer. */
static void add_tools(const struct rl_samples *samples, double kept, struct rl_generation *batch)
{
    for (uint32_t i = 0; i < samples->begins[samples->count]; i++) {
        batch->tools += samples->pauses[i].seconds / samples->count;
        batch->answers += kept * samples->pauses[i].answer;
    }
}

struct rl_generation rl_generate(const struct rl *whole, struct generation_engine *engine, uint32_t step,
                                 struct arena *arena)
{
    struct rl of_step = *whole;
    const struct rl *rl = &of_step;
    of_step.engines = rl_engines(whole, step);
    const struct rl_values *v = &rl->values;
    struct arena *own = arena_create();
    struct rl_samples samples = rl_samples_draw(v, step, own);
    uint32_t count = samples.count;
    double kept = (double)v->prompts / rl_prompts(v);
    struct rl_generation batch = {.done = arena_array(arena, count, sizeof *batch.done), .count = count};
    struct gathering g = {.generation = engine->generation, .batch = &batch, .done = batch.done};
    struct batching_request *requests = array_zeroed(count, sizeof *requests);
    for (uint32_t e = 0; e < rl->engines; e++)
        run_engine(&g, &engine->limits, requests, put_requests(rl, e, &samples, 0, requests));
    free(requests);
    for (uint32_t i = 0; i < count; i++)
        batch.tokens += (samples.prompts[i / samples.each] + samples.outputs[i]) * kept;
    if (samples.pauses) {
        add_tools(&samples, kept, &batch);
        batch.tokens += batch.answers;
        batch.idle = g.idle / rl->engines;
    }
    arena_destroy(own);
    batch.reward = rewarded(v, step, batch.done, count) - batch.seconds;
    qsort(batch.done, count, sizeof *batch.done, by_value);
    batch.batch /= g.ended;
    batch.tail = batch.seconds - batch.done[(uint32_t)ceil(0.95 * count) - 1];
    batch.engines_ended = batch.seconds - g.ended / rl->engines;
    return batch;
}

/* The samples of an engine in the steps of `batches`, of which at most staleness + 1 are under way. */
static void stream_engine(struct gathering *g, const struct rl *rl, const struct batching_limits *of_engine,
                          uint32_t engine, const struct rl_samples *steps, uint32_t batches)
{
    uint32_t prompts = first_of(rl, engine + 1) - first_of(rl, engine), each = prompts * (uint32_t)rl->values.samples;
    struct batching_request *requests = array_zeroed((size_t)each * batches + 1, sizeof *requests);
    struct batching_limits limits = *of_engine;
    for (uint32_t b = 0; b < batches; b++)
        put_requests(rl, engine, &steps[b], b * prompts, &requests[(size_t)b * each]);
    limits.begun = each * (uint32_t)(rl->values.staleness + 1);
    run_engine(g, &limits, requests, each * batches);
    free(requests);
}

struct rl_generation rl_stream(const struct rl *rl, struct generation_engine *engine)
{
    uint32_t count = rl_prompts(&rl->values) * (uint32_t)rl->values.samples;
    uint32_t batches = (uint32_t)rl->values.staleness + 4;
    struct rl_generation batch = {0};
    double *done = array_zeroed((size_t)count * batches, sizeof *done);
    struct gathering g = {.generation = engine->generation, .batch = &batch, .done = done};
    struct arena *arena = arena_create();
    struct rl_samples *steps = arena_array(arena, batches, sizeof *steps);
    for (uint32_t b = 0; b < batches; b++)
        steps[b] = rl_samples_draw(&rl->values, b, arena);
    for (uint32_t e = 0; e < rl->engines; e++)
        stream_engine(&g, rl, &engine->limits, e, steps, batches);
    arena_destroy(arena);
    qsort(done, g.filled, sizeof *done, by_value);
    batch.seconds = (done[(size_t)count * (batches - 1) - 1] - done[count - 1]) / (batches - 2);
    batch.batch /= g.ended;
    batch.preempted /= batches;
    batch.forgotten /= batches;
    batch.idle = rl_calls_tools(&rl->values) ? batch.seconds * g.idle / g.ended : 0;
    free(done);
    return batch;
}

/* ---- weights ---- */

static struct reshard_model weights_of(const struct rl *rl, struct arena *arena)
{
    struct transformer_model whole = *rl->model;
    transformer_model_complete(&whole);
    return reshard_model_of(&whole, generation_element(rl->settings.weights), arena);
}

static struct reshard_layout engine_layout(const struct rl *rl)
{
    const struct generation_settings *s = &rl->settings;
    return (struct reshard_layout){.tensor = (uint32_t)s->tensor,
                                   .data = (uint32_t)s->data,
                                   .pipeline = (uint32_t)s->pipeline,
                                   .expert = (uint32_t)s->expert,
                                   .expert_tensor = (uint32_t)(s->tensor * s->data / s->expert)};
}

void rl_transfer_bytes(const struct rl *rl, double *all, double *most, struct arena *arena)
{
    struct reshard_model model = weights_of(rl, arena);
    struct reshard_layout to = engine_layout(rl);
    uint32_t each = reshard_ranks(&to), gpus = each * rl->engines;
    bool there = rl->values.arrangement == RL_COLOCATED;
    *all = *most = 0;
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        double bytes = reshard_held(&model, &to, gpu % each);
        if (there && gpu < reshard_ranks(&rl->trainer))
            bytes -= reshard_common(&model, &rl->trainer, gpu, &to, gpu % each);
        *all += bytes;
        *most = fmax(*most, bytes);
    }
}

/* What the trainer's GPU sends that sends the most, to all engines. */
static double most_sent(const struct rl *rl, const struct reshard_model *model)
{
    struct reshard_layout to = engine_layout(rl);
    double most = 0;
    for (uint32_t source = 0; source < reshard_ranks(&rl->trainer); source++) {
        double sent = 0;
        for (uint32_t target = 0; target < reshard_ranks(&to); target++)
            sent += reshard_sent(model, &rl->trainer, source, &to, target);
        most = fmax(most, rl->engines * sent);
    }
    return most;
}

double rl_transfer_seconds(const struct rl *rl, struct platform *platform, double most, struct arena *arena)
{
    /* Of the whole model a second: checkpoint-engine's broadcasts (61 to 76 GB/s), verl's buckets (14 to 20) and its
     * gathering of one tensor after the other (4 to 15). Of a GPU that gets its own part two fifths of what a message
     * reaches, and as much of one that sends: NeMo RL's resharding by NCCL. */
    static const double rates[] = {[RL_BROADCAST] = 70e9, [RL_BUCKETS] = 17e9, [RL_TENSORS] = 8e9};
    static const double share = 0.4;
    const struct rl_values *v = &rl->values;
    struct reshard_model model = weights_of(rl, arena);
    uint32_t ranks = rl->update->mesh.ranks, last = platform->host_count - 1;
    uint32_t other = v->arrangement == RL_COLOCATED ? ranks - 1 : ranks;
    if (v->transfer != RL_RESHARD)
        return v->transfer_start +
               reshard_bytes(&model) / (v->transfer_rate > 0 ? v->transfer_rate : rates[v->transfer]);
    if (v->arrangement != RL_COLOCATED)
        most = fmax(most, most_sent(rl, &model));
    if (v->transfer_rate > 0)
        return v->transfer_start + most / v->transfer_rate;
    uint32_t *ends = arena_array(arena, 2, sizeof *ends);
    ends[1] = other > last ? last : other;
    if (!ends[1])
        return v->transfer_start;
    struct communicator *pair = communicator_create(platform, ends, 2, arena);
    return v->transfer_start + communicator_choose(pair, STAGESIM_SEND_RECEIVE, NULL, most).seconds / share;
}
