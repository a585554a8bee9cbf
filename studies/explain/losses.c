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
    [LOSS_EXTRA] = "not-in-model",
    [LOSS_ORDER] = "order",
};

/* Share of a step below which the difference of two replays is that of their sums' order. */
static const double rounding = 1e-11;

/* ---- replays of all steps ---- */

static bool create_replays(struct loss_search *search, const uint32_t *steps, struct losses *losses,
                           struct fault *fault)
{
    uint32_t nodes = 0;
    losses->shortest = INFINITY;
    for (size_t s = 0; s < search->step_count; s++) {
        struct replay *replay = search->replays[s] = replay_create(search->recorded, steps[s], fault);
        if (!replay)
            return false;
        nodes = replay->node_count > nodes ? replay->node_count : nodes;
        losses->unmatched += replay->unmatched;
        losses->shortest = fmin(losses->shortest, replay->measured);
        losses->longest = fmax(losses->longest, replay->measured);
        losses->measured += replay->measured / (double)search->step_count;
        for (uint32_t i = 0; i < replay->node_count; i++)
            if (replay->nodes[i].kind == REPLAY_WORK)
                search->factors.own[replay->nodes[i].operation] = replay->nodes[i].seconds;
    }
    search->seconds = arena_array(search->arena, nodes, sizeof *search->seconds);
    search->gaps = arena_array(search->arena, nodes, sizeof *search->gaps);
    return true;
}

static void destroy_replays(struct loss_search *search)
{
    for (size_t s = 0; s < search->step_count; s++)
        replay_finish(search->replays[s]);
}

/* ---- what each thing made right leaves ---- */

static bool is_transfer(const struct recorded_operation *operation)
{
    return operation->kind == RECORDED_SEND || operation->kind == RECORDED_RECEIVE;
}

/* Of messages and collectives: the model's, the median of those alike otherwise. */
static void expect_transfers(struct loss_search *search, const struct loss_model *model)
{
    const struct recorded *recorded = search->recorded;
    struct like *likes = arena_array_unset(search->arena, recorded->count + 1, sizeof *likes);
    size_t count = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        search->transfer[i] = search->factors.own[i];
        if (!is_transfer(operation) && operation->kind != RECORDED_COLLECTIVE)
            continue;
        double expected = model ? model->seconds(model->user, recorded, operation) : NAN;
        if (!isnan(expected))
            search->transfer[i] = expected;
        else if (!model && operation->step != RECORDED_NONE)
            likes[count++] = (struct like){operation->name, 0, search->factors.own[i], (uint32_t)i, 0};
    }
    like_medians(likes, count);
    for (size_t i = 0; i < count; i++)
        search->transfer[likes[i].operation] = likes[i].value;
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
    if (kind == LOSS_MESSAGES)
        return is_transfer(operation) ? search->transfer[i] : now;
    if (kind == LOSS_COLLECTIVES)
        return operation->kind == RECORDED_COLLECTIVE ? search->transfer[i] : now;
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

/* One thing after the other. */
static void split(struct loss_search *search, struct losses *losses)
{
    size_t count = search->recorded->count;
    double *values = arena_array(search->arena, count + 1, sizeof *values), before = losses->measured;
    memcpy(values, search->factors.own, count * sizeof *values);
    memcpy(search->next, values, count * sizeof *values);
    for (int kind = 0; kind < LOSS_ORDER; kind++) {
        struct loss_part *part = &losses->parts[kind];
        for (size_t i = 0; i < count; i++)
            search->next[i] = next_value(search, (enum loss_kind)kind, i, values[i]);
        double after = loss_search_replay(search, search->next, false, NULL, NULL);
        part->seconds = fabs(before - after) > rounding * losses->measured ? before - after : 0;
        who_find(search, (enum loss_kind)kind, values, before, part, losses);
        memcpy(values, search->next, count * sizeof *values);
        if (kind == LOSS_GAPS)
            losses->busy = after;
        before = after;
    }
    losses->even = before;
    losses->last = values;
}

bool losses_find(const struct recorded *recorded, const uint32_t *steps, size_t step_count,
                 const struct loss_model *model, struct arena *arena, struct losses *losses, struct fault *fault)
{
    *losses = (struct losses){.step_count = step_count, .slow_rank = RECORDED_NONE, .predicted = NAN};
    for (int kind = 0; kind < LOSS_KINDS; kind++)
        losses->parts[kind].who_seconds = NAN;
    struct loss_search search = {.recorded = recorded, .model = model, .step_count = step_count, .arena = arena};
    search.replays = arena_array(arena, step_count, sizeof(struct replay *));
    search.factors.own = arena_array(arena, recorded->count + 1, sizeof *search.factors.own);
    search.next = arena_array(arena, recorded->count + 1, sizeof *search.next);
    search.transfer = arena_array(arena, recorded->count + 1, sizeof *search.transfer);
    bool good = create_replays(&search, steps, losses, fault);
    if (good) {
        factors_find(recorded, model, &search.factors, arena);
        expect_transfers(&search, model);
        spans_find(recorded, search.replays, step_count, arena, &losses->spans);
        losses->correlation = who_correlation(&search);
        losses->ideal = ideal_step(&search);
        split(&search, losses);
        if (model) {
            losses->predicted = model->step;
            losses->parts[LOSS_ORDER].seconds = losses->even - model->step;
        }
    }
    destroy_replays(&search);
    return good;
}
