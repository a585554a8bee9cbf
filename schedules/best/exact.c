/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/exact.h"

#include "base/arena.h"
#include "schedules/best/moves.h"

#include <stdlib.h>
#include <string.h>

enum {
    POOL_MAX = 1 << 24, /* numbers of failed states that are remembered: 128 MB */
    DEPTH_MAX = 6000    /* decisions under way, each a few frames of the stack */
};

/* A state from which nothing within `most` can be reached: what was done, and when what matters of it was done. */
struct failure {
    uint64_t hash;
    int64_t most, over; /* over: the least end that the bounds left possible, above most */
    uint32_t next;      /* in the chain of its place; 0: none */
    uint32_t first;     /* in the pool: counts, then times */
    uint32_t times;     /* how many */
};

struct exact {
    const struct instance *instance;
    struct bound *bound;
    struct progress_state state, from; /* from: where every attempt begins */
    uint32_t goal;                     /* operations to decide */
    uint32_t *trace;                   /* operations in the order of the decisions */
    uint32_t decided, depth;           /* depth counts idling as well */
    int64_t most;
    struct budget *budget;
    enum exact_rule rule;
    uint64_t random;
    int64_t *now; /* the times of the state that is looked at */
    int64_t over; /* the least end above `most` that a bound has named since the search began below this node */
    struct move *children; /* a stack: those of all nodes on the way to this one */
    size_t child_count, child_capacity;
    struct failure *failures;
    uint32_t failure_count;
    size_t failure_capacity;
    unsigned shift;   /* of a hash to its place */
    uint32_t *places; /* index of a failure + 1 */
    int64_t *pool;
    size_t pool_count, pool_capacity;
};

struct exact *exact_create(const struct instance *instance, struct bound *bound, unsigned table_bits,
                           struct arena *arena)
{
    struct exact *exact = arena_alloc(arena, sizeof *exact);
    *exact =
        (struct exact){.instance = instance, .bound = bound, .shift = 64 - table_bits, .random = 88172645463325252u};
    uint32_t chains = instance->kinds * instance->stages;
    exact->state.done = arena_array(arena, chains, sizeof(uint32_t));
    exact->state.ends = arena_array(arena, instance->operations, sizeof(int64_t));
    exact->state.free = arena_array(arena, instance->workers, sizeof(int64_t));
    exact->state.held = arena_array(arena, instance->workers, sizeof(uint32_t));
    exact->from = (struct progress_state){.done = arena_array(arena, chains, sizeof(uint32_t)),
                                          .free = arena_array(arena, instance->workers, sizeof(int64_t)),
                                          .held = arena_array(arena, instance->workers, sizeof(uint32_t))};
    exact->goal = instance->operations;
    exact->trace = arena_array(arena, instance->operations, sizeof(uint32_t));
    exact->now = arena_array(arena, instance->workers + (size_t)2 * instance->operations, sizeof(int64_t));
    /* Twice what decisions need, for a worker may idle before each; more of that gives up. */
    exact->child_capacity = (size_t)2 * (instance->operations + 1) * moves_most(instance);
    exact->children = arena_array(arena, exact->child_capacity, sizeof(struct move));
    exact->places = arena_array(arena, (size_t)1 << table_bits, sizeof(uint32_t));
    return exact;
}

void exact_finish(struct exact *exact)
{
    free(exact->failures);
    free(exact->pool);
    exact->failures = NULL;
    exact->pool = NULL;
}

/* ---- what is known to fail ---- */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The times on which the rest depends: when each worker is free, and when what was sent arrives, if after that. Their
 * number follows from the counts. */
static uint32_t describe(struct exact *exact)
{
    const struct instance *instance = exact->instance;
    const struct progress_state *state = &exact->state;
    uint32_t count = 0, stages = instance->stages;
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        exact->now[count++] = state->free[worker];
    for (uint32_t kind = BEST_FORWARD; kind <= BEST_BACKWARD; kind++)
        for (uint32_t stage = 0; stage < stages; stage++) {
            uint32_t from = kind == BEST_FORWARD ? stage - 1 : stage + 1;
            if (from >= stages || instance->worker_of[from] == instance->worker_of[stage])
                continue;
            int64_t free = state->free[instance->worker_of[stage]];
            for (uint32_t batch = state->done[kind * stages + stage]; batch < state->done[kind * stages + from];
                 batch++)
                exact->now[count++] =
                    later(free, state->ends[operation_of(instance, kind, from, batch)] + instance->latency);
        }
    return count;
}

static uint64_t hash_counts(const struct exact *exact)
{
    uint64_t hash = 1469598103934665603u;
    for (uint32_t chain = 0; chain < exact->instance->kinds * exact->instance->stages; chain++) {
        hash ^= exact->state.done[chain] + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
        hash *= 1099511628211u;
    }
    return hash ^ hash >> 29;
}

static bool same_counts(const struct exact *exact, const struct failure *failure)
{
    const int64_t *counts = exact->pool + failure->first;
    for (uint32_t chain = 0; chain < exact->instance->kinds * exact->instance->stages; chain++)
        if (counts[chain] != exact->state.done[chain])
            return false;
    return true;
}

/* Whether the failed state was nowhere later than this one. */
static bool was_no_later(const struct exact *exact, const struct failure *failure)
{
    const int64_t *times = exact->pool + failure->first + exact->instance->kinds * exact->instance->stages;
    for (uint32_t i = 0; i < failure->times; i++)
        if (times[i] > exact->now[i])
            return false;
    return true;
}

static bool is_hopeless(struct exact *exact, uint64_t hash)
{
    for (uint32_t at = exact->places[hash >> exact->shift]; at; at = exact->failures[at - 1].next) {
        const struct failure *failure = &exact->failures[at - 1];
        if (failure->hash == hash && failure->most >= exact->most && same_counts(exact, failure) &&
            was_no_later(exact, failure)) {
            exact->over = failure->over < exact->over ? failure->over : exact->over;
            return true;
        }
    }
    return false;
}

static void remember(struct exact *exact, uint64_t hash, uint32_t times)
{
    uint32_t chains = exact->instance->kinds * exact->instance->stages;
    if (exact->pool_count + chains + times > POOL_MAX)
        return;
    exact->pool =
        array_grow(exact->pool, &exact->pool_capacity, exact->pool_count + chains + times, sizeof *exact->pool);
    exact->failures = array_grow(exact->failures, &exact->failure_capacity, exact->failure_count + (size_t)1,
                                 sizeof *exact->failures);
    uint32_t *place = &exact->places[hash >> exact->shift];
    exact->failures[exact->failure_count] =
        (struct failure){hash, exact->most, exact->over, *place, (uint32_t)exact->pool_count, times};
    *place = ++exact->failure_count;
    for (uint32_t chain = 0; chain < chains; chain++)
        exact->pool[exact->pool_count++] = exact->state.done[chain];
    memcpy(exact->pool + exact->pool_count, exact->now, times * sizeof(int64_t));
    exact->pool_count += times;
}

/* ---- children ---- */

static int64_t random_part(struct exact *exact, int64_t most)
{
    exact->random ^= exact->random << 13;
    exact->random ^= exact->random >> 7;
    exact->random ^= exact->random << 17;
    return (int64_t)(exact->random % (uint64_t)(most + 1));
}

/* What is tried first has the largest rank. */
static int64_t rank_of(struct exact *exact, uint32_t operation, int64_t start)
{
    int64_t tail = bound_tails(exact->bound)[operation] + operation_length(exact->instance, operation);
    switch (exact->rule) {
    case RULE_TAIL:
        return start + tail;
    case RULE_BACKWARD:
        return tail + (operation_kind(exact->instance, operation) == BEST_BACKWARD ? exact->most : 0);
    case RULE_EARLY:
        return tail - 2 * start;
    default:
        return start + tail + random_part(exact, exact->most / 8);
    }
}

/* The moves of a node, the most promising first. */
static uint32_t list_children(struct exact *exact, struct move *children)
{
    uint32_t count = moves_list(exact->instance, &exact->state, exact->bound, children);
    for (uint32_t i = 0; i < count; i++) {
        if (children[i].operation != MOVE_IDLE)
            children[i].rank = rank_of(exact, children[i].operation, children[i].start);
        for (uint32_t j = i; j > 0 && children[j - 1].rank < children[j].rank; j--) {
            struct move other = children[j];
            children[j] = children[j - 1];
            children[j - 1] = other;
        }
    }
    return count;
}

/* ---- the search ---- */

static bool bounds_hold(struct exact *exact)
{
    int64_t end = bound_heads(exact->bound, &exact->state, exact->most);
    for (uint32_t worker = 0; worker < exact->instance->workers && end <= exact->most; worker++)
        end = bound_worker(exact->bound, &exact->state, worker);
    if (end > exact->most)
        exact->over = end < exact->over ? end : exact->over;
    return end <= exact->most;
}

static enum exact_end explore(struct exact *exact);

static enum exact_end try_child(struct exact *exact, const struct move *child)
{
    int64_t free = exact->state.free[child->worker];
    if (exact->depth == DEPTH_MAX)
        return EXACT_GIVEN_UP;
    exact->depth++;
    move_do(exact->instance, &exact->state, child);
    if (child->operation != MOVE_IDLE)
        exact->trace[exact->decided++] = child->operation;
    enum exact_end end = explore(exact);
    if (end == EXACT_FOUND)
        return end;
    move_undo(exact->instance, &exact->state, child, free);
    exact->depth--;
    exact->decided -= child->operation != MOVE_IDLE;
    return end;
}

/* Tries the children of a node whose state nothing speaks against. */
static enum exact_end branch(struct exact *exact)
{
    struct move *children = exact->children + exact->child_count;
    if (exact->child_count + moves_most(exact->instance) > exact->child_capacity)
        return EXACT_GIVEN_UP;
    uint32_t count = list_children(exact, children);
    enum exact_end end = EXACT_IMPOSSIBLE;
    exact->child_count += count;
    for (uint32_t i = 0; i < count && end == EXACT_IMPOSSIBLE; i++)
        end = try_child(exact, &children[i]);
    exact->child_count -= count;
    return end;
}

static enum exact_end explore(struct exact *exact)
{
    if (exact->decided == exact->goal)
        return EXACT_FOUND;
    if (!budget_spend(exact->budget))
        return EXACT_GIVEN_UP;
    if (!bounds_hold(exact))
        return EXACT_IMPOSSIBLE;
    uint64_t hash = hash_counts(exact);
    describe(exact);
    if (is_hopeless(exact, hash))
        return EXACT_IMPOSSIBLE;
    int64_t outside = exact->over;
    exact->over = INT64_MAX;
    enum exact_end end = branch(exact);
    if (end == EXACT_IMPOSSIBLE)
        remember(exact, hash, describe(exact));
    exact->over = outside < exact->over ? outside : exact->over;
    return end;
}

static void reset(struct exact *exact)
{
    const struct instance *instance = exact->instance;
    memcpy(exact->state.done, exact->from.done, instance->kinds * instance->stages * sizeof(uint32_t));
    memcpy(exact->state.free, exact->from.free, instance->workers * sizeof(int64_t));
    memcpy(exact->state.held, exact->from.held, instance->workers * sizeof(uint32_t));
    exact->decided = exact->depth = 0;
    exact->child_count = 0;
    exact->over = INT64_MAX;
}

int64_t exact_over(const struct exact *exact)
{
    return exact->over;
}

void exact_part(struct exact *exact, const struct progress_state *from, uint32_t count)
{
    const struct instance *instance = exact->instance;
    memcpy(exact->from.done, from->done, instance->kinds * instance->stages * sizeof(uint32_t));
    memcpy(exact->from.free, from->free, instance->workers * sizeof(int64_t));
    memcpy(exact->from.held, from->held, instance->workers * sizeof(uint32_t));
    memcpy(exact->state.ends, from->ends, instance->operations * sizeof(int64_t));
    memset(exact->places, 0, ((size_t)1 << (64 - exact->shift)) * sizeof *exact->places);
    exact->failure_count = 0;
    exact->pool_count = 0;
    exact->goal = count;
}

enum exact_end exact_try(struct exact *exact, int64_t most, enum exact_rule rule, uint32_t seed, struct budget *budget)
{
    exact->most = most;
    exact->rule = rule;
    exact->budget = budget;
    exact->random = 88172645463325252u + 2 * (uint64_t)seed;
    reset(exact);
    return explore(exact);
}

void exact_words(const struct exact *exact, struct words *words)
{
    const struct instance *instance = exact->instance;
    for (uint32_t worker = 0; worker < instance->workers; worker++) {
        words->count[worker] = 0;
        for (uint32_t kind = 0; kind < instance->kinds; kind++)
            for (uint32_t i = 0; i < instance->stage_count[worker]; i++)
                words->count[worker] += exact->from.done[kind * instance->stages + instance->stages_of[worker][i]];
    }
    for (uint32_t i = 0; i < exact->decided; i++) {
        uint32_t chain = exact->trace[i] / instance->batches;
        uint32_t worker = instance->worker_of[chain % instance->stages];
        words->chains[worker][words->count[worker]++] = (uint16_t)chain;
    }
}
