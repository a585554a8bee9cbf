/* SPDX-License-Identifier: Apache-2.0 */
/* DynaPipe's cyclic order: in every cycle a worker runs a backward and then a forward, where they were there before the
 * cycle began and, for a forward, its stash still fits. With any number of stashes the first worker runs ahead as eager
 * 1F1B does; a limit makes it wait, and nothing else changes. */
#include "base/arena.h"
#include "schedules/schedules.h"

enum { OPTION_MEMORY };

static const struct schedule_option options[] = {
    [OPTION_MEMORY] = {.key = "memory",
                       .initial = 0,
                       .most = 1 << 20,
                       .doc = "number of micro-batches whose activations a worker may hold, or a list with a value for "
                              "each worker; 0: no limit",
                       .stashes = true},
    {0},
};

/* A worker at the beginning of a cycle. */
struct turn {
    uint32_t forwards, backwards;             /* done */
    uint32_t forwards_there, backwards_there; /* whose inputs are there */
};

static uint64_t limit_of(const struct schedule_request *request, uint32_t worker)
{
    int64_t parts = schedule_stashes_of(request, OPTION_MEMORY, worker);
    return parts > 0 ? (uint64_t)(parts / SCHEDULE_STASH) : UINT64_MAX;
}

/* A worker's part of a cycle. */
static void run_turn(const struct schedule_request *request, struct plan *plan, struct turn *turn, uint32_t worker)
{
    if (turn->backwards < turn->backwards_there)
        plan_append(plan, worker, SLOT_BACKWARD, 0, worker, turn->backwards++);
    if (turn->forwards < turn->forwards_there && turn->forwards - turn->backwards < limit_of(request, worker))
        plan_append(plan, worker, SLOT_FORWARD, 0, worker, turn->forwards++);
}

static struct plan *generate(const struct schedule_request *request)
{
    struct arena *arena = arena_create();
    uint32_t workers = request->workers, count = request->micro_batches;
    struct plan *plan = plan_create_looped(request, workers);
    struct turn *turns = arena_array(arena, workers, sizeof *turns);
    while (turns[0].backwards < count) {
        for (uint32_t worker = 0; worker < workers; worker++) {
            struct turn *turn = &turns[worker];
            turn->forwards_there = worker == 0 ? count : turns[worker - 1].forwards;
            turn->backwards_there = worker + 1 == workers ? turn->forwards : turns[worker + 1].backwards;
        }
        for (uint32_t worker = 0; worker < workers; worker++)
            run_turn(request, plan, &turns[worker], worker);
    }
    arena_destroy(arena);
    return plan;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    for (uint32_t worker = 0; worker < request->workers; worker++)
        if (limit_of(request, worker) == 0)
            return schedule_refuse(refusal, REFUSED_OPTION, "memory",
                                   "dynapipe needs room for a stash on every worker, worker %u has less", worker);
    return true;
}

const struct schedule schedule_dynapipe = {
    .name = "dynapipe",
    .summary = "a backward and a forward in every cycle, as far as stashes fit: eager 1f1b within any memory",
    .when = "1f1b over slow links, with some memory to spare but not eager-1f1b's",
    .source = "Jiang et al., DynaPipe: Optimizing Multi-task Training through Dynamic Pipelines, EuroSys 2024, arXiv "
              "2311.10418, and its implementation",
    .plain = true,
    .options = options,
    .stages = stages_one_per_worker,
    .fits = fits,
    .plan = generate,
};
