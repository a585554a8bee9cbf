/* SPDX-License-Identifier: Apache-2.0 */
/* ReCycle: several replicas of a pipeline, of whose workers of one stage some have failed. Their micro-batches go
 * around them, through the workers of the same stage in other replicas, and come back.
 *
 * Micro-batches are done in rounds, as many as the busiest worker has: in a round, no replica has two of them and no
 * worker does two. So the rounds are the micro-batches of a single pipeline, and each worker follows that pipeline's
 * order, without the rounds in which it has nothing to do: what its order is timed to there can only get shorter. */
#include "base/numbers/reroute.h"
#include "schedules/schedules.h"

enum { REPLICAS, STAGE, DEAD, ORDER };

static const char *const orders[] = {"zb-h2", "zb-h1", "1f1b", NULL};

static const struct schedule_option options[] = {
    [REPLICAS] = {.key = "replicas",
                  .initial = 2,
                  .least = 1,
                  .most = 255,
                  .doc = "number of pipelines side by side, which divides the number of workers"},
    [STAGE] = {.key = "stage",
               .initial = 0,
               .least = 0,
               .most = SCHEDULE_STAGES_MAX,
               .doc = "the stage whose workers have failed, from 0"},
    [DEAD] = {.key = "dead",
              .initial = 1,
              .least = 0,
              .most = 254,
              .doc = "number of failed workers, those of the last replicas; 0: all are there"},
    [ORDER] = {.key = "order",
               .names = orders,
               .doc = "what each replica runs if all workers are there; zb-h2 has the bubble that the additional "
                      "micro-batches fill, 1f1b with whole backwards does not"},
    {0},
};

static const struct schedule *base_of(const struct schedule_request *request)
{
    const struct schedule *const base[] = {&schedule_zb_h2, &schedule_zb_h1, &schedule_1f1b};
    return base[request->options[ORDER]];
}

/* What is asked for, in words of the rule. */
struct detour {
    uint32_t replicas, left, stages, stage; /* left: workers of the stage that are there */
    uint32_t micro_batches, rounds;         /* of an iteration */
};

static struct detour detour_of(const struct schedule_request *request)
{
    uint32_t replicas = (uint32_t)request->options[REPLICAS], each = request->micro_batches / replicas;
    uint32_t left = replicas - (uint32_t)request->options[DEAD];
    return (struct detour){.replicas = replicas,
                           .left = left,
                           .stages = request->workers / replicas,
                           .stage = (uint32_t)request->options[STAGE],
                           .micro_batches = request->micro_batches,
                           .rounds = (uint32_t)reroute_rounds(each, replicas, left)};
}

static uint32_t stages(const struct schedule_request *request)
{
    uint32_t count = request->workers / (uint32_t)request->options[REPLICAS];
    return count ? count : 1;
}

/* Whether a replica has a micro-batch in a round; its number. */
static bool has_in_round(const struct detour *d, uint32_t replica, uint32_t round, uint32_t *micro_batch)
{
    uint32_t first = round * d->left;
    *micro_batch = first + (replica + d->replicas - first % d->replicas) % d->replicas;
    return *micro_batch < first + d->left && *micro_batch < d->micro_batches;
}

/* Who does a round's micro-batch of a replica whose worker has failed: of the replicas that have none in that round the
 * first, the second for the second such replica, and so on. */
static uint32_t peer_of(const struct detour *d, uint32_t replica, uint32_t round)
{
    uint32_t before = 0, other, peer = 0;
    for (uint32_t dead = d->left; dead < replica; dead++)
        before += has_in_round(d, dead, round, &other);
    while (has_in_round(d, peer, round, &other) || before-- > 0)
        peer++;
    return peer;
}

/* Each intact replica is a pipeline. Where a replica's worker has failed, there is one for each way around it. */
static uint32_t pipeline_of(const struct detour *d, uint32_t replica, uint32_t peer)
{
    return replica < d->left ? replica : d->left + (replica - d->left) * d->left + peer;
}

static struct plan *place(const struct detour *d, const struct schedule_request *request, uint32_t iterations)
{
    uint32_t pipelines = d->left + (d->replicas - d->left) * d->left;
    struct plan *plan = plan_create(request->workers, d->stages, pipelines, d->micro_batches * iterations);
    plan->iterations = iterations;
    for (uint32_t replica = 0; replica < d->replicas; replica++)
        for (uint32_t peer = 0; peer < d->left; peer++)
            for (uint32_t stage = 0; stage < d->stages; stage++) {
                bool around = stage == d->stage && replica >= d->left;
                plan_place(plan, pipeline_of(d, replica, peer), stage, (around ? peer : replica) * d->stages + stage);
            }
    return plan;
}

/* The micro-batch that a replica's worker of a stage does in a round, and whose it is; false: none. */
static bool find_task(const struct detour *d, uint32_t replica, uint32_t stage, uint32_t round, uint32_t *micro_batch,
                      uint32_t *home)
{
    *home = replica;
    if (stage != d->stage)
        return has_in_round(d, replica, round, micro_batch);
    if (replica >= d->left || has_in_round(d, replica, round, micro_batch))
        return replica < d->left;
    for (*home = d->left; *home < d->replicas; ++*home)
        if (has_in_round(d, *home, round, micro_batch) && peer_of(d, *home, round) == replica)
            return true;
    return false;
}

static void add_slot(struct plan *plan, const struct detour *d, uint32_t worker, const struct slot *slot)
{
    uint32_t micro_batch, home, stage = slot->stage, replica = worker / d->stages;
    uint32_t iteration = slot->micro_batch / d->rounds, round = slot->micro_batch % d->rounds;
    if (!find_task(d, replica, stage, round, &micro_batch, &home))
        return;
    uint32_t peer = home < d->left ? home : peer_of(d, home, round);
    plan_append(plan, worker, (enum slot_kind)slot->kind, pipeline_of(d, home, peer), stage,
                iteration * d->micro_batches + micro_batch)
        ->split = slot->split;
}

static struct plan *generate(const struct schedule_request *request)
{
    const struct schedule *base = base_of(request);
    struct detour d = detour_of(request);
    struct schedule_request one = schedule_request_default(base, d.stages, d.rounds);
    if (base->crosses)
        one.iterations = request->iterations;
    struct plan *rounds = base->plan(&one), *plan = place(&d, request, one.iterations);
    plan->step = base->crosses ? PLAN_STEP_LOCAL : PLAN_STEP_BLOCKING;
    for (uint32_t worker = 0; worker < plan->workers; worker++) {
        const struct plan_order *order = &rounds->orders[worker % d.stages];
        for (size_t i = 0; i < order->count; i++)
            add_slot(plan, &d, worker, &order->slots[i]);
    }
    plan_destroy(rounds);
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint32_t replicas = (uint32_t)request->options[REPLICAS];
    if (request->workers % replicas)
        return schedule_refuse(refusal, REFUSED_WORKERS, NULL,
                               "recycle has %u replicas, and needs a multiple of %u workers, not %u", replicas,
                               replicas, request->workers);
    if (request->micro_batches % replicas)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "recycle divides the micro-batches between %u replicas, and needs a multiple of %u, not "
                               "%u",
                               replicas, replicas, request->micro_batches);
    if (request->options[DEAD] >= replicas)
        return schedule_refuse(refusal, REFUSED_OPTION, "dead",
                               "of the %u workers of a stage one has to be left, so at most %u can have failed",
                               replicas, replicas - 1);
    if (request->options[STAGE] >= request->workers / replicas)
        return schedule_refuse(refusal, REFUSED_OPTION, "stage", "%u workers in %u replicas have the stages 0 to %u",
                               request->workers, replicas, request->workers / replicas - 1);
    return true;
}

const struct schedule schedule_recycle = {
    .name = "recycle",
    .summary = "replicas of which a worker has failed: its micro-batches go through the workers of its stage in other "
               "replicas",
    .when = "to see what goes on when a worker has failed",
    .source = "Gandhi et al., ReCycle: Resilient Training of Large DNNs using Pipeline Adaptation, SOSP 2024, arXiv "
              "2405.14009",
    .crosses = true,
    .split_backward = true,
    .fails = true,
    .options = options,
    .stages = stages,
    .fits = fits,
    .plan = generate,
};
