/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/bound.h"

#include "base/arena.h"

#include <string.h>

/* Work that must be done on a worker before something else can start, by earliest start. after[i] is when a worker that
 * runs it in this order is done with the first i + 1. */
struct backlog {
    int64_t *head, *length, *after;
    uint32_t count;
};

/* An operation in the one-machine bound. */
struct piece {
    int64_t tail, left;
};

struct bound {
    const struct instance *instance;
    int64_t *tails, *heads;
    struct backlog *before; /* [stage]: what precedes the next backward of the stage on its worker */
    struct backlog
        *room;      /* [worker]: ends of releases (in tails: what follows forwards), for a limit of several stages */
    uint32_t *rank; /* [stage]: among the stages of its worker */
    struct piece *heap; /* of a worker's operations that could run, the longest tail first */
    uint32_t heap_count;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- backlogs ---- */

static void backlog_add(struct backlog *backlog, int64_t head, int64_t length, int64_t from)
{
    uint32_t at = backlog->count++;
    for (; at > 0 && backlog->head[at - 1] > head; at--) {
        backlog->head[at] = backlog->head[at - 1];
        backlog->length[at] = backlog->length[at - 1];
    }
    backlog->head[at] = head;
    backlog->length[at] = length;
    for (int64_t clock = at ? backlog->after[at - 1] : from; at < backlog->count; at++)
        clock = backlog->after[at] = larger(clock, backlog->head[at]) + backlog->length[at];
}

static int64_t backlog_end(const struct backlog *backlog, int64_t from)
{
    return backlog->count ? backlog->after[backlog->count - 1] : from;
}

static void backlog_create(struct backlog *backlog, uint32_t capacity, struct arena *arena)
{
    backlog->head = arena_array(arena, capacity, sizeof(int64_t));
    backlog->length = arena_array(arena, capacity, sizeof(int64_t));
    backlog->after = arena_array(arena, capacity, sizeof(int64_t));
}

/* ---- earliest starts ---- */

/* When an operation ends at the earliest, decided or not. */
static int64_t end_of(const struct bound *bound, const struct progress_state *state, uint32_t kind, uint32_t stage,
                      uint32_t batch)
{
    const struct instance *instance = bound->instance;
    uint32_t operation = operation_of(instance, kind, stage, batch);
    if (batch < state->done[kind * instance->stages + stage])
        return state->ends[operation];
    return bound->heads[operation] + instance->length[kind][stage];
}

/* Adds an operation to what precedes later backwards of its worker. */
static void precede(struct bound *bound, const struct progress_state *state, uint32_t kind, uint32_t stage,
                    uint32_t batch)
{
    const struct instance *instance = bound->instance;
    uint32_t worker = instance->worker_of[stage];
    if (batch < state->done[kind * instance->stages + stage])
        return;
    int64_t head = bound->heads[operation_of(instance, kind, stage, batch)];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
        uint32_t other = instance->stages_of[worker][i];
        if (kind == BEST_BACKWARD && other > stage)
            break; /* the backward of a later stage does not wait for it */
        backlog_add(&bound->before[other], head, instance->length[kind][stage], state->free[worker]);
    }
}

/* A worker that holds several stages shares its limit among them: when the forward of a micro-batch begins, all
 * forwards that have to come before it have begun, so all of these but limit - 1 are released, whichever they are. Only
 * stashes of earlier micro-batches can be. The end of the release that makes room at the earliest; -1: there is none.
 */
static int64_t room_at(const struct bound *bound, uint32_t stage, uint32_t begun)
{
    const struct instance *instance = bound->instance;
    const struct backlog *room = &bound->room[instance->worker_of[stage]];
    if (begun <= instance->limit)
        return 0;
    return begun - instance->limit <= room->count ? room->head[begun - instance->limit - 1] : -1;
}

/* How many micro-batches may be begun in a stage that are not through the last stage: each of them holds a stash here
 * and in the worker's earlier stages, and the later ones have to stay free for one (see leaves_a_way in exact.c). */
static uint32_t ahead_most(const struct bound *bound, uint32_t stage)
{
    const struct instance *instance = bound->instance;
    uint32_t rank = bound->rank[stage], behind = instance->stage_count[instance->worker_of[stage]] - 1 - rank;
    return instance->limit > behind ? (instance->limit - behind) / (rank + 1) : 0;
}

static bool shares_limit(const struct instance *instance)
{
    return instance->limit && !instance->one_each;
}

static int64_t set_head(struct bound *bound, uint32_t operation, int64_t head, int64_t length)
{
    bound->heads[operation] = head;
    return head + length + bound->tails[operation];
}

static int64_t head_forward(struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (batch < state->done[stage])
        return 0;
    int64_t head = state->free[instance->worker_of[stage]];
    if (stage > 0)
        head = larger(head,
                      end_of(bound, state, BEST_FORWARD, stage - 1, batch) + instance_lag(instance, stage - 1, stage));
    if (batch > 0)
        head = larger(head, end_of(bound, state, BEST_FORWARD, stage, batch - 1));
    if (instance->limit && instance->one_each && batch >= instance->limit)
        head = larger(head, end_of(bound, state, instance_release(instance), stage, batch - instance->limit));
    if (shares_limit(instance)) {
        int64_t room = room_at(bound, stage, (bound->rank[stage] + 1) * (batch + 1));
        if (room < 0)
            return INT64_MAX;
        head = larger(head, room);
        uint32_t ahead = ahead_most(bound, stage);
        if (ahead == 0)
            return INT64_MAX;
        if (stage + 1 < instance->stages && batch >= ahead)
            head = larger(head, end_of(bound, state, BEST_FORWARD, instance->stages - 1, batch - ahead) -
                                    instance->length[BEST_FORWARD][instance->stages - 1]);
    }
    return set_head(bound, operation_of(instance, BEST_FORWARD, stage, batch), head,
                    instance->length[BEST_FORWARD][stage]);
}

static int64_t head_backward(struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (batch < state->done[instance->stages + stage])
        return 0;
    int64_t head = backlog_end(&bound->before[stage], state->free[instance->worker_of[stage]]);
    head = larger(head, end_of(bound, state, BEST_FORWARD, stage, batch));
    if (stage + 1 < instance->stages)
        head = larger(head,
                      end_of(bound, state, BEST_BACKWARD, stage + 1, batch) + instance_lag(instance, stage + 1, stage));
    return set_head(bound, operation_of(instance, BEST_BACKWARD, stage, batch), head,
                    instance->length[BEST_BACKWARD][stage]);
}

static int64_t head_weight(struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (batch < state->done[2 * instance->stages + stage])
        return 0;
    int64_t head = larger(state->free[instance->worker_of[stage]], end_of(bound, state, BEST_BACKWARD, stage, batch));
    if (batch > 0)
        head = larger(head, end_of(bound, state, BEST_WEIGHT, stage, batch - 1));
    return set_head(bound, operation_of(instance, BEST_WEIGHT, stage, batch), head,
                    instance->length[BEST_WEIGHT][stage]);
}

/* What a stage's forward of a micro-batch needs, and the forward itself. */
static int64_t pass_forward(struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (instance->kinds == 3 && instance->limit && instance->one_each && batch >= instance->limit)
        precede(bound, state, BEST_WEIGHT, stage, batch - instance->limit);
    int64_t end = head_forward(bound, state, stage, batch);
    if (end < INT64_MAX)
        precede(bound, state, BEST_FORWARD, stage, batch);
    return end;
}

static int64_t pass_backward(struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    int64_t end = head_backward(bound, state, stage, batch);
    precede(bound, state, BEST_BACKWARD, stage, batch);
    return end;
}

static void pass_release(struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    backlog_add(&bound->room[instance->worker_of[stage]],
                end_of(bound, state, instance_release(instance), stage, batch), 0, 0);
}

int64_t bound_heads(struct bound *bound, const struct progress_state *state, int64_t most)
{
    const struct instance *instance = bound->instance;
    uint32_t stages = instance->stages;
    int64_t end = 0;
    for (uint32_t stage = 0; stage < stages; stage++)
        bound->before[stage].count = bound->room[instance->worker_of[stage]].count = 0;
    for (uint32_t batch = 0; batch < instance->batches && end <= most; batch++) {
        for (uint32_t stage = 0; stage < stages && end <= most; stage++)
            end = larger(end, pass_forward(bound, state, stage, batch));
        for (uint32_t stage = stages; stage-- > 0 && end <= most;)
            end = larger(end, pass_backward(bound, state, stage, batch));
        for (uint32_t stage = 0; instance->kinds == 3 && stage < stages && end <= most; stage++)
            end = larger(end, head_weight(bound, state, stage, batch));
        for (uint32_t stage = 0; shares_limit(instance) && stage < stages && end <= most; stage++)
            pass_release(bound, state, stage, batch);
    }
    return end;
}

/* ---- one machine ---- */

static void heap_add(struct bound *bound, struct piece piece)
{
    uint32_t at = bound->heap_count++;
    for (; at > 0 && bound->heap[(at - 1) / 2].tail < piece.tail; at = (at - 1) / 2)
        bound->heap[at] = bound->heap[(at - 1) / 2];
    bound->heap[at] = piece;
}

static void heap_drop(struct bound *bound)
{
    struct piece last = bound->heap[--bound->heap_count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < bound->heap_count; child = 2 * at + 1) {
        child += child + 1 < bound->heap_count && bound->heap[child + 1].tail > bound->heap[child].tail;
        if (bound->heap[child].tail <= last.tail)
            break;
        bound->heap[at] = bound->heap[child];
        at = child;
    }
    bound->heap[at] = last;
}

/* The worker's undecided operations by earliest start: its chains are merged. */
struct merge {
    uint32_t next[3 * 64], end[3 * 64], count; /* operations */
};

static void merge_begin(const struct bound *bound, const struct progress_state *state, uint32_t worker,
                        struct merge *merge)
{
    const struct instance *instance = bound->instance;
    merge->count = 0;
    for (uint32_t kind = 0; kind < instance->kinds; kind++)
        for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
            uint32_t stage = instance->stages_of[worker][i];
            uint32_t done = state->done[kind * instance->stages + stage];
            if (done == instance->batches)
                continue;
            merge->next[merge->count] = operation_of(instance, kind, stage, done);
            merge->end[merge->count++] = operation_of(instance, kind, stage, 0) + instance->batches;
        }
}

/* Takes the next operation; UINT32_MAX at the end. */
static uint32_t merge_take(const struct bound *bound, struct merge *merge)
{
    uint32_t first = 0;
    if (!merge->count)
        return UINT32_MAX;
    for (uint32_t i = 1; i < merge->count; i++)
        if (bound->heads[merge->next[i]] < bound->heads[merge->next[first]])
            first = i;
    uint32_t operation = merge->next[first]++;
    if (merge->next[first] == merge->end[first]) {
        merge->count--;
        merge->next[first] = merge->next[merge->count];
        merge->end[first] = merge->end[merge->count];
    }
    return operation;
}

/* Runs what is in the heap until a moment. */
static int64_t run_until(struct bound *bound, int64_t clock, int64_t until, int64_t latest)
{
    while (bound->heap_count > 0 && clock < until) {
        struct piece *top = &bound->heap[0];
        if (clock + top->left > until) {
            top->left -= until - clock;
            return latest;
        }
        clock += top->left;
        latest = larger(latest, clock + top->tail);
        heap_drop(bound);
    }
    return latest;
}

int64_t bound_worker(struct bound *bound, const struct progress_state *state, uint32_t worker)
{
    struct merge merge;
    int64_t clock = state->free[worker], latest = 0;
    merge_begin(bound, state, worker, &merge);
    bound->heap_count = 0;
    for (uint32_t operation; (operation = merge_take(bound, &merge)) != UINT32_MAX;) {
        int64_t head = bound->heads[operation];
        if (head > clock) {
            latest = run_until(bound, clock, head, latest);
            clock = head;
        }
        heap_add(bound, (struct piece){bound->tails[operation], operation_length(bound->instance, operation)});
    }
    return run_until(bound, clock, INT64_MAX, latest);
}

/* ---- tails ---- */

static int64_t follow(const struct bound *bound, uint32_t kind, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    return bound->tails[operation_of(instance, kind, stage, batch)] + instance->length[kind][stage];
}

/* What a worker still has to do behind an operation, as work that precedes it in reversed time. Behind a forward come
 * the worker's later forwards and every backward and weight gradient of its own and later micro-batches. */
struct behind {
    struct backlog *forward, *backward; /* [stage] */
};

static void behind_add(const struct instance *instance, struct backlog *lists, uint32_t stage, int64_t tail,
                       int64_t length, bool earlier_only)
{
    uint32_t worker = instance->worker_of[stage];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
        uint32_t other = instance->stages_of[worker][i];
        if (!earlier_only || other <= stage)
            backlog_add(&lists[other], tail, length, 0);
    }
}

/* The same in reversed time: the releases that have to come after this one, `ending` with itself, end; all of them but
 * limit - 1 are of forwards that begin later. */
static int64_t room_behind(const struct bound *bound, uint32_t stage, uint32_t ending)
{
    return shares_limit(bound->instance) ? larger(room_at(bound, stage, ending), 0) : 0;
}

static void tail_weight(struct bound *bound, struct behind *behind, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    int64_t tail = batch + 1 < instance->batches ? follow(bound, BEST_WEIGHT, stage, batch + 1) : 0;
    if (instance->limit && instance->one_each && batch + instance->limit < instance->batches)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage, batch + instance->limit));
    tail = larger(tail, room_behind(bound, stage, instance->batches - batch));
    bound->tails[operation_of(instance, BEST_WEIGHT, stage, batch)] = tail;
    behind_add(instance, behind->forward, stage, tail, instance->length[BEST_WEIGHT][stage], false);
    backlog_add(&behind->backward[stage], tail, instance->length[BEST_WEIGHT][stage], 0);
    for (uint32_t other = 0; other < instance->stages; other++)
        if (other > stage && instance->worker_of[other] == instance->worker_of[stage])
            backlog_add(&behind->backward[other], tail, instance->length[BEST_WEIGHT][stage], 0);
}

static void tail_backward(struct bound *bound, struct behind *behind, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    int64_t tail = backlog_end(&behind->backward[stage], 0);
    if (stage > 0)
        tail = larger(tail, follow(bound, BEST_BACKWARD, stage - 1, batch) + instance_lag(instance, stage, stage - 1));
    if (instance->kinds == 3)
        tail = larger(tail, follow(bound, BEST_WEIGHT, stage, batch));
    else if (instance->limit && instance->one_each && batch + instance->limit < instance->batches)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage, batch + instance->limit));
    if (instance->kinds == 2)
        tail = larger(tail, room_behind(bound, stage, (bound->rank[stage] + 1) * (instance->batches - batch)));
    bound->tails[operation_of(instance, BEST_BACKWARD, stage, batch)] = tail;
    int64_t length = instance->length[BEST_BACKWARD][stage];
    behind_add(instance, behind->forward, stage, tail, length, false);
    uint32_t worker = instance->worker_of[stage];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++)
        if (instance->stages_of[worker][i] >= stage)
            backlog_add(&behind->backward[instance->stages_of[worker][i]], tail, length, 0);
}

static void tail_forward(struct bound *bound, struct behind *behind, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    int64_t tail = larger(backlog_end(&behind->forward[stage], 0), follow(bound, BEST_BACKWARD, stage, batch));
    if (stage + 1 < instance->stages)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage + 1, batch) + instance_lag(instance, stage, stage + 1));
    bound->tails[operation_of(instance, BEST_FORWARD, stage, batch)] = tail;
    behind_add(instance, behind->forward, stage, tail, instance->length[BEST_FORWARD][stage], true);
}

static void compute_tails(struct bound *bound, struct arena *arena)
{
    const struct instance *instance = bound->instance;
    struct behind behind = {arena_array(arena, instance->stages, sizeof(struct backlog)),
                            arena_array(arena, instance->stages, sizeof(struct backlog))};
    for (uint32_t stage = 0; stage < instance->stages; stage++) {
        uint32_t most = instance->kinds * instance->stage_count[instance->worker_of[stage]] * instance->batches;
        backlog_create(&behind.forward[stage], most, arena);
        backlog_create(&behind.backward[stage], most, arena);
    }
    for (uint32_t batch = instance->batches; batch-- > 0;) {
        for (uint32_t stage = 0; instance->kinds == 3 && stage < instance->stages; stage++)
            tail_weight(bound, &behind, stage, batch);
        for (uint32_t stage = 0; stage < instance->stages; stage++)
            tail_backward(bound, &behind, stage, batch);
        for (uint32_t stage = instance->stages; stage-- > 0;)
            tail_forward(bound, &behind, stage, batch);
        for (uint32_t stage = 0; shares_limit(instance) && stage < instance->stages; stage++)
            backlog_add(&bound->room[instance->worker_of[stage]], follow(bound, BEST_FORWARD, stage, batch), 0, 0);
    }
}

struct bound *bound_create(const struct instance *instance, struct arena *arena)
{
    struct bound *bound = arena_alloc(arena, sizeof *bound);
    *bound = (struct bound){.instance = instance};
    bound->tails = arena_array(arena, instance->operations, sizeof(int64_t));
    bound->heads = arena_array(arena, instance->operations, sizeof(int64_t));
    bound->heap = arena_array(arena, instance->operations, sizeof *bound->heap);
    bound->before = arena_array(arena, instance->stages, sizeof *bound->before);
    bound->room = arena_array(arena, instance->workers, sizeof *bound->room);
    bound->rank = arena_array(arena, instance->stages, sizeof *bound->rank);
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        uint32_t count = instance->stage_count[worker] * instance->batches;
        backlog_create(&bound->room[worker], count, arena);
        for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
            bound->rank[instance->stages_of[worker][i]] = i;
            backlog_create(&bound->before[instance->stages_of[worker][i]], instance->kinds * count, arena);
        }
    }
    compute_tails(bound, arena);
    return bound;
}

const int64_t *bound_tails(const struct bound *bound)
{
    return bound->tails;
}

const int64_t *bound_earliest(const struct bound *bound)
{
    return bound->heads;
}

int64_t bound_root(struct bound *bound)
{
    const struct instance *instance = bound->instance;
    struct arena *arena = arena_create();
    struct progress_state start = {.done = arena_array(arena, instance->kinds * instance->stages, sizeof(uint32_t)),
                                   .free = arena_array(arena, instance->workers, sizeof(int64_t))};
    int64_t most = bound_heads(bound, &start, INT64_MAX - 1);
    for (uint32_t worker = 0; worker < instance->workers && most < INT64_MAX; worker++)
        most = larger(most, bound_worker(bound, &start, worker));
    arena_destroy(arena);
    return most;
}
