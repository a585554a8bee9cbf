/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/window.h"

#include "base/arena.h"
#include "schedules/best/exact.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_BITS = 12, STATES = 400, SIZE_LEAST = 8, PATIENCE = 60, TRIES = 8, KICKS = 3 };

struct window {
    const struct instance *instance;
    struct bound *bound;
    struct exact *exact;
    struct progress_state state; /* what comes before */
    uint32_t *to;                /* [chain] */
    int64_t *after;              /* [worker] */
    int64_t *starts, *tails, *slack, *scratch, *sorted;
    struct words *found, *best;
    uint64_t random;
    uint32_t size, round; /* operations that a window should have */
};

struct window *window_create(const struct instance *instance, struct arena *arena)
{
    struct window *window = arena_alloc(arena, sizeof *window);
    uint32_t chains = instance->kinds * instance->stages;
    *window = (struct window){.instance = instance, .random = 0x9e3779b97f4a7c15u};
    window->bound = bound_create(instance, arena);
    window->exact = exact_create(instance, window->bound, TABLE_BITS, arena);
    window->state = (struct progress_state){.done = arena_array(arena, chains, sizeof(uint32_t)),
                                            .ends = arena_array(arena, instance->operations, sizeof(int64_t)),
                                            .free = arena_array(arena, instance->workers, sizeof(int64_t)),
                                            .held = arena_array(arena, instance->workers, sizeof(uint32_t))};
    window->to = arena_array(arena, chains, sizeof *window->to);
    window->after = arena_array(arena, instance->workers, sizeof *window->after);
    window->starts = arena_array(arena, instance->operations, sizeof(int64_t));
    window->tails = arena_array(arena, instance->operations, sizeof(int64_t));
    window->slack = arena_array(arena, instance->operations, sizeof(int64_t));
    window->scratch = arena_array(arena, instance->operations, sizeof(int64_t));
    window->sorted = arena_array(arena, instance->operations, sizeof(int64_t));
    window->found = words_create(instance, arena);
    window->best = words_create(instance, arena);
    window->size = SIZE_LEAST * instance->workers;
    return window;
}

void window_finish(struct window *window)
{
    exact_finish(window->exact);
}

static uint32_t random_below(struct window *window, uint32_t count)
{
    window->random ^= window->random << 13;
    window->random ^= window->random >> 7;
    window->random ^= window->random << 17;
    return (uint32_t)((window->random >> 32) * count >> 32);
}

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* The times of words, which are valid; their end. */
static int64_t take_times(struct window *window, const struct words *words)
{
    const struct instance *instance = window->instance;
    int64_t end = words_makespan(instance, words, window->starts, window->scratch);
    words_tails(instance, words, window->tails);
    for (uint32_t i = 0; i < instance->operations; i++)
        window->slack[i] = end - window->starts[i] - operation_length(instance, i) - window->tails[i];
    memcpy(window->sorted, window->starts, instance->operations * sizeof(int64_t));
    qsort(window->sorted, instance->operations, sizeof(int64_t), by_time);
    return end;
}

/* What a worker does before `begin` is decided, what it does from `end` on stays behind. The operations between. */
static uint32_t split_word(struct window *window, const struct words *words, uint32_t worker, int64_t begin,
                           int64_t end)
{
    const struct instance *instance = window->instance;
    uint32_t between = 0;
    window->after[worker] = window->state.free[worker] = window->state.held[worker] = 0;
    for (uint32_t i = 0; i < words->count[worker]; i++) {
        uint32_t chain = words->chains[worker][i], kind = chain / instance->stages;
        uint32_t operation = chain * instance->batches + window->to[chain];
        int64_t length = operation_length(instance, operation);
        if (window->starts[operation] >= end) {
            window->after[worker] = length + window->tails[operation];
            break;
        }
        window->to[chain]++;
        if (window->starts[operation] >= begin) {
            between++;
            continue;
        }
        window->state.done[chain]++;
        window->state.free[worker] = window->state.ends[operation] = window->starts[operation] + length;
        window->state.held[worker] += kind == BEST_FORWARD;
        window->state.held[worker] -= kind == instance_release(instance);
    }
    return between;
}

static uint32_t split_words(struct window *window, const struct words *words, int64_t begin, int64_t end)
{
    const struct instance *instance = window->instance;
    uint32_t chains = instance->kinds * instance->stages, between = 0;
    memset(window->to, 0, chains * sizeof *window->to);
    memset(window->state.done, 0, chains * sizeof *window->state.done);
    for (uint32_t worker = 0; worker < instance->workers; worker++)
        between += split_word(window, words, worker, begin, end);
    return between;
}

/* The first place of a start in `sorted`. */
static uint32_t place_of(const struct window *window, int64_t start)
{
    uint32_t low = 0, high = window->instance->operations;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (window->sorted[middle] < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Some operations one after the other by their starts, and all that start with the last of them. */
static uint32_t choose(struct window *window, const struct words *words)
{
    uint32_t count = window->instance->operations, size = window->size < count ? window->size : count;
    uint32_t first = 0;
    /* Nothing gets shorter but by what is on a longest path. */
    for (int tries = 0; tries < TRIES && (tries == 0 || window->slack[first] > 0); tries++)
        first = random_below(window, count);
    first = place_of(window, window->starts[first]);
    uint32_t back = random_below(window, size);
    first = first > back ? first - back : 0;
    uint32_t last = first + size < count ? first + size : count;
    int64_t end = last < count ? window->sorted[last] : INT64_MAX;
    return split_words(window, words, window->sorted[first], end);
}

/* Decides the window anew so that no path through it is longer than `most`. */
static enum exact_end decide(struct window *window, const struct words *words, int64_t most, struct budget *budget)
{
    const struct instance *instance = window->instance;
    uint32_t between = choose(window, words);
    if (between < 2)
        return EXACT_IMPOSSIBLE;
    bound_part(window->bound, &window->state, window->to, window->after, window->tails);
    exact_part(window->exact, &window->state, between);
    budget_begin(budget, STATES);
    enum exact_end end =
        exact_try(window->exact, most, (enum exact_rule)random_below(window, EXACT_RULES), window->round++, budget);
    if (end != EXACT_FOUND)
        return end;
    words_copy(instance, window->found, words);
    exact_words(window->exact, window->found);
    words_full(instance, window->found);
    return EXACT_FOUND;
}

/* Windows that are done with soon grow, those that are given up shrink. */
static void adapt(struct window *window, enum exact_end end)
{
    uint32_t least = 2 * window->instance->workers;
    if (end == EXACT_GIVEN_UP)
        window->size -= window->size / 16;
    else
        window->size += window->size / 64 + 1;
    window->size = window->size < least ? least : window->size;
    window->size = window->size > window->instance->operations ? window->instance->operations : window->size;
}

void window_run(struct window *window, struct words *words, int64_t least, int64_t slice, struct budget *budget)
{
    const struct instance *instance = window->instance;
    int64_t current = take_times(window, words), best = current, until = budget->total - slice;
    uint32_t vain = 0;
    words_copy(instance, window->best, words);
    while (best > least && budget->total > until && !budget->stopped && budget->total > 0) {
        /* Shorter; as long, to get elsewhere; now and then longer. */
        bool kick = vain > PATIENCE && vain <= PATIENCE + KICKS;
        int64_t most = kick ? current + current / 32 : window->round % 2 ? current : current - 1;
        enum exact_end end = decide(window, words, most, budget);
        adapt(window, end);
        vain++;
        if (vain > 3 * PATIENCE) {
            words_copy(instance, words, window->best);
            current = take_times(window, words);
            vain = 0;
        }
        if (end != EXACT_FOUND)
            continue;
        words_copy(instance, words, window->found);
        current = take_times(window, words);
        if (current < best) {
            words_copy(instance, window->best, words);
            best = current;
            vain = 0;
        }
    }
    words_copy(instance, words, window->best);
}
