/* SPDX-License-Identifier: Apache-2.0 */
/* What a further micro-batch takes, however many there are. Layers go on without end; all that matters of a state is
 * how far the micro-batches under way have come, and when, so states of one layer compare with those of another.
 *
 * A bound. Let S be the states of a layer, and S' those that are reached from S with n micro-batches more. A step from
 * a state that is nowhere later leads to one that is nowhere later, and everything moves with the clock. So if each
 * state of S' is at all times later by c than some state of S in which the same has been done, then those that are
 * reached with n more again are later by 2c, and so on: N micro-batches take at least c / n x N, and what does not grow
 * with N. Any state may stand for some that are later without harm to this. So a layer stays small: what is behind the
 * width melts (see layers.c). Each order of the job goes through states that are nowhere earlier than some of these: it
 * does what workers keep to in the order of starts, and within a kind and stage micro-batches follow each other, as
 * they are alike.
 *
 * An order. If a state is reached from one of an earlier layer in which the same has been done, and is nowhere later by
 * more than c, then what led there can be done again and again, each time in c at most. */
#include "schedules/best/layers.h"

#include "base/arena.h"
#include "schedules/best/layers_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAST = 12, PERIODS = 120, STEADY = 24 };

/* A layer that is kept, after so many micro-batches' operations. */
struct endless {
    struct layers *layers;
    const struct layers_request *request;
    struct layer past[PAST]; /* [period % PAST] */
    uint32_t period;
    double rate;
};

/* From `a` to `b` in which the same has been done: the least difference of times, or the largest. */
static int64_t later_by(const struct way *way, struct state *a, struct state *b, bool least)
{
    int64_t found = least ? INT64_MAX : INT64_MIN;
    for (uint32_t worker = 0; worker < way->instance->workers; worker++) {
        int64_t by = state_free(b)[worker] - state_free(a)[worker];
        if (way->keeps[worker] != LAYERS_DELAY && (least ? by < found : by > found))
            found = by;
    }
    for (uint32_t k = 0; k < a->under_way; k++) {
        int64_t by = state_ready(way, b)[k] - state_ready(way, a)[k];
        if (least ? by < found : by > found)
            found = by;
    }
    return found;
}

/* So much later than some state of `past` is each of this layer; INT64_MIN: that of no state is known. */
static int64_t all_later(struct layers *layers, struct layer *past)
{
    int64_t least = INT64_MAX;
    layers_begin_buckets(layers);
    for (uint32_t i = 0; i < past->count; i++) {
        struct state *state = layers_state(layers, past, i);
        uint32_t *bucket = layers_bucket(layers, state);
        state->next = *bucket;
        *bucket = i + 1;
    }
    for (uint32_t i = 0; i < layers->now.count && least > INT64_MIN; i++) {
        struct state *state = layers_state(layers, &layers->now, i);
        int64_t most = INT64_MIN;
        for (uint32_t at = *layers_bucket(layers, state); at;) {
            struct state *other = layers_state(layers, past, at - 1);
            at = other->next;
            if (other->key != state->key || !layers_same_done(layers->way, other, state))
                continue;
            int64_t by = later_by(layers->way, other, state, true);
            most = by > most ? by : most;
        }
        least = most < least ? most : least;
    }
    return least;
}

static void look_back(struct endless *endless)
{
    for (uint32_t back = 1; back < PAST && back <= endless->period; back++) {
        int64_t by = all_later(endless->layers, &endless->past[(endless->period - back) % PAST]);
        if (by > INT64_MIN)
            endless->rate = fmax(endless->rate, (double)by / back);
    }
}

/* The same for the states that each one of this layer has come from. */
static void look_at_ways(struct endless *endless)
{
    struct layers *layers = endless->layers;
    for (uint32_t i = 0; i < layers->now.count; i++) {
        uint32_t from = i, layer = endless->period * layers->of_each;
        for (uint32_t back = 1; back < PAST && back <= endless->period; back++) {
            for (uint32_t step = 0; step < layers->of_each; step++)
                from = layers->traces[(size_t)--layer * endless->request->width + from].parent;
            struct state *state = layers_state(layers, &layers->now, i);
            struct state *other = layers_state(layers, &endless->past[(endless->period - back) % PAST], from);
            if (other->key == state->key && layers_same_done(layers->way, other, state))
                endless->rate = fmin(endless->rate, (double)later_by(layers->way, other, state, false) / back);
        }
    }
}

/* The layer after all operations of one micro-batch more. It is kept as if there were as many micro-batches as before,
 * for a state with `begun` less is the same in what follows. */
static bool pass_period(struct endless *endless, struct budget *budget)
{
    struct layers *layers = endless->layers;
    for (uint32_t i = 0; i < layers->of_each; i++) {
        if (!layers_pass(layers, endless->request, budget))
            return false;
        layers_turn(layers, endless->request, endless->period * layers->of_each + i);
        if (!layers->now.count)
            return false;
    }
    for (uint32_t i = 0; i < layers->now.count; i++) {
        struct state *state = layers_state(layers, &layers->now, i);
        state->begun--;
        layers_settle(layers->way, state);
    }
    endless->period++;
    return true;
}

/* All that are kept take no more room than one may; false: they would. */
static bool keep_layer(struct endless *endless)
{
    struct layers *layers = endless->layers;
    struct layer *past = &endless->past[endless->period % PAST];
    size_t bytes = layers->now.count * layers->size, all = bytes;
    for (uint32_t i = 0; i < PAST; i++)
        all += &endless->past[i] == past ? 0 : endless->past[i].capacity;
    if (all > LAYERS_BYTES_MAX)
        return false;
    past->states = array_grow(past->states, &past->capacity, bytes, 1);
    memcpy(past->states, layers->now.states, bytes);
    past->count = layers->now.count;
    return true;
}

double layers_rate(struct layers *layers, const struct layers_request *request, double aim, struct budget *budget)
{
    struct endless endless = {layers, request, {{0}}, 0, request->endless ? 0 : INFINITY};
    if (!request->endless && (uint64_t)PERIODS * layers->of_each * request->width > LAYERS_TRACES_MAX)
        return INFINITY;
    if (!request->endless)
        layers->traces = array_zeroed((size_t)PERIODS * layers->of_each * request->width, sizeof *layers->traces);
    layers_start(layers);
    keep_layer(&endless);
    for (uint32_t steady = 0; steady < STEADY && endless.period < PERIODS && pass_period(&endless, budget); steady++) {
        double before = endless.rate;
        if (request->endless)
            look_back(&endless);
        else
            look_at_ways(&endless);
        if (request->endless ? endless.rate >= aim : endless.rate <= aim)
            break;
        if (endless.rate < before || endless.rate > before)
            steady = 0;
        if (!keep_layer(&endless))
            break;
    }
    for (uint32_t i = 0; i < PAST; i++)
        free(endless.past[i].states);
    layers_give_back(layers);
    return endless.rate;
}
