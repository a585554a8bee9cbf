/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/losses.h"

#include "base/arena.h"
#include "studies/explain/factors.h"
#include "studies/explain/like.h"
#include "studies/explain/who.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const loss_keys[LOSS_KINDS] = {
    [LOSS_GAPS] = "gaps",
    [LOSS_PAUSES] = "pauses",
    [LOSS_RANKS] = "slow-ranks",
    [LOSS_MICRO_BATCHES] = "uneven-micro-batches",
    [LOSS_STAGES] = "uneven-stages",
    [LOSS_FORWARD] = "forwards",
    [LOSS_BACKWARD] = "backwards",
    [LOSS_OTHER_COMPUTE] = "other-computations",
    [LOSS_REST] = "other-differences",
    [LOSS_MESSAGES] = "messages",
    [LOSS_COLLECTIVES] = "collectives",
    [LOSS_CONTENTION] = "contention",
    [LOSS_MESSAGE_SIZES] = "message-sizes",
    [LOSS_COLLECTIVE_SIZES] = "collective-sizes",
    [LOSS_EXTRA] = "not-in-model",
    [LOSS_ORDER] = "order",
};

/* Share of a step below which the difference of two replays is that of their sums' order. */
static const double rounding = 1e-11;

/* ---- replays of all steps ---- */

/* Mean seconds of the steps by the engine, with these values, [operation], and no gaps. NaN with the fault filled. */
static double replay_by_engine(struct loss_search *search, const double *values, struct fault *fault)
{
    double sum = 0;
    memset(search->gaps, 0, search->nodes * sizeof *search->gaps);
    for (size_t s = 0; s < search->step_count; s++) {
        loss_search_seconds(search, s, values);
        sum += engine_replay_time(search->engines[s], search->seconds, search->gaps, fault);
    }
    return sum / (double)search->step_count;
}

static bool create_replays(struct loss_search *search, const uint32_t *steps, struct losses *losses,
                           struct fault *fault)
{
    losses->shortest = INFINITY;
    for (size_t s = 0; s < search->step_count; s++) {
        struct replay *replay = search->replays[s] = replay_create(search->recorded, steps[s], fault);
        if (!replay || !(search->engines[s] = engine_replay_create(replay, NULL, fault)))
            return false;
        search->nodes = replay->node_count > search->nodes ? replay->node_count : search->nodes;
        losses->unmatched += replay->unmatched;
        losses->shortest = fmin(losses->shortest, replay->shortest);
        losses->longest = fmax(losses->longest, replay->longest);
        losses->measured += replay->measured / (double)search->step_count;
        for (uint32_t i = 0; i < replay->node_count; i++)
            if (replay->nodes[i].kind == REPLAY_WORK)
                search->factors.own[replay->nodes[i].operation] = replay->nodes[i].seconds;
    }
    search->seconds = arena_array(search->arena, search->nodes, sizeof *search->seconds);
    search->gaps = arena_array(search->arena, search->nodes, sizeof *search->gaps);
    return true;
}

static void destroy_replays(struct loss_search *search)
{
    for (size_t s = 0; s < search->step_count; s++) {
        engine_replay_finish(search->engines[s]);
        replay_finish(search->replays[s]);
    }
}

/* ---- what each thing made right leaves ---- */

/* What a transfer of its size should take: as long as the model's, and what it takes longer for its size. */
static double sized(const struct loss_search *search, const struct recorded_operation *operation, double expected)
{
    const struct loss_model *model = search->model;
    double more = model->alone(model->user, search->recorded, operation, true) -
                  model->alone(model->user, search->recorded, operation, false);
    return isnan(more) ? expected : fmax(expected + more, 0);
}

/* Of messages and collectives: the model's, the median of those alike otherwise. */
static void expect_transfers(struct loss_search *search, const struct loss_model *model)
{
    const struct recorded *recorded = search->recorded;
    struct like *likes = arena_array_unset(search->arena, recorded->count + 1, sizeof *likes);
    size_t count = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        search->transfer[i] = search->sized[i] = search->shared[i] = search->factors.own[i];
        if (!recorded_communicates(operation))
            continue;
        double expected = model ? model->seconds(model->user, recorded, operation) : NAN;
        if (!isnan(expected)) {
            search->transfer[i] = expected;
            search->sized[i] = sized(search, operation, expected);
            search->shared[i] = isnan(model->shared[i]) ? search->sized[i] : model->shared[i];
        } else if (!model && operation->step != RECORDED_NONE) {
            likes[count++] = (struct like){operation->name, 0, search->factors.own[i], (uint32_t)i, 0};
        }
    }
    like_medians(likes, count);
    for (size_t i = 0; i < count; i++)
        search->transfer[likes[i].operation] = search->sized[likes[i].operation] = search->shared[likes[i].operation] =
            likes[i].value;
}

/* The next value of a computation. */
static double computation(const struct loss_search *search, enum loss_kind kind, size_t i, double now)
{
    const struct factors *f = &search->factors;
    if (!factors_has(f, search->recorded, i) || isnan(f->expected[i]))
        return now;
    switch (kind) {
    case LOSS_PAUSES:
        return factors_pause(f, i) ? factors_seconds(f, i) : now;
    case LOSS_RANKS:
        return now / f->rank[i];
    case LOSS_MICRO_BATCHES:
        return now / f->micro_batch[i];
    case LOSS_STAGES:
        return f->expected[i] > 0 ? now / f->stage[i] * f->even[i] / f->expected[i] : now;
    case LOSS_FORWARD:
    case LOSS_BACKWARD:
    case LOSS_OTHER_COMPUTE:
        return search->model && loss_concerns(kind, &search->recorded->operations[i]) ? now / f->kind[i] : now;
    case LOSS_REST:
        return f->even[i];
    default:
        return now;
    }
}

static double next_value(const struct loss_search *search, enum loss_kind kind, size_t i, double now)
{
    const struct recorded_operation *operation = &search->recorded->operations[i];
    bool collective = operation->kind == RECORDED_COLLECTIVE;
    if (kind == LOSS_MESSAGES || kind == LOSS_COLLECTIVES)
        return (kind == LOSS_MESSAGES ? recorded_is_message(operation) : collective) ? search->shared[i] : now;
    if (kind == LOSS_CONTENTION)
        return recorded_is_message(operation) || collective ? search->sized[i] : now;
    if (kind == LOSS_MESSAGE_SIZES)
        return recorded_is_message(operation) ? search->transfer[i] : now;
    if (kind == LOSS_COLLECTIVE_SIZES)
        return collective ? search->transfer[i] : now;
    if (kind == LOSS_EXTRA)
        return search->model && recorded_works(operation) &&
                       isnan(search->model->seconds(search->model->user, search->recorded, operation))
                   ? 0
                   : now;
    return computation(search, kind, i, now);
}

/* All operations at the mean or median of their kind over the whole job, as arXiv 2505.05713 has it. */
static double ideal_step(struct loss_search *search)
{
    const struct recorded *recorded = search->recorded;
    struct like *means = arena_array_unset(search->arena, recorded->count + 1, sizeof *means);
    struct like *medians = arena_array_unset(search->arena, recorded->count + 1, sizeof *medians);
    size_t mean_count = 0, median_count = 0;
    double *values = arena_array(search->arena, recorded->count + 1, sizeof *values);
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!recorded_works(operation) || operation->step == RECORDED_NONE)
            continue;
        struct like like = {operation->name, operation->kind, search->factors.own[i], (uint32_t)i, 0};
        if (operation->kind == RECORDED_COMPUTE)
            means[mean_count++] = like;
        else
            medians[median_count++] = like;
    }
    like_means(means, mean_count);
    like_medians(medians, median_count);
    for (size_t i = 0; i < mean_count; i++)
        values[means[i].operation] = means[i].value;
    for (size_t i = 0; i < median_count; i++)
        values[medians[i].operation] = medians[i].value;
    return loss_search_replay(search, values, false, NULL, NULL);
}

/* What transfers take, over what they take alone. */
static void find_slowness(const struct loss_search *search, struct losses *losses)
{
    const struct loss_model *model = search->model;
    double own[2] = {0, 0}, alone[2] = {0, 0}; /* messages, collectives */
    for (size_t i = 0; i < search->recorded->count; i++) {
        const struct recorded_operation *operation = &search->recorded->operations[i];
        double seconds = model->alone(model->user, search->recorded, operation, true);
        if (!(seconds > 0))
            continue;
        own[operation->kind == RECORDED_COLLECTIVE] += search->factors.own[i];
        alone[operation->kind == RECORDED_COLLECTIVE] += seconds;
    }
    losses->slowness_of_messages = alone[0] > 0 ? own[0] / alone[0] : NAN;
    losses->slowness_of_collectives = alone[1] > 0 ? own[1] / alone[1] : NAN;
}

/* The step as it was recorded, with the model's network of which each transfer has all. */
static double alone_step(struct loss_search *search, struct fault *fault)
{
    const struct loss_model *model = search->model;
    for (size_t i = 0; i < search->recorded->count; i++) {
        double alone = model->alone(model->user, search->recorded, &search->recorded->operations[i], true);
        search->next[i] = isnan(alone) ? search->factors.own[i] : alone;
    }
    double sum = 0;
    for (size_t s = 0; s < search->step_count; s++) {
        loss_search_seconds(search, s, search->next);
        sum += engine_replay_time(search->engines[s], search->seconds, NULL, fault);
    }
    return sum / (double)search->step_count;
}

/* One thing after the other; each time the engine says what the step takes then. */
static bool split(struct loss_search *search, struct losses *losses, struct fault *fault)
{
    size_t count = search->recorded->count;
    double *values = arena_array(search->arena, count + 1, sizeof *values), before = losses->measured;
    memcpy(values, search->factors.own, count * sizeof *values);
    memcpy(search->next, values, count * sizeof *values);
    for (int kind = 0; kind < LOSS_ORDER; kind++) {
        struct loss_part *part = &losses->parts[kind];
        bool same = kind != LOSS_GAPS;
        for (size_t i = 0; i < count; i++) {
            search->next[i] = next_value(search, (enum loss_kind)kind, i, values[i]);
            same &= !(search->next[i] < values[i]) && !(search->next[i] > values[i]);
        }
        double after = same ? before : replay_by_engine(search, search->next, fault);
        if (isnan(after))
            return false;
        part->seconds = fabs(before - after) > rounding * losses->measured ? before - after : 0;
        who_find(search, (enum loss_kind)kind, values, before, part, losses);
        memcpy(values, search->next, count * sizeof *values);
        if (kind == LOSS_GAPS)
            losses->busy = after;
        before = after;
    }
    losses->even = before;
    losses->last = values;
    return true;
}

bool losses_find(const struct recorded *recorded, const uint32_t *steps, size_t step_count,
                 const struct loss_model *model, struct arena *arena, struct losses *losses, struct fault *fault)
{
    replay_join(recorded, &steps, &step_count);
    *losses = (struct losses){.step_count = step_count,
                              .slow_rank = RECORDED_NONE,
                              .predicted = NAN,
                              .network_alone = NAN,
                              .network_shared = NAN};
    for (int kind = 0; kind < LOSS_KINDS; kind++)
        losses->parts[kind].who_seconds = NAN;
    struct loss_search search = {.recorded = recorded, .model = model, .step_count = step_count, .arena = arena};
    search.replays = arena_array(arena, step_count, sizeof(struct replay *));
    search.engines = arena_array(arena, step_count, sizeof(struct engine_replay *));
    search.sized = arena_array(arena, recorded->count + 1, sizeof *search.sized);
    search.shared = arena_array(arena, recorded->count + 1, sizeof *search.shared);
    search.factors.own = arena_array(arena, recorded->count + 1, sizeof *search.factors.own);
    search.next = arena_array(arena, recorded->count + 1, sizeof *search.next);
    search.transfer = arena_array(arena, recorded->count + 1, sizeof *search.transfer);
    losses->own = search.factors.own;
    bool good = create_replays(&search, steps, losses, fault);
    if (good) {
        factors_find(recorded, model, &search.factors, arena);
        expect_transfers(&search, model);
        spans_find(recorded, search.replays, step_count, arena, &losses->spans);
        losses->correlation = who_correlation(&search);
        losses->ideal = ideal_step(&search);
        losses->slowness_of_messages = losses->slowness_of_collectives = NAN;
        if (model) {
            find_slowness(&search, losses);
            losses->network_alone = alone_step(&search, fault);
            losses->network_shared = model->shared_step;
        }
        good = !(model && isnan(losses->network_alone)) && split(&search, losses, fault);
        if (model) {
            losses->predicted = model->step;
            losses->parts[LOSS_ORDER].seconds = losses->even - model->step;
        }
    }
    destroy_replays(&search);
    return good;
}
