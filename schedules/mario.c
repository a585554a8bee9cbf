/* SPDX-License-Identifier: Apache-2.0 */
/* Mario and AdaPipe: 1F1B in which forwards are computed again (slots R) before their backwards, so that most of a
 * stash need not be held from forward to backward. Mario computes whole forwards again on every worker, while the
 * gradient is still on its way, and leaves out what is redundant: where the backward follows its forward at once.
 * AdaPipe lets every stage compute again just as much as the memory asks for: early stages, which hold more
 * micro-batches, more. Both are our own construction after what is known of them. */
#include "base/arena.h"
#include "schedules/schedules.h"

enum { OPTION_OVERLAP, OPTION_REDUNDANT, OPTION_AHEAD };
enum { OPTION_MEMORY, OPTION_UNITS };

static const char *const overlaps[] = {"on", "off", NULL};
static const char *const redundants[] = {"drop", "keep", NULL};

static const struct schedule_option mario_options[] = {
    [OPTION_OVERLAP] = {.key = "overlap",
                        .names = overlaps,
                        .doc = "whether forwards are computed again while the gradient is on its way, or after that"},
    [OPTION_REDUNDANT] = {.key = "redundant",
                          .names = redundants,
                          .doc = "whether the last worker, whose backwards follow their forwards, keeps its stashes"},
    [OPTION_AHEAD] =
        {.key = "ahead",
         .most = SCHEDULE_FORWARDS_MAX,
         .doc = "number of forwards that every worker but the last moves from the steady state into the warm-up"},
    {0},
};

static const struct schedule_option adapipe_options[] = {
    [OPTION_MEMORY] = {.key = "memory",
                       .most = SCHEDULE_FORWARDS_MAX,
                       .doc = "stashes that a worker has room for; 0: half as many as workers, at least 2"},
    [OPTION_UNITS] = {.key = "units",
                      .initial = 8,
                      .least = 1,
                      .most = 65536,
                      .doc = "number of parts of a stage, each of which is kept or computed again as a whole"},
    {0},
};

/* The order of a worker; `again`: how R stands before B. */
enum again { NOT, EARLY, GLUED };

static void order(struct plan *plan, uint32_t worker, uint64_t warm, enum again again)
{
    uint32_t count = plan->micro_batches;
    plan_expect(plan, worker, (size_t)3 * count);
    for (uint32_t i = 0; i < warm && i < count; i++)
        plan_append(plan, worker, SLOT_FORWARD, 0, worker, i);
    for (uint32_t i = 0; i < count; i++) {
        if (warm + i < count)
            plan_append(plan, worker, SLOT_FORWARD, 0, worker, (uint32_t)warm + i);
        if (again != NOT)
            plan_append(plan, worker, SLOT_RECOMPUTE, 0, worker, i);
        plan_append(plan, worker, SLOT_BACKWARD, 0, worker, i)->joined = again == GLUED ? SLOT_JOINED : SLOT_ALONE;
    }
}

static struct plan *generate_mario(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    uint32_t last = request->workers - 1;
    enum again again = request->options[OPTION_OVERLAP] ? GLUED : EARLY;
    bool keeps = request->options[OPTION_REDUNDANT] == 0;
    for (uint32_t worker = 0; worker <= last; worker++) {
        bool spared = worker == last && keeps;
        uint64_t ahead = worker == last ? 0 : (uint64_t)request->options[OPTION_AHEAD];
        if (!spared)
            plan_recompute(plan, worker, 1);
        order(plan, worker, last - worker + ahead, spared ? NOT : again);
    }
    return plan;
}

/* The share of a stage's stash that is computed again: of the n in flight one is whole while its backward runs, the
 * others take what is left of the memory. */
static double share_of(const struct schedule_request *request, uint32_t worker)
{
    uint64_t workers = request->workers, flight = workers - worker;
    uint64_t memory = (uint64_t)request->options[OPTION_MEMORY], units = (uint64_t)request->options[OPTION_UNITS];
    if (!memory)
        memory = workers / 2 > 2 ? workers / 2 : 2;
    if (flight > request->micro_batches)
        flight = request->micro_batches;
    if (flight <= memory)
        return 0;
    uint64_t kept = units * (memory - 1) / (flight - 1);
    return (double)(units - kept) / (double)units;
}

static struct plan *generate_adapipe(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, request->workers);
    for (uint32_t worker = 0; worker < request->workers; worker++) {
        double share = share_of(request, worker);
        if (share > 0)
            plan_recompute(plan, worker, share);
        order(plan, worker, request->workers - 1 - worker, share > 0 ? EARLY : NOT);
    }
    return plan;
}

const struct schedule schedule_mario = {
    .name = "mario",
    .summary = "1F1B whose forwards are computed again while gradients are on their way: the least memory of it",
    .when = "1f1b whose stashes do not fit by far; a third more computing is acceptable",
    .source = "Mario: Near Zero-cost Activation Checkpointing in Pipeline Parallelism, PPoPP 2025; own construction",
    .recomputes = true,
    .options = mario_options,
    .stages = stages_one_per_worker,
    .plan = generate_mario,
};

const struct schedule schedule_adapipe = {
    .name = "adapipe",
    .summary = "1F1B in which every stage computes as much again as a limit of memory asks for",
    .when = "1f1b whose first workers run out of memory",
    .source = "Sun et al., AdaPipe: Optimizing Pipeline Parallelism with Adaptive Recomputation and Partitioning, "
              "ASPLOS 2024; own construction",
    .recomputes = true,
    .options = adapipe_options,
    .stages = stages_one_per_worker,
    .plan = generate_adapipe,
};
