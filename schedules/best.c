/* SPDX-License-Identifier: Apache-2.0 */
/* Best: the shortest order that a search finds for the times, messages and stashes of this very job, with a proof of
 * how much shorter another one could be at most. It begins with the orders of all other schedules of the same
 * placement. */
#include "schedules/best/best.h"

#include "base/arena.h"
#include "schedules/kit/stage_times.h"
#include "schedules/rules.h"

#include <string.h>

enum { MEMORY, CHUNKS, PLACEMENT, BACKWARD, EFFORT };
enum { ANY_PLACEMENT, LOOP, WAVE };
enum { ANY_BACKWARD, SPLIT, WHOLE };
enum { SEEDS_MAX = 64, OPERATIONS_OF_EFFORT = 1000 };

static const char *const placements[] = {"any", "loop", "wave", NULL};
static const char *const backwards[] = {"any", "split", "whole", NULL};

static const struct schedule_option options[] = {
    [MEMORY] = {.key = "memory",
                .initial = 0,
                .least = 0,
                .most = 1 << 20,
                .doc = "number of micro-batches whose activations a worker may hold; with chunks, fractions such as "
                       "3.5 are possible; or a list with a value for each worker; 0: no limit",
                .stashes = true},
    [CHUNKS] =
        {.key = "chunks",
         .initial = 0,
         .least = 0,
         .most = BEST_OF_WORKER_MAX,
         .doc = "number of stages of the model on each worker; 0: stagesim chooses for the job, 1 if there is no job"},
    [PLACEMENT] = {.key = "placement",
                   .names = placements,
                   .initial = ANY_PLACEMENT,
                   .doc = "where chunks are: loop: they begin again at the first worker; wave: they go back from the "
                          "last one; any: stagesim chooses together with chunks, loop if chunks are given"},
    [BACKWARD] = {.key = "backward",
                  .names = backwards,
                  .initial = ANY_BACKWARD,
                  .doc = "split: input and weight gradient by themselves; whole: in one piece; any: stagesim chooses "
                         "together with chunks, split if chunks are given"},
    [EFFORT] = {.key = "effort",
                .initial = 100000,
                .least = 1,
                .most = (int64_t)1 << 40,
                .doc = "number of partial orders that the search may look at, for up to a thousand operations; fewer "
                       "for larger jobs"},
    {0},
};

static uint32_t chunks(const struct schedule_request *request)
{
    return request->options[CHUNKS] ? (uint32_t)request->options[CHUNKS] : 1;
}

static uint32_t stages(const struct schedule_request *request)
{
    uint64_t count = (uint64_t)request->workers * chunks(request);
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static uint32_t kinds(const struct schedule_request *request)
{
    return request->options[BACKWARD] == WHOLE ? 2 : 3;
}

/* Stashes of a chunk that a worker may hold; 0: any number. */
static int64_t limit_of(const struct schedule_request *request, uint32_t worker)
{
    return schedule_stashes_of(request, MEMORY, worker) * chunks(request) / SCHEDULE_STASH;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint64_t count = stages(request);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        if (schedule_stashes_of(request, MEMORY, worker) > 0 && limit_of(request, worker) < chunks(request))
            return schedule_refuse(refusal, REFUSED_OPTION, "memory",
                                   "best needs room for a micro-batch in each of a worker's chunks: 1, or 0 for any "
                                   "number; worker %u has less",
                                   worker);
    if (count > BEST_STAGES_MAX)
        return schedule_refuse(refusal, REFUSED_WORKERS, NULL, "best takes at most %d stages, not %llu",
                               BEST_STAGES_MAX, (unsigned long long)count);
    uint64_t most = BEST_OPERATIONS_MAX / kinds(request) / count;
    if (request->micro_batches > most)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "best takes at most %llu micro-batches through %llu stages, not %u",
                               (unsigned long long)most, (unsigned long long)count, request->micro_batches);
    return true;
}

static void place(const struct schedule_request *request, uint32_t *worker_of)
{
    uint32_t workers = request->workers;
    for (uint32_t stage = 0; stage < stages(request); stage++) {
        bool back = request->options[PLACEMENT] == WAVE && stage / workers % 2;
        worker_of[stage] = back ? workers - 1 - stage % workers : stage % workers;
    }
}

/* One micro-batch after the other: whatever the limit, this order keeps it. */
static struct plan *one_by_one(const struct schedule_request *request, const uint32_t *worker_of)
{
    struct plan *plan = plan_create(request->workers, stages(request), 1, request->micro_batches);
    for (uint32_t stage = 0; stage < plan->stages; stage++)
        plan_place(plan, 0, stage, worker_of[stage]);
    for (uint32_t batch = 0; batch < request->micro_batches; batch++) {
        for (uint32_t stage = 0; stage < plan->stages; stage++)
            plan_append(plan, worker_of[stage], SLOT_FORWARD, 0, stage, batch);
        for (uint32_t stage = plan->stages; stage-- > 0;) {
            plan_append(plan, worker_of[stage], SLOT_BACKWARD, 0, stage, batch)->split = kinds(request) == 3;
            if (kinds(request) == 3)
                plan_append(plan, worker_of[stage], SLOT_WEIGHT, 0, stage, batch);
        }
    }
    return plan;
}

/* ---- seeds: the other schedules ---- */

/* The schedule's plan where it can have as many chunks as asked for; NULL where it cannot. */
static struct plan *seed_of(const struct schedule *schedule, const struct schedule_request *request)
{
    struct schedule_request other = schedule_request_default(schedule, request->workers, request->micro_batches);
    struct schedule_refusal refusal;
    other.forward = request->forward;
    other.backward = request->backward;
    other.weight = request->weight;
    if (schedule->asynchronous)
        return NULL;
    for (unsigned i = 0; schedule->options && schedule->options[i].key; i++) {
        if (!strcmp(schedule->options[i].key, "chunks"))
            other.options[i] = chunks(request);
        if (!strcmp(schedule->options[i].key, "waves"))
            other.options[i] = chunks(request) / 2;
    }
    if (!schedule_fits(schedule, &other, &refusal))
        return NULL;
    if (schedule->stages(&other) == stages(request))
        other.costs = request->costs; /* it may adapt to them */
    return schedule->plan(&other);
}

static uint32_t make_seeds(const struct schedule_request *request, const uint32_t *worker_of, struct plan **seeds)
{
    uint32_t count = 0;
    seeds[count++] = one_by_one(request, worker_of);
    for (const struct schedule *const *schedule = schedule_rules; *schedule && count < SEEDS_MAX - 1; schedule++) {
        struct plan *plan = seed_of(*schedule, request);
        if (plan)
            seeds[count++] = plan;
    }
    seeds[count] = NULL;
    return count;
}

/* ---- the plan ---- */

/* A partial order costs time in proportion to the operations. */
static uint64_t states(const struct schedule_request *request)
{
    uint64_t operations = (uint64_t)kinds(request) * stages(request) * request->micro_batches;
    uint64_t effort = (uint64_t)request->options[EFFORT];
    return operations > OPERATIONS_OF_EFFORT ? effort * OPERATIONS_OF_EFFORT / operations + 1 : effort;
}

static struct plan *generate(const struct schedule_request *request)
{
    struct arena *arena = arena_create();
    struct plan *seeds[SEEDS_MAX];
    uint32_t *worker_of = arena_array(arena, stages(request), sizeof *worker_of);
    uint32_t *limits = arena_array(arena, request->workers, sizeof *limits);
    for (uint32_t worker = 0; worker < request->workers; worker++)
        limits[worker] = (uint32_t)limit_of(request, worker);
    place(request, worker_of);
    uint32_t count = make_seeds(request, worker_of, seeds);
    struct best_request search = {.instance = {.workers = request->workers,
                                               .stages = stages(request),
                                               .batches = request->micro_batches,
                                               .worker_of = worker_of,
                                               .limits = limits},
                                  .effort = states(request),
                                  .seeds = (const struct plan *const *)seeds};
    if (request->watch) {
        search.report = request->watch->report;
        search.user = request->watch->user;
    }
    struct best_result result = {0};
    stage_times_fill(request, stages(request), kinds(request) == 3, &search.instance, arena);
    best_search(&search, &result);
    result.plan->bound = result.bound;
    result.plan->rate = result.rate;
    result.plan->rate_bound = result.rate > 0 ? result.rate_bound : 0;
    for (uint32_t i = 0; i < count; i++)
        plan_destroy(seeds[i]);
    arena_destroy(arena);
    return result.plan;
}

const struct schedule schedule_best = {
    .name = "best",
    .summary = "searched for: the shortest order for these very times, messages and stashes, with a proven lower bound",
    .when = "to learn how far another one is from the shortest; uneven stages, tight memory; without options it "
            "chooses itself",
    .source = "branch and bound over active schedules (Giffler and Thompson 1960) with one-machine bounds (Carlier "
              "1982), and clause learning with lazily explained bounds (Feydy and Stuckey 2009)",
    .split_backward = true,
    .plain = true,
    .adapts = true,
    .searches = true,
    .options = options,
    .stages = stages,
    .fits = fits,
    .plan = generate,
};
