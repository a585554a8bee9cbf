/* SPDX-License-Identifier: Apache-2.0 */
/* PipeOffload: group-interleaved 1F1B whose first chunks keep their stashes in host memory from soon after the forward
 * until shortly before the backward.
 *
 * The moves are planned on the times of the order when it runs as soon as it can (with groups of one micro-batch on
 * those of the table of equal slots, each as long as the longest forward), but for the forwards of the warm-up:
 * those before a worker's first backward, up to that of micro-batch 0 in the last chunk, begin as late as the stages
 * behind them and the forwards after them allow, with one backward's length to spare before the first backward.
 * One transfer takes t, the option's share of the longest forward and backward. Workers 2i and 2i + 1 share the way to
 * their host and take turns: one's stash leaves while the other's comes back. So time from the end of worker 2i's first
 * forward is a grid of lengths t; worker 2i sends in its even lengths and receives in its odd ones, worker 2i + 1 the
 * other way round. A stash moves if more than 6 t lie between its forward and the end of its room, which is the
 * backward's start less its length. Sends, in the order of forwards, take the first free length after their forward;
 * receives, from the last backward on, the last free one that ends with the room. Where a stash would come back before
 * it has left, the request is refused; under other times than it was judged by, such a stash stays. Until the pair's
 * first receive nobody needs the other direction: then the sends follow each other at 0.7 t. A worker without a
 * neighbour has 0.7 t for both.
 *
 * In the order an E stands where its stash has left, an L where room for it is taken, which is when its transfer
 * begins. All this is done in whole numbers. */
#include "base/arena.h"
#include "schedules/group_interleaved.h"
#include "schedules/kit/stage_times.h"
#include "schedules/plan/plan_walk.h"
#include "schedules/schedules.h"

enum { OPTION_OFFLOAD = GROUP_OPTIONS, OPTION_TRANSFER };

static const struct schedule_option options[] = {
    GROUP_OPTION_ROWS,
    [OPTION_OFFLOAD] = {.key = "offload",
                        .initial = 1,
                        .least = 0,
                        .most = SCHEDULE_STAGES_MAX,
                        .doc = "number of chunks, from the first on, whose stashes move to host memory (k)"},
    [OPTION_TRANSFER] = {.key = "transfer",
                         .initial = 250,
                         .least = 1,
                         .most = 100000,
                         .doc = "time of one stash's transfer, in thousandths of a chunk's forward and backward"},
    {0},
};

/* The number of the send of a stash that stays. */
#define STAYS INT64_MIN

enum { UNITS = 10000, ALONE = 7, TOGETHER = 10 }; /* of time in the instance's; per thousandth of the option */

struct pass {
    int64_t start, end;
};

/* A stash on its way out or back. */
struct transfer {
    int64_t number; /* of its length on the worker's grid; even: out */
    int64_t start, end;
    uint16_t stage;
    uint32_t micro_batch;
};

struct queue {
    struct transfer *items; /* in the order of numbers */
    size_t count;
};

struct planner {
    const struct schedule_request *request;
    const struct instance *instance;
    const struct plan *plan;
    struct arena *arena;              /* of a pair */
    struct pass **passes[BEST_KINDS]; /* [stage][micro_batch] */
    int64_t *clock;                   /* [worker], while the order is run */
    int64_t length;                   /* t of a worker with a neighbour */
    struct schedule_refusal *refusal; /* NULL: what cannot be back in time stays */
};

static uint32_t kind_of(const struct slot *slot)
{
    return slot->kind == SLOT_FORWARD ? BEST_FORWARD : slot->kind == SLOT_BACKWARD ? BEST_BACKWARD : BEST_WEIGHT;
}

static struct pass *pass_of(const struct planner *planner, const struct slot *slot)
{
    return &planner->passes[kind_of(slot)][slot->stage][slot->micro_batch];
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t lag(const struct planner *planner, uint32_t from, uint32_t to)
{
    return UNITS * instance_lag(planner->instance, from, to);
}

/* ---- times ---- */

static void run_slot(void *user, uint32_t worker, size_t first, size_t end)
{
    struct planner *planner = user;
    const struct slot *slot = &planner->plan->orders[worker].slots[first];
    uint32_t kind = kind_of(slot), stage = slot->stage, last = planner->plan->stages - 1;
    int64_t start = planner->clock[worker];
    if (kind == BEST_FORWARD && stage > 0)
        start = later(start, planner->passes[kind][stage - 1][slot->micro_batch].end + lag(planner, stage - 1, stage));
    if (kind == BEST_BACKWARD && stage < last)
        start = later(start, planner->passes[kind][stage + 1][slot->micro_batch].end + lag(planner, stage + 1, stage));
    planner->clock[worker] = start + UNITS * planner->instance->length[kind][stage];
    *pass_of(planner, slot) = (struct pass){start, planner->clock[worker]};
    (void)end; /* slots of this order stand alone */
}

/* As soon as possible in the order. */
static void run_order(struct planner *planner)
{
    struct plan_walk walk;
    plan_walk_run(&walk, planner->plan, run_slot, planner);
    plan_walk_finish(&walk);
}

/* In the slots of the table, each as long as the longest forward. */
static void take_slots(struct planner *planner, struct arena *arena)
{
    const struct group_table *table = group_table_create(planner->request, arena);
    int64_t slot = 0;
    for (uint32_t stage = 0; stage < planner->plan->stages; stage++)
        slot = later(slot, UNITS * planner->instance->length[BEST_FORWARD][stage]);
    for (uint32_t kind = 0; kind < BEST_KINDS; kind++)
        for (uint32_t stage = 0; stage < planner->plan->stages; stage++)
            for (uint32_t batch = 0; batch < planner->plan->micro_batches; batch++) {
                int64_t number = (int64_t)group_table_slot(table, (enum slot_kind)kind, stage, batch);
                planner->passes[kind][stage][batch] = (struct pass){slot * number, slot * (number + 1)};
            }
}

static size_t first_backward(const struct plan_order *order)
{
    size_t index = 0;
    while (order->slots[index].kind != SLOT_BACKWARD)
        index++;
    return index;
}

/* Puts a worker's forwards of the warm-up off. */
static void put_off(const struct planner *planner, uint32_t worker)
{
    const struct plan *plan = planner->plan;
    const struct plan_order *order = &plan->orders[worker];
    size_t index = first_backward(order);
    const struct pass *backward = pass_of(planner, &order->slots[index]);
    int64_t limit = 2 * backward->start - backward->end;
    while (index-- > 0) {
        const struct slot *slot = &order->slots[index];
        struct pass *pass = pass_of(planner, slot);
        int64_t length = pass->end - pass->start;
        if (slot->micro_batch == 0 && slot->stage + plan->workers >= plan->stages)
            return;
        if (slot->stage + 1u < plan->stages)
            limit = sooner(limit, planner->passes[BEST_FORWARD][slot->stage + 1u][slot->micro_batch].start -
                                      lag(planner, slot->stage, slot->stage + 1u));
        if (limit - length > pass->start)
            *pass = (struct pass){limit - length, limit};
        limit = pass->start;
    }
}

/* The longest forward and backward of a stage. */
static int64_t longest(const struct instance *instance)
{
    int64_t most = 0;
    for (uint32_t stage = 0; stage < instance->stages; stage++)
        most = later(most, instance->length[BEST_FORWARD][stage] + instance->length[BEST_BACKWARD][stage] +
                               instance->length[BEST_WEIGHT][stage]);
    return most;
}

static struct planner planner_create(const struct schedule_request *request, const struct plan *plan,
                                     struct schedule_refusal *refusal, struct arena *arena)
{
    uint32_t stages = plan->stages;
    uint32_t *worker_of = arena_array(arena, stages, sizeof *worker_of);
    for (uint32_t stage = 0; stage < stages; stage++)
        worker_of[stage] = stage % plan->workers;
    /* Eight times the batches: room for the finer unit. */
    struct instance_request problem = {
        .workers = plan->workers, .stages = stages, .batches = 8 * plan->micro_batches, .worker_of = worker_of};
    stage_times_fill(request, stages, true, &problem, arena);
    struct planner planner = {.request = request, .plan = plan, .refusal = refusal};
    planner.instance = instance_create(&problem, arena);
    for (uint32_t kind = 0; kind < BEST_KINDS; kind++) {
        planner.passes[kind] = arena_array(arena, stages, sizeof *planner.passes[kind]);
        for (uint32_t stage = 0; stage < stages; stage++)
            planner.passes[kind][stage] = arena_array(arena, plan->micro_batches, sizeof(struct pass));
    }
    planner.clock = arena_array(arena, plan->workers, sizeof *planner.clock);
    planner.length = later(TOGETHER, TOGETHER * request->options[OPTION_TRANSFER] * longest(planner.instance));
    if (request->options[GROUP_OPTION_GROUP] == 1)
        take_slots(&planner, arena);
    else
        run_order(&planner);
    for (uint32_t worker = plan->workers; worker-- > 0;)
        put_off(&planner, worker);
    return planner;
}

/* ---- the moves of a worker ---- */

/* A worker's place on the grid. */
struct grid {
    int64_t begin, length;
};

static bool is_alone(const struct planner *planner, uint32_t worker)
{
    return worker % 2 == 0 && worker + 1 == planner->plan->workers;
}

static struct grid grid_of(const struct planner *planner, uint32_t worker)
{
    const struct slot *first = &planner->plan->orders[worker - worker % 2].slots[0];
    int64_t length = is_alone(planner, worker) ? planner->length / TOGETHER * ALONE : planner->length;
    return (struct grid){pass_of(planner, first)->end + worker % 2 * length, length};
}

/* When the stash of a backward has to be there. */
static int64_t needed(const struct planner *planner, const struct slot *slot)
{
    const struct pass *backward = &planner->passes[BEST_BACKWARD][slot->stage][slot->micro_batch];
    return 2 * backward->start - backward->end;
}

static bool moves(const struct planner *planner, const struct slot *slot, int64_t length)
{
    bool chunk = slot->stage / planner->plan->workers < planner->request->options[OPTION_OFFLOAD];
    return chunk &&
           needed(planner, slot) - planner->passes[BEST_FORWARD][slot->stage][slot->micro_batch].end > 6 * length;
}

/* Whole pairs of lengths from the grid's begin to a time, rounded down; up: of the time less one, and one more. */
static int64_t pairs_before(const struct grid *grid, int64_t time)
{
    int64_t pair = 2 * grid->length, apart = time - grid->begin;
    return apart >= 0 ? apart / pair : -((-apart + pair - 1) / pair);
}

static struct transfer transfer_of(const struct grid *grid, int64_t number, const struct slot *slot)
{
    int64_t start = grid->begin + number * grid->length;
    return (struct transfer){number, start, start + grid->length, slot->stage, slot->micro_batch};
}

static size_t stashes_of(const struct planner *planner)
{
    return (size_t)planner->plan->stages / planner->plan->workers * planner->plan->micro_batches;
}

/* Those that leave, in the order of forwards; `numbers` are those of a stash's send. */
static struct queue list_sends(const struct planner *planner, uint32_t worker, const struct grid *grid,
                               int64_t **numbers)
{
    const struct plan_order *order = &planner->plan->orders[worker];
    struct queue queue = {arena_array(planner->arena, stashes_of(planner), sizeof *queue.items), 0};
    int64_t pair = 0;
    for (size_t i = 0; i < order->count; i++) {
        const struct slot *slot = &order->slots[i];
        if (slot->kind != SLOT_FORWARD || !moves(planner, slot, grid->length))
            continue;
        pair = later(pair, pairs_before(grid, pass_of(planner, slot)->end - 1) + 1);
        queue.items[queue.count++] = transfer_of(grid, 2 * pair, slot);
        numbers[slot->stage / planner->plan->workers][slot->micro_batch] = 2 * pair++;
    }
    return queue;
}

static bool refuse(const struct planner *planner, const struct slot *slot)
{
    int64_t chunks = planner->request->options[OPTION_OFFLOAD];
    return schedule_refuse(
        planner->refusal, REFUSED_OPTION, "offload",
        "pipe-offload cannot bring the stash of micro-batch %u in stage %u back in time: %lld chunk%s "
        "with transfers of %lld/1000 of a forward and backward; take fewer, or a smaller transfer",
        slot->micro_batch, slot->stage, (long long)chunks, chunks == 1 ? " moves" : "s move",
        (long long)planner->request->options[OPTION_TRANSFER]);
}

/* From the last backward on, and then in the order of backwards. False: a stash would have to come back before it has
 * left; where nobody is told, its send's number becomes STAYS. */
static bool list_receives(const struct planner *planner, uint32_t worker, const struct grid *grid, int64_t **numbers,
                          struct queue *queue)
{
    const struct plan_order *order = &planner->plan->orders[worker];
    int64_t pair = INT64_MAX;
    queue->items = arena_array(planner->arena, stashes_of(planner), sizeof *queue->items);
    for (size_t i = order->count; i-- > 0;) {
        const struct slot *slot = &order->slots[i];
        if (slot->kind != SLOT_BACKWARD || !moves(planner, slot, grid->length))
            continue;
        int64_t *sent = &numbers[slot->stage / planner->plan->workers][slot->micro_batch];
        int64_t last = sooner(pair - 1, pairs_before(grid, needed(planner, slot)));
        if (2 * last - 1 > *sent + 1) {
            pair = last;
            queue->items[queue->count++] = transfer_of(grid, 2 * pair - 1, slot);
        } else if (planner->refusal) {
            return refuse(planner, slot);
        } else {
            *sent = STAYS;
        }
    }
    for (size_t i = 0, j = queue->count; i + 1 < j; i++) {
        struct transfer swapped = queue->items[i];
        queue->items[i] = queue->items[--j];
        queue->items[j] = swapped;
    }
    return true;
}

/* Leaves out sends of what stays after all. */
static void drop_sends(const struct planner *planner, int64_t *const *numbers, struct queue *sends)
{
    size_t kept = 0;
    for (size_t i = 0; i < sends->count; i++) {
        struct transfer send = sends->items[i];
        if (numbers[send.stage / planner->plan->workers][send.micro_batch] != STAYS)
            sends->items[kept++] = send;
    }
    sends->count = kept;
}

struct worker_moves {
    struct queue sends, receives;
};

static bool list_moves(const struct planner *planner, uint32_t worker, struct worker_moves *list)
{
    struct grid grid = grid_of(planner, worker);
    uint32_t chunks = planner->plan->stages / planner->plan->workers;
    int64_t **numbers = arena_array(planner->arena, chunks, sizeof *numbers);
    for (uint32_t chunk = 0; chunk < chunks; chunk++)
        numbers[chunk] = arena_array(planner->arena, planner->plan->micro_batches, sizeof **numbers);
    list->sends = list_sends(planner, worker, &grid, numbers);
    if (!list_receives(planner, worker, &grid, numbers, &list->receives))
        return false;
    drop_sends(planner, numbers, &list->sends);
    return true;
}

/* ---- a pair's first sends ---- */

/* The number of a queue's first entry on the pair's grid. */
static int64_t first_number(const struct queue *queue, size_t index, uint32_t member)
{
    return index < queue->count ? queue->items[index].number + member : INT64_MAX;
}

/* Before anybody receives, sends follow each other without turns. */
static void close_up(const struct planner *planner, struct worker_moves *pair, uint32_t members)
{
    size_t next[2] = {0};
    int64_t first[2] = {INT64_MAX, INT64_MAX}, clock = INT64_MIN, receive = INT64_MAX;
    for (uint32_t member = 0; member < members; member++)
        receive = sooner(receive, first_number(&pair[member].receives, 0, member));
    for (;;) {
        for (uint32_t member = 0; member < members; member++)
            first[member] = first_number(&pair[member].sends, next[member], member);
        uint32_t member = first[1] < first[0];
        if (first[member] >= receive)
            return;
        struct transfer *send = &pair[member].sends.items[next[member]++];
        clock = later(clock == INT64_MIN ? send->start : clock,
                      planner->passes[BEST_FORWARD][send->stage][send->micro_batch].end);
        send->start = clock;
        send->end = clock += planner->length / TOGETHER * ALONE;
    }
}

static bool list_pair(const struct planner *planner, uint32_t worker, struct worker_moves *pair)
{
    uint32_t members = is_alone(planner, worker) ? 1 : 2;
    for (uint32_t member = 0; member < members; member++)
        if (!list_moves(planner, worker + member, &pair[member]))
            return false;
    close_up(planner, pair, members);
    return true;
}

/* ---- the order ---- */

static void append(struct plan *plan, uint32_t worker, enum slot_kind kind, const struct transfer *transfer)
{
    plan_append(plan, worker, kind, 0, transfer->stage, transfer->micro_batch);
    plan_pair(plan, worker, worker);
}

/* Whether the stash that comes back next is still among those that are to leave. */
static bool stays(const struct queue *sends, const struct transfer *back)
{
    for (size_t i = 0; i < sends->count && sends->items[i].number < back->number; i++)
        if (sends->items[i].stage == back->stage && sends->items[i].micro_batch == back->micro_batch)
            return true;
    return false;
}

/* Whatever has left by the time at which the slot starts, or takes room before it ends, in the order of time. A stash
 * that does both while one slot runs comes back after it. */
static void append_moves(struct plan *plan, uint32_t worker, const struct pass *pass, struct queue *sends,
                         struct queue *receives)
{
    for (;;) {
        bool out = sends->count && sends->items->end <= pass->start;
        bool back = receives->count && receives->items->start < pass->end && !stays(sends, receives->items);
        if (!out && !back)
            return;
        struct queue *queue = out && !(back && receives->items->start < sends->items->end) ? sends : receives;
        append(plan, worker, queue == sends ? SLOT_EVICT : SLOT_FETCH, queue->items);
        queue->items++;
        queue->count--;
    }
}

static void order(struct plan *plan, const struct planner *planner, uint32_t worker, struct worker_moves list)
{
    const struct plan_order *from = &planner->plan->orders[worker];
    plan_expect(plan, worker, from->count + 2 * list.sends.count);
    for (size_t i = 0; i < from->count; i++) {
        const struct slot *slot = &from->slots[i];
        append_moves(plan, worker, pass_of(planner, slot), &list.sends, &list.receives);
        plan_append(plan, worker, slot->kind, 0, slot->stage, slot->micro_batch)->split = slot->split;
    }
}

/* The plan, or NULL with the refusal filled. */
static struct plan *build(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    struct plan *still = schedule_group_interleaved.plan(request);
    struct plan *plan = plan_create_looped(request, still->stages);
    struct arena *arena = arena_create();
    struct planner planner = planner_create(request, still, refusal, arena);
    bool good = true;
    plan->transfer = (double)request->options[OPTION_TRANSFER] / 1000;
    for (uint32_t worker = 0; good && worker < request->workers; worker += 2) {
        struct worker_moves pair[2] = {0};
        planner.arena = arena_create();
        good = list_pair(&planner, worker, pair);
        for (uint32_t member = 0; good && member < 2 && worker + member < request->workers; member++)
            order(plan, &planner, worker + member, pair[member]);
        arena_destroy(planner.arena);
    }
    arena_destroy(arena);
    plan_destroy(still);
    if (good)
        return plan;
    plan_destroy(plan);
    return NULL;
}

static uint32_t stages(const struct schedule_request *request)
{
    return schedule_group_interleaved.stages(request);
}

static struct plan *generate(const struct schedule_request *request)
{
    return build(request, NULL);
}

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    if (!group_interleaved_fits(schedule_pipe_offload.name, request, refusal))
        return false;
    if (request->options[OPTION_OFFLOAD] > request->options[GROUP_OPTION_CHUNKS])
        return schedule_refuse(refusal, REFUSED_OPTION, "offload",
                               "pipe-offload moves the stashes of at most all %lld chunks, not of %lld",
                               (long long)request->options[GROUP_OPTION_CHUNKS],
                               (long long)request->options[OPTION_OFFLOAD]);
    struct plan *plan = build(request, refusal);
    bool good = plan != NULL;
    plan_destroy(plan);
    return good;
}

const struct schedule schedule_pipe_offload = {
    .name = "pipe-offload",
    .summary = "group-interleaved with the first chunks' stashes in host memory between forward and backward",
    .when = "long sequences and wide layers, and fast links to the host",
    .source = "Wan et al., PipeOffload: Improving Scalability of Pipeline Parallelism with Memory Optimization, "
              "ICML 2025, arXiv 2503.01328, and its implementation",
    .split_backward = true,
    .adapts = true,
    .options = options,
    .stages = stages,
    .fits = fits,
    .plan = generate,
};
