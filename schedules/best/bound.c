/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/bound.h"

#include "base/arena.h"
#include "schedules/best/bound_parts.h"

#include <string.h>

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
    int64_t room = bound_release_at(bound, worker, bound_releases_least(instance, worker, forwards));
    uint32_t through = bound_through_least(instance, worker, forwards);
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
    if (instance_limit(instance, stage) && instance->one_each && batch >= instance_limit(instance, stage))
        head = larger(head,
                      end_of(bound, state, instance_release(instance), stage, batch - instance_limit(instance, stage)));
    if (instance_shares_limit(instance, stage)) {
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
    if (instance->kinds == 3 && instance_limit(instance, stage) && instance->one_each &&
        batch >= instance_limit(instance, stage))
        precede(bound, state, BEST_WEIGHT, stage, batch - instance_limit(instance, stage));
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
        for (uint32_t stage = 0; stage < stages && end <= most; stage++)
            if (instance_shares_limit(instance, stage))
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
    bound_find_tails(bound, 0);
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
    bound_find_tails(bound, first_undecided(instance, from));
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
    return larger(most, bound_stashes(instance));
}
