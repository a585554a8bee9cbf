/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/bound.h"

#include "base/arena.h"
#include "schedules/best/jackson.h"

#include <string.h>

/* Work that must be done on a worker before something else can start, by earliest start. after[i] is when a worker that
 * runs it in this order is done with the first i + 1; the first `known` of these are found. */
struct backlog {
    int64_t *head, *length, *after;
    uint32_t count, known;
};

/* What a worker still has to do behind an operation, as work that precedes it in reversed time. Behind a forward come
 * the worker's later forwards and every backward and weight gradient of its own and later micro-batches. */
struct behind {
    struct backlog *forward, *backward; /* [stage] */
};

struct bound {
    const struct instance *instance;
    int64_t *tails, *heads;
    struct backlog *before; /* [stage]: what precedes the next backward of the stage on its worker */
    struct backlog
        *room;        /* [worker]: ends of releases (in tails: what follows forwards), for a limit of several stages */
    uint32_t *rank;   /* [stage]: among the stages of its worker */
    uint32_t *to;     /* [chain]: where the part ends that is looked at; the whole: all micro-batches */
    int64_t *after;   /* [worker]: what follows the part on it */
    uint32_t most_to; /* the largest of `to` */
    uint32_t first;   /* micro-batches of which everything is decided: they are passed over */
    struct behind *behind;
    struct jackson jackson;
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- backlogs ---- */

static void backlog_add(struct backlog *backlog, int64_t head, int64_t length)
{
    uint32_t at = backlog->count++;
    for (; at > 0 && backlog->head[at - 1] > head; at--) {
        backlog->head[at] = backlog->head[at - 1];
        backlog->length[at] = backlog->length[at - 1];
    }
    backlog->head[at] = head;
    backlog->length[at] = length;
    backlog->known = at < backlog->known ? at : backlog->known;
}

/* When the worker is done with all of it, which it begins at `from` at the earliest, the same whenever it is asked. */
static int64_t backlog_end(struct backlog *backlog, int64_t from)
{
    uint32_t at = backlog->known < backlog->count ? backlog->known : backlog->count;
    int64_t clock = at ? backlog->after[at - 1] : from;
    for (; at < backlog->count; at++)
        clock = backlog->after[at] = larger(clock, backlog->head[at]) + backlog->length[at];
    backlog->known = at;
    return clock;
}

static void backlog_create(struct backlog *backlog, uint32_t capacity, struct arena *arena)
{
    backlog->head = arena_array(arena, capacity, sizeof(int64_t));
    backlog->length = arena_array(arena, capacity, sizeof(int64_t));
    backlog->after = arena_array(arena, capacity, sizeof(int64_t));
}

/* ---- earliest starts ---- */

/* Decided, or behind the part that is looked at. */
static bool is_outside(const struct bound *bound, const struct progress_state *state, uint32_t kind, uint32_t stage,
                       uint32_t batch)
{
    uint32_t chain = kind * bound->instance->stages + stage;
    return batch < state->done[chain] || batch >= bound->to[chain];
}

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
    if (is_outside(bound, state, kind, stage, batch))
        return;
    int64_t head = bound->heads[operation_of(instance, kind, stage, batch)];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
        uint32_t other = instance->stages_of[worker][i];
        if (kind == BEST_BACKWARD && other > stage)
            break; /* the backward of a later stage does not wait for it */
        backlog_add(&bound->before[other], head, instance->length[kind][stage]);
    }
}

/* The time of the `count`-th release of a worker at the earliest; -1: there is none so far. */
static int64_t release_at(const struct bound *bound, uint32_t worker, uint32_t count)
{
    const struct backlog *room = &bound->room[worker];
    uint32_t decided = bound->first * bound->instance->stage_count[worker];
    if (count <= decided)
        return 0;
    return count - decided <= room->count ? room->head[count - decided - 1] : -1;
}

/* A worker that holds several stages shares its limit among them. When the forward of a micro-batch begins in its
 * stage of that rank, those of the same and earlier micro-batches have begun in all stages up to this one. Releases
 * make room; before the first of a micro-batch all of its forwards on the worker have begun. So with releases of
 * `through` micro-batches, at most all of them, and forwards[i] begun in the i-th stage otherwise, sum over i of
 * max(forwards[i], through) - limit <= releases <= stages x through: the least `through` says how many there are at
 * least. */
static uint32_t releases_least(const struct instance *instance, uint32_t worker, const uint32_t *forwards)
{
    uint32_t count = instance->stage_count[worker], through = 0, sum;
    for (;; through++) {
        sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += forwards[i] > through ? forwards[i] : through;
        if (sum <= instance->limit + count * through)
            return sum > instance->limit ? sum - instance->limit : 0;
    }
}

/* How many micro-batches are through the last stage at least: each of the others holds a stash wherever its forward has
 * begun on this worker, and the first of them needs one in every stage (see leaves_a_way in moves.c). UINT32_MAX: the
 * limit is too small for a single one. */
static uint32_t through_least(const struct instance *instance, uint32_t worker, const uint32_t *forwards)
{
    uint32_t count = instance->stage_count[worker];
    if (count > instance->limit)
        return UINT32_MAX;
    for (uint32_t through = 0;; through++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < count; i++)
            sum += forwards[i] > through + 1 ? forwards[i] - through : 1;
        if (sum <= instance->limit)
            return through;
    }
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

/* When a shared limit leaves room for a forward at the earliest; -1: never. */
static int64_t room_for(const struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    uint32_t worker = instance->worker_of[stage], last = instance->stages - 1, forwards[64];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
        uint32_t done = state->done[instance->stages_of[worker][i]];
        forwards[i] = i <= bound->rank[stage] && done < batch + 1 ? batch + 1 : done;
    }
    int64_t room = release_at(bound, worker, releases_least(instance, worker, forwards));
    uint32_t through = through_least(instance, worker, forwards);
    if (room < 0 || through == UINT32_MAX)
        return -1;
    if (stage == last || through == 0)
        return room;
    if (through > batch)
        return -1; /* of this micro-batch itself: the limit is broken */
    return larger(room, end_of(bound, state, BEST_FORWARD, last, through - 1) - instance->length[BEST_FORWARD][last]);
}

static int64_t head_forward(struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (is_outside(bound, state, BEST_FORWARD, stage, batch))
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
        int64_t room = room_for(bound, state, stage, batch);
        if (room < 0)
            return INT64_MAX;
        head = larger(head, room);
    }
    return set_head(bound, operation_of(instance, BEST_FORWARD, stage, batch), head,
                    instance->length[BEST_FORWARD][stage]);
}

static int64_t head_backward(struct bound *bound, const struct progress_state *state, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (is_outside(bound, state, BEST_BACKWARD, stage, batch))
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
    if (is_outside(bound, state, BEST_WEIGHT, stage, batch))
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
                end_of(bound, state, instance_release(instance), stage, batch), 0);
}

/* The first micro-batches are often through altogether. */
static uint32_t first_undecided(const struct instance *instance, const struct progress_state *state)
{
    uint32_t first = instance->batches;
    for (uint32_t stage = 0; stage < instance->stages; stage++) {
        uint32_t done = state->done[instance_release(instance) * instance->stages + stage];
        first = done < first ? done : first;
    }
    return first;
}

int64_t bound_heads(struct bound *bound, const struct progress_state *state, int64_t most)
{
    const struct instance *instance = bound->instance;
    uint32_t stages = instance->stages;
    int64_t end = 0;
    bound->first = first_undecided(instance, state);
    for (uint32_t stage = 0; stage < stages; stage++)
        bound->before[stage].count = bound->room[instance->worker_of[stage]].count = 0;
    for (uint32_t batch = bound->first; batch < bound->most_to && end <= most; batch++) {
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
            uint32_t to = bound->to[kind * instance->stages + stage];
            if (done >= to)
                continue;
            merge->next[merge->count] = operation_of(instance, kind, stage, done);
            merge->end[merge->count++] = operation_of(instance, kind, stage, 0) + to;
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

int64_t bound_worker(struct bound *bound, const struct progress_state *state, uint32_t worker)
{
    struct merge merge;
    merge_begin(bound, state, worker, &merge);
    jackson_begin(&bound->jackson, state->free[worker], bound->after[worker]);
    for (uint32_t operation; (operation = merge_take(bound, &merge)) != UINT32_MAX;)
        jackson_add(&bound->jackson, bound->heads[operation], operation_length(bound->instance, operation),
                    bound->tails[operation]);
    return jackson_end(&bound->jackson);
}

/* ---- tails ---- */

static int64_t follow(const struct bound *bound, uint32_t kind, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    return bound->tails[operation_of(instance, kind, stage, batch)] + instance->length[kind][stage];
}

static void behind_add(const struct bound *bound, struct backlog *lists, uint32_t stage, int64_t tail, int64_t length,
                       bool earlier_only)
{
    const struct instance *instance = bound->instance;
    uint32_t worker = instance->worker_of[stage];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
        uint32_t other = instance->stages_of[worker][i];
        if (!earlier_only || other <= stage)
            backlog_add(&lists[other], tail, length);
    }
}

/* The same in reversed time, where what releases begins, and forwards make room: what has to follow a release of the
 * `ending`-th micro-batch from behind in the stages up to a rank. */
static int64_t room_behind(const struct bound *bound, uint32_t stage, uint32_t first, uint32_t last, uint32_t ending)
{
    const struct instance *instance = bound->instance;
    uint32_t worker = instance->worker_of[stage], endings[64] = {0};
    if (!shares_limit(instance))
        return 0;
    for (uint32_t i = first; i <= last; i++)
        endings[i] = ending;
    return larger(release_at(bound, worker, releases_least(instance, worker, endings)), 0);
}

/* The tail of what has to come after an operation on its worker, behind the part as well. */
static int64_t tail_least(const struct bound *bound, uint32_t stage)
{
    return bound->after[bound->instance->worker_of[stage]];
}

static bool part_has(const struct bound *bound, uint32_t kind, uint32_t stage, uint32_t batch)
{
    return batch < bound->to[kind * bound->instance->stages + stage];
}

static void tail_weight(struct bound *bound, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (!part_has(bound, BEST_WEIGHT, stage, batch))
        return;
    int64_t tail = tail_least(bound, stage), length = instance->length[BEST_WEIGHT][stage];
    if (batch + 1 < instance->batches)
        tail = larger(tail, follow(bound, BEST_WEIGHT, stage, batch + 1));
    if (instance->limit && instance->one_each && batch + instance->limit < instance->batches)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage, batch + instance->limit));
    tail = larger(tail, room_behind(bound, stage, bound->rank[stage], bound->rank[stage], instance->batches - batch));
    bound->tails[operation_of(instance, BEST_WEIGHT, stage, batch)] = tail;
    behind_add(bound, bound->behind->forward, stage, tail, length, false);
    backlog_add(&bound->behind->backward[stage], tail, length);
    for (uint32_t other = 0; other < instance->stages; other++)
        if (other > stage && instance->worker_of[other] == instance->worker_of[stage])
            backlog_add(&bound->behind->backward[other], tail, length);
}

static void tail_backward(struct bound *bound, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (!part_has(bound, BEST_BACKWARD, stage, batch))
        return;
    int64_t tail = backlog_end(&bound->behind->backward[stage], tail_least(bound, stage));
    if (stage > 0)
        tail = larger(tail, follow(bound, BEST_BACKWARD, stage - 1, batch) + instance_lag(instance, stage, stage - 1));
    if (instance->kinds == 3)
        tail = larger(tail, follow(bound, BEST_WEIGHT, stage, batch));
    else if (instance->limit && instance->one_each && batch + instance->limit < instance->batches)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage, batch + instance->limit));
    if (instance->kinds == 2)
        tail = larger(tail, room_behind(bound, stage, 0, bound->rank[stage], instance->batches - batch));
    bound->tails[operation_of(instance, BEST_BACKWARD, stage, batch)] = tail;
    int64_t length = instance->length[BEST_BACKWARD][stage];
    behind_add(bound, bound->behind->forward, stage, tail, length, false);
    uint32_t worker = instance->worker_of[stage];
    for (uint32_t i = 0; i < instance->stage_count[worker]; i++)
        if (instance->stages_of[worker][i] >= stage)
            backlog_add(&bound->behind->backward[instance->stages_of[worker][i]], tail, length);
}

static void tail_forward(struct bound *bound, uint32_t stage, uint32_t batch)
{
    const struct instance *instance = bound->instance;
    if (!part_has(bound, BEST_FORWARD, stage, batch))
        return;
    int64_t tail = backlog_end(&bound->behind->forward[stage], tail_least(bound, stage));
    tail = larger(tail, follow(bound, BEST_BACKWARD, stage, batch));
    if (stage + 1 < instance->stages)
        tail = larger(tail, follow(bound, BEST_FORWARD, stage + 1, batch) + instance_lag(instance, stage, stage + 1));
    bound->tails[operation_of(instance, BEST_FORWARD, stage, batch)] = tail;
    behind_add(bound, bound->behind->forward, stage, tail, instance->length[BEST_FORWARD][stage], true);
}

/* Tails of the micro-batches from `first` on, as far as the part has them. */
static void compute_tails(struct bound *bound, uint32_t first)
{
    const struct instance *instance = bound->instance;
    bound->first = 0;
    for (uint32_t stage = 0; stage < instance->stages; stage++) {
        bound->behind->forward[stage].count = bound->behind->backward[stage].count = 0;
        bound->room[instance->worker_of[stage]].count = 0;
    }
    for (uint32_t batch = instance->batches; batch-- > first;) {
        for (uint32_t stage = 0; instance->kinds == 3 && stage < instance->stages; stage++)
            tail_weight(bound, stage, batch);
        for (uint32_t stage = 0; stage < instance->stages; stage++)
            tail_backward(bound, stage, batch);
        for (uint32_t stage = instance->stages; stage-- > 0;)
            tail_forward(bound, stage, batch);
        for (uint32_t stage = 0; shares_limit(instance) && stage < instance->stages; stage++)
            backlog_add(&bound->room[instance->worker_of[stage]], follow(bound, BEST_FORWARD, stage, batch), 0);
    }
}

static void create_lists(struct bound *bound, struct arena *arena)
{
    const struct instance *instance = bound->instance;
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        uint32_t count = instance->stage_count[worker] * instance->batches;
        backlog_create(&bound->room[worker], count, arena);
        for (uint32_t i = 0; i < instance->stage_count[worker]; i++) {
            uint32_t stage = instance->stages_of[worker][i];
            bound->rank[stage] = i;
            backlog_create(&bound->before[stage], instance->kinds * count, arena);
            backlog_create(&bound->behind->forward[stage], instance->kinds * count, arena);
            backlog_create(&bound->behind->backward[stage], instance->kinds * count, arena);
        }
    }
}

struct bound *bound_create(const struct instance *instance, struct arena *arena)
{
    struct bound *bound = arena_alloc(arena, sizeof *bound);
    uint32_t chains = instance->kinds * instance->stages;
    *bound = (struct bound){.instance = instance, .most_to = instance->batches};
    bound->tails = arena_array(arena, instance->operations, sizeof(int64_t));
    bound->heads = arena_array(arena, instance->operations, sizeof(int64_t));
    bound->jackson.heap = arena_array(arena, instance->operations, sizeof *bound->jackson.heap);
    bound->before = arena_array(arena, instance->stages, sizeof *bound->before);
    bound->room = arena_array(arena, instance->workers, sizeof *bound->room);
    bound->rank = arena_array(arena, instance->stages, sizeof *bound->rank);
    bound->to = arena_array(arena, chains, sizeof *bound->to);
    bound->after = arena_array(arena, instance->workers, sizeof *bound->after);
    bound->behind = arena_alloc(arena, sizeof *bound->behind);
    bound->behind->forward = arena_array(arena, instance->stages, sizeof(struct backlog));
    bound->behind->backward = arena_array(arena, instance->stages, sizeof(struct backlog));
    for (uint32_t chain = 0; chain < chains; chain++)
        bound->to[chain] = instance->batches;
    create_lists(bound, arena);
    compute_tails(bound, 0);
    return bound;
}

void bound_part(struct bound *bound, const struct progress_state *from, const uint32_t *to, const int64_t *after,
                const int64_t *tails)
{
    const struct instance *instance = bound->instance;
    uint32_t chains = instance->kinds * instance->stages;
    memcpy(bound->to, to, chains * sizeof *to);
    memcpy(bound->after, after, instance->workers * sizeof *after);
    memcpy(bound->tails, tails, instance->operations * sizeof *tails);
    bound->most_to = 0;
    for (uint32_t chain = 0; chain < chains; chain++)
        bound->most_to = to[chain] > bound->most_to ? to[chain] : bound->most_to;
    compute_tails(bound, first_undecided(instance, from));
}

const uint32_t *bound_to(const struct bound *bound)
{
    return bound->to;
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
