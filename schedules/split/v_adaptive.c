/* SPDX-License-Identifier: Apache-2.0 */
/* V-Adaptive: the building block is searched for. Between workers the four passes of a micro-batch are so many slots
 * apart as a shape says, one number for each pass; at the ends of the V as few as keep a worker's passes from meeting.
 * The shapes whose repeated blocks stay within the limit of stashes, and the blocks of V-Half and V-Min, are compacted
 * within it, and the plan that takes least counts. */
#include "base/arena.h"
#include "schedules/kit/stage_times.h"
#include "schedules/kit/zero_bubble.h"
#include "schedules/plan/plan_timing.h"
#include "schedules/split/split.h"
#include "schedules/split/v_block.h"

enum { OPTION_MEMORY };
enum { PERIOD = 6, PASSES = 4, APART_MOST = 4, GAP_MOST = 6 };

static const struct schedule_option options[] = {
    [OPTION_MEMORY] = {.key = "memory",
                       .initial = 0,
                       .most = 1 << 20,
                       .doc = "number of micro-batches whose activations a worker may hold, a multiple of 1/2; 0: half "
                              "as many as workers, and one more",
                       .stashes = true},
    {0},
};

struct shape {
    uint32_t apart[PASSES]; /* slots between neighbouring workers, in the order of struct v_block */
    uint32_t gap[PASSES];   /* [1..]: slots from the last of a pass to the first of the next */
};

/* Passes 0 and 2 go down the workers, 1 and 3 back up. */
static struct v_block block_of(const void *context, uint32_t workers, uint32_t worker)
{
    const struct shape *shape = context;
    struct v_block block;
    uint32_t first = 0;
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        uint32_t along = pass % 2 ? workers - 1 - worker : worker;
        first += shape->gap[pass];
        block.slots[pass] = first + shape->apart[pass] * along;
        first += shape->apart[pass] * (workers - 1);
    }
    return block;
}

/* Whether no two passes of a worker meet. */
static bool keeps_apart(const struct shape *shape, uint32_t workers)
{
    for (uint32_t worker = 0; worker < workers; worker++) {
        struct v_block block = block_of(shape, workers, worker);
        uint32_t taken = 0;
        for (uint32_t pass = 0; pass < PASSES; pass++)
            taken |= 1u << block.slots[pass] % PERIOD;
        uint32_t different = 0;
        for (uint32_t slot = 0; slot < PERIOD; slot++)
            different += taken >> slot & 1;
        if (different < PASSES)
            return false;
    }
    return true;
}

/* The first gaps that keep them apart, the later passes' changing first; false where there are none. */
static bool find_gaps(struct shape *shape, uint32_t workers)
{
    for (uint32_t number = 0; number < GAP_MOST * GAP_MOST * GAP_MOST; number++) {
        shape->gap[1] = 1 + number / GAP_MOST / GAP_MOST;
        shape->gap[2] = 1 + number / GAP_MOST % GAP_MOST;
        shape->gap[3] = 1 + number % GAP_MOST;
        if (keeps_apart(shape, workers))
            return true;
    }
    return false;
}

struct search {
    const struct schedule_request *request;
    struct plan_costs costs;
    uint32_t most; /* half stages' stashes */
    struct plan *best;
    double least;
};

/* Keeps the plan of a block that stays within the limit, and takes less than those before. */
static void try_block(struct search *search, v_block_of *block, const struct shape *shape)
{
    uint32_t workers = search->request->workers, enough = 4 * workers < 24 ? 24 : 4 * workers;
    uint32_t count = search->request->micro_batches < enough ? search->request->micro_batches : enough;
    if (v_block_peak(block, shape, workers, count) > search->most)
        return;
    struct plan *plan = v_block_plan(search->request, block, shape, search->most);
    struct plan_timing timing;
    plan_timing_init(&timing, plan, &search->costs);
    double makespan = timing.makespan;
    plan_timing_finish(&timing);
    if (search->best && makespan >= search->least * (1 - 1e-12)) {
        plan_destroy(plan);
        return;
    }
    plan_destroy(search->best);
    search->best = plan;
    search->least = makespan;
}

/* Half stages' stashes that every worker may hold. */
static uint32_t most_of(const struct schedule_request *request)
{
    int64_t least = INT64_MAX;
    if (request->options[OPTION_MEMORY] == 0)
        return 2 * ((request->workers + 2) / 2);
    for (uint32_t worker = 0; worker < request->workers; worker++) {
        int64_t own = schedule_stashes_of(request, OPTION_MEMORY, worker);
        least = own > 0 && own < least ? own : least;
    }
    return least == INT64_MAX ? UINT32_MAX : (uint32_t)(2 * least / SCHEDULE_STASH);
}

static void try_all(struct search *search)
{
    uint32_t workers = search->request->workers;
    try_block(search, v_min_block, NULL);
    try_block(search, v_half_block, NULL);
    for (uint32_t number = 0; number < APART_MOST * APART_MOST * APART_MOST * APART_MOST; number++) {
        struct shape shape = {{0}};
        for (uint32_t pass = 0, rest = number; pass < PASSES; pass++, rest /= APART_MOST)
            shape.apart[pass] = 1 + rest % APART_MOST;
        if (find_gaps(&shape, workers))
            try_block(search, block_of, &shape);
    }
}

static struct plan *generate(const struct schedule_request *request)
{
    struct arena *arena = arena_create();
    struct instance_request times = {0};
    stage_times_fill(request, stages_two_per_worker(request), true, &times, arena);
    struct search search = {
        .request = request,
        .most = most_of(request),
        .costs = {
            .forward = times.forward, .backward = times.backward, .weight = times.weight, .latency = times.latency}};
    try_all(&search);
    arena_destroy(arena);
    return search.best;
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint32_t least = v_block_peak(v_min_block, NULL, request->workers, request->micro_batches);
    return most_of(request) >= least ||
           schedule_refuse(refusal, REFUSED_OPTION, "memory",
                           "v-adaptive on %u workers needs room for at least %g micro-batches", request->workers,
                           least / 2.0);
}

const struct schedule schedule_v_adaptive = {
    .name = "v-adaptive",
    .summary = "a building block searched for within any memory: split backward, two half stages a worker in a V",
    .when = "activations do not fit: as little bubble as the memory that there is allows",
    .source =
        "Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024, arXiv 2405.15362, section 4; how "
        "blocks are searched for is our own construction",
    .split_backward = true,
    .plain = true,
    .adapts = true,
    .options = options,
    .stages = stages_two_per_worker,
    .fits = fits,
    .plan = generate,
};
