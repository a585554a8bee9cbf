/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/best/layers.h"

#include "base/arena.h"
#include "schedules/best/layers_parts.h"

#include <stdlib.h>
#include <string.h>

struct layers *layers_create(const struct instance *instance, const enum layers_keeps *keeps)
{
    struct layers *layers = array_zeroed(1, sizeof *layers);
    layers->way = way_create(instance, keeps);
    layers->size = state_size(layers->way);
    layers->of_each = layers->way->count + (layers->way->splits ? layers->way->stage_count : 0);
    layers->all = layers->of_each * instance->batches;
    return layers;
}

void layers_give_back(struct layers *layers)
{
    free(layers->now.states);
    free(layers->next.states);
    free(layers->buckets);
    free(layers->steps);
    free(layers->kept);
    free(layers->traces);
    layers->now = layers->next = (struct layer){0};
    layers->buckets = layers->kept = NULL;
    layers->steps = NULL;
    layers->traces = NULL;
    layers->step_capacity = layers->kept_capacity = layers->bucket_count = 0;
}

void layers_finish(struct layers *layers)
{
    way_finish(layers->way);
    free(layers);
}

/* Room for a state behind the others; NULL: too many. */
static struct state *add_state(struct layers *layers, struct layer *layer)
{
    if ((layer->count + (size_t)1) * layers->size > LAYERS_BYTES_MAX)
        return NULL;
    layer->states = array_grow(layer->states, &layer->capacity, (layer->count + (size_t)1) * layers->size, 1);
    return layers_state(layers, layer, layer->count++);
}

/* ---- what may come next ---- */

static void note_step(struct layers *layers, uint32_t *count, struct step step)
{
    layers->steps = array_grow(layers->steps, &layers->step_capacity, *count + (size_t)1, sizeof step);
    layers->steps[(*count)++] = step;
}

/* The next operation of a micro-batch on its way, where it does not run into the one before it. */
static void note_on_way(struct layers *layers, struct state *state, uint32_t batch, uint32_t *count)
{
    const struct way *way = layers->way;
    const uint16_t *place = state_place(way, state);
    bool new = batch == state->under_way;
    uint32_t at = new ? 0 : place[batch];
    const struct point *point = &way->points[at];
    uint32_t limit = way->keeps[point->worker] == LAYERS_ALL ? way->instance->limits[point->worker] : 0;
    bool limited = point->kind == BEST_FORWARD && limit;
    if ((batch && place[batch - 1] <= at) || (limited && way_held(way, state, point->worker) >= limit))
        return;
    int64_t start = new ? point->lag : state_ready(way, state)[batch], free_at = state_free(state)[point->worker];
    start = start > free_at ? start : free_at;
    note_step(layers, count, (struct step){start, point->length, point->worker, batch, UINT32_MAX, limited});
}

/* The weight gradients of a worker: of those of one length one, for they release alike. */
static void note_weights(struct layers *layers, struct state *state, uint32_t worker, uint32_t *count)
{
    const struct way *way = layers->way;
    const uint16_t *left = state_left(way, state);
    for (uint32_t i = way->first_stage[worker]; i < way->last_stage[worker]; i++) {
        bool again = !left[i];
        for (uint32_t k = way->first_stage[worker]; k < i && !again; k++)
            again = left[k] && way->stages[k].weight == way->stages[i].weight;
        if (!again)
            note_step(layers, count,
                      (struct step){state_free(state)[worker], way->stages[i].weight, worker, 0, i, false});
    }
}

static uint32_t find_steps(struct layers *layers, struct state *state)
{
    const struct way *way = layers->way;
    uint32_t count = 0, batches = state->under_way + (state->begun < way->instance->batches);
    for (uint32_t batch = 0; batch < batches; batch++)
        note_on_way(layers, state, batch, &count);
    for (uint32_t worker = 0; way->splits && worker < way->instance->workers; worker++)
        note_weights(layers, state, worker, &count);
    return count;
}

/* ---- one step ---- */

/* Nothing that is decided later starts earlier, so workers are free from then on at the earliest. */
static void take_start(const struct way *way, struct state *state, const struct step *step)
{
    int64_t *free_at = state_free(state);
    for (uint32_t worker = 0; worker < way->instance->workers; worker++) {
        int64_t from = step->start + (way->ties && worker < step->worker);
        free_at[worker] = free_at[worker] > from ? free_at[worker] : from;
    }
    free_at[step->worker] = step->start + step->length;
}

/* A micro-batch is one point further; the first one may then be through. */
static void advance(const struct way *way, struct state *state, const struct step *step)
{
    uint16_t *place = state_place(way, state);
    int64_t *ready = state_ready(way, state);
    uint32_t batch = step->batch;
    if (batch == state->under_way) {
        place[batch] = 0;
        state->under_way++;
        state->begun++;
    }
    const struct point *point = &way->points[place[batch]];
    state->chain = point->kind * way->instance->stages + point->stage;
    ready[batch] = step->start + step->length + point[1].lag;
    for (uint32_t i = way->first_stage[point->worker]; way->splits && i < way->last_stage[point->worker]; i++)
        state_left(way, state)[i] += place[batch] == way->stages[i].backward;
    if (++place[batch] == way->count) {
        state->under_way--;
        memmove(place, place + 1, state->under_way * sizeof *place);
        memmove(ready, ready + 1, state->under_way * sizeof *ready);
    }
}

void layers_settle(const struct way *way, struct state *state)
{
    const uint16_t *place = state_place(way, state), *left = state_left(way, state);
    int64_t *ready = state_ready(way, state), *free_at = state_free(state);
    state->key = instance_mix(((uint64_t)state->begun << 32) + state->under_way);
    for (uint32_t k = 0; k < state->under_way; k++) {
        int64_t from = free_at[way->points[place[k]].worker];
        ready[k] = ready[k] > from ? ready[k] : from;
        state->key = instance_mix(state->key + place[k] + 1);
    }
    for (uint32_t i = 0; i < way->stage_count; i++)
        state->key = instance_mix(state->key + left[i] + 1);
}

/* ---- dominance ---- */

bool layers_same_done(const struct way *way, struct state *a, struct state *b)
{
    return a->begun == b->begun && a->under_way == b->under_way &&
           !memcmp(state_place(way, a), state_place(way, b), a->under_way * sizeof(uint16_t)) &&
           !memcmp(state_left(way, a), state_left(way, b), way->stage_count * sizeof(uint16_t));
}

/* Whether `a` is nowhere later than `b`. */
static bool is_as_early(const struct way *way, struct state *a, struct state *b)
{
    const int64_t *of_a = state_free(a), *of_b = state_free(b);
    bool early = true;
    for (uint32_t worker = 0; early && worker < way->instance->workers; worker++)
        early = way->keeps[worker] == LAYERS_DELAY || of_a[worker] <= of_b[worker];
    of_a = state_ready(way, a);
    of_b = state_ready(way, b);
    for (uint32_t k = 0; early && k < a->under_way; k++)
        early = of_a[k] <= of_b[k];
    return early;
}

/* The last state of the next layer: whether it stays there. Those that it makes useless are marked. */
static bool enter(struct layers *layers)
{
    struct layer *next = &layers->next;
    struct state *state = layers_state(layers, next, next->count - 1);
    uint32_t *bucket = layers_bucket(layers, state);
    for (uint32_t i = *bucket; i;) {
        struct state *other = layers_state(layers, next, i - 1);
        i = other->next;
        if (other->dead || other->key != state->key || !layers_same_done(layers->way, other, state))
            continue;
        if (is_as_early(layers->way, other, state))
            return false;
        other->dead = is_as_early(layers->way, state, other);
    }
    state->next = *bucket;
    *bucket = next->count;
    return true;
}

/* ---- a layer ---- */

/* A state with a step more, unless it can be seen to be in vain. False: no room for it. */
static bool make(struct layers *layers, const struct layers_request *request, uint32_t parent, const struct step *step)
{
    const struct way *way = layers->way;
    struct state *state = add_state(layers, &layers->next);
    if (!state)
        return false;
    memcpy(state, layers_state(layers, &layers->now, parent), layers->size);
    if (step->held == UINT32_MAX && step->batch == way->most_under_way) {
        layers->next.count--;
        return request->width > 0 && !request->endless;
    }
    state->parent = parent;
    state->next = 0;
    take_start(way, state, step);
    if (step->held == UINT32_MAX) {
        advance(way, state, step);
    } else {
        state_left(way, state)[step->held]--;
        state->chain = BEST_WEIGHT * way->instance->stages + way->stages[step->held].stage;
    }
    layers_settle(way, state);
    if ((step->limited && !way_is_open(way, state, step->worker)) ||
        way_bound(way, state, request->lean) > request->most || !enter(layers))
        layers->next.count--;
    return true;
}

/* All steps of a state that can be of an order in which nothing could have been done earlier: some order that is not
 * longer begins so. In its place another operation could not have been done altogether before the step starts. */
static bool follow(struct layers *layers, const struct layers_request *request, uint32_t parent)
{
    if (request->endless && layers_state(layers, &layers->now, parent)->begun == layers->way->instance->batches)
        return false; /* without end there would be one more */
    uint32_t count = find_steps(layers, layers_state(layers, &layers->now, parent));
    int64_t first = INT64_MAX, first_end = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const struct step *step = &layers->steps[i];
        first = step->start < first ? step->start : first;
        if (!step->limited && step->start + step->length < first_end)
            first_end = step->start + step->length;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct step step = layers->steps[i];
        bool in_time = step.start < first_end || step.start + step.length == first_end || step.start == first;
        if ((in_time || request->endless) && !make(layers, request, parent, &step))
            return false;
    }
    return true;
}

void layers_begin_buckets(struct layers *layers)
{
    uint32_t count = 1024;
    while (count < 2 * layers->now.count)
        count *= 2;
    if (count != layers->bucket_count) {
        free(layers->buckets);
        layers->buckets = array_zeroed(count, sizeof *layers->buckets);
        layers->bucket_count = count;
    } else {
        memset(layers->buckets, 0, count * sizeof *layers->buckets);
    }
}

/* ---- what is kept ---- */

static bool seems_better(const struct layers *layers, uint32_t a, uint32_t b)
{
    const struct state *left = layers_state(layers, &layers->next, a), *right = layers_state(layers, &layers->next, b);
    if (left->seems != right->seems)
        return left->seems < right->seems;
    return left->key != right->key ? left->key < right->key : a < b;
}

/* Moves the `width` best to the front, of more than so many (Hoare's selection). */
static void select_best(struct layers *layers, uint32_t count, uint32_t width)
{
    uint32_t *kept = layers->kept;
    for (int64_t low = 0, high = (int64_t)count - 1; low < high;) {
        uint32_t pivot = kept[low + (high - low) / 2];
        int64_t i = low, k = high;
        while (i <= k) {
            while (seems_better(layers, kept[i], pivot))
                i++;
            while (seems_better(layers, pivot, kept[k]))
                k--;
            if (i > k)
                break;
            uint32_t other = kept[i];
            kept[i++] = kept[k];
            kept[k--] = other;
        }
        if (width > k && width < i)
            return;
        low = width >= i ? i : low;
        high = width <= k ? k : high;
    }
}

/* Of the states behind the width those in which the same has been done become one that is nowhere later than any of
 * them: no longer a state that is reached, but nothing that follows from them is earlier than what follows from it. */
static uint32_t melt_rest(struct layers *layers, uint32_t count, uint32_t width)
{
    const struct way *way = layers->way;
    uint32_t kept = width;
    layers_begin_buckets(layers);
    for (uint32_t i = width; i < count; i++) {
        struct state *state = layers_state(layers, &layers->next, layers->kept[i]);
        uint32_t *bucket = layers_bucket(layers, state), other = *bucket;
        while (other && !layers_same_done(way, layers_state(layers, &layers->next, other - 1), state))
            other = layers_state(layers, &layers->next, other - 1)->next;
        if (!other) {
            state->next = *bucket;
            *bucket = layers->kept[i] + 1;
            layers->kept[kept++] = layers->kept[i];
            continue;
        }
        int64_t *numbers = layers_state(layers, &layers->next, other - 1)->numbers;
        for (uint32_t k = 0; k < way->instance->workers + state->under_way; k++)
            numbers[k] = numbers[k] < state->numbers[k] ? numbers[k] : state->numbers[k];
    }
    return kept;
}

void layers_turn(struct layers *layers, const struct layers_request *request, uint32_t layer)
{
    uint32_t count = 0, width = request->width;
    layers->kept =
        array_grow(layers->kept, &layers->kept_capacity, layers->next.count + (size_t)1, sizeof *layers->kept);
    for (uint32_t i = 0; i < layers->next.count; i++)
        if (!layers_state(layers, &layers->next, i)->dead)
            layers->kept[count++] = i;
    if (width && count > width) {
        select_best(layers, count, width);
        count = request->endless ? melt_rest(layers, count, width) : width;
    }
    layers->now.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct state *state = add_state(layers, &layers->now);
        memcpy(state, layers_state(layers, &layers->next, layers->kept[i]), layers->size);
        if (layers->traces)
            layers->traces[(size_t)layer * width + i] = (struct trace){state->parent, (uint16_t)state->chain};
    }
}

bool layers_pass(struct layers *layers, const struct layers_request *request, struct budget *budget)
{
    layers->next.count = 0;
    layers_begin_buckets(layers);
    for (uint32_t i = 0; i < layers->now.count; i++) {
        if (!follow(layers, request, i) || (++layers->made % LAYERS_OF_EFFORT == 0 && !budget_spend(budget)))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

static int64_t end_of(const struct layers *layers, struct state *state)
{
    int64_t end = 0;
    for (uint32_t worker = 0; worker < layers->way->instance->workers; worker++)
        if (layers->way->keeps[worker] != LAYERS_DELAY && state_free(state)[worker] > end)
            end = state_free(state)[worker];
    return end;
}

static void write_words(const struct layers *layers, uint32_t width, uint32_t index, struct words *words)
{
    uint16_t *chains = array_zeroed(layers->all, sizeof *chains);
    for (uint32_t layer = layers->all; layer-- > 0;) {
        struct trace trace = layers->traces[(size_t)layer * width + index];
        chains[layer] = trace.chain;
        index = trace.parent;
    }
    words_of_chains(layers->way->instance, chains, layers->all, words);
    free(chains);
}

void layers_start(struct layers *layers)
{
    memset(add_state(layers, &layers->now), 0, layers->size);
}

static enum layers_end run(struct layers *layers, const struct layers_request *request, struct budget *budget)
{
    layers_start(layers);
    for (uint32_t layer = 0; layer < layers->all; layer++) {
        if (!layers_pass(layers, request, budget))
            return LAYERS_GIVEN_UP;
        layers_turn(layers, request, layer);
        if (!layers->now.count)
            return request->width ? LAYERS_GIVEN_UP : LAYERS_IMPOSSIBLE;
    }
    return LAYERS_FOUND;
}

enum layers_end layers_try(struct layers *layers, const struct layers_request *request, struct budget *budget,
                           int64_t *end, struct words *words)
{
    bool traced = words && request->width;
    if (!layers->all || (traced && (uint64_t)layers->all * request->width > LAYERS_TRACES_MAX))
        return LAYERS_GIVEN_UP;
    if (traced)
        layers->traces = array_zeroed((size_t)layers->all * request->width, sizeof *layers->traces);
    enum layers_end found = run(layers, request, budget);
    uint32_t best = 0;
    for (uint32_t i = 1; found == LAYERS_FOUND && i < layers->now.count; i++)
        if (end_of(layers, layers_state(layers, &layers->now, i)) <
            end_of(layers, layers_state(layers, &layers->now, best)))
            best = i;
    if (found == LAYERS_FOUND)
        *end = end_of(layers, layers_state(layers, &layers->now, best));
    if (found == LAYERS_FOUND && traced)
        write_words(layers, request->width, best, words);
    layers_give_back(layers);
    return found;
}
