/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/factors.h"

#include "base/arena.h"
#include "base/numbers/median.h"
#include "studies/explain/like.h"
#include "studies/orders/replicas.h"

#include <math.h>
#include <stdlib.h>

enum by { BY_STAGE, BY_PIECE_OF_STAGE, BY_PIECE, BY_KIND, BY_RANK, BY_RANK_AND_STAGE, BY_MICRO_BATCH };

struct finder {
    const struct recorded *recorded;
    struct factors *factors;
    const uint32_t *replicas;
    struct like *likes;
};

static void set_keys(const struct finder *finder, enum by by, const struct recorded_operation *operation,
                     struct like *like)
{
    uint32_t rank = recorded_rank_of(finder->recorded, operation), name = operation->name;
    uint32_t stage = operation->stage | (uint32_t)operation->chunk << 16;
    uint32_t piece = (uint32_t)operation->piece << 16 | operation->pieces;
    switch (by) {
    case BY_PIECE_OF_STAGE:
    case BY_STAGE:
        like->first = (uint64_t)name << 32 | stage;
        like->second = by == BY_STAGE ? 0 : piece;
        break;
    case BY_PIECE:
        like->first = name;
        like->second = piece;
        break;
    case BY_RANK:
    case BY_RANK_AND_STAGE:
        like->first = (uint64_t)name << 32 | rank;
        like->second = by == BY_RANK ? 0 : stage;
        break;
    case BY_MICRO_BATCH:
        like->first = (uint64_t)finder->replicas[rank] << 32 | operation->micro_batch;
        like->second = operation->step;
        break;
    default:
        like->first = name;
        break;
    }
}

/* Medians of values[operation] over alike computations go to result[operation]; 1, or NaN, stays where none is. Returns
 * how many likes the finder has now, by what they are alike in. */
static size_t medians(const struct finder *finder, enum by by, const double *values, double *result)
{
    size_t count = 0;
    for (size_t i = 0; i < finder->recorded->count; i++) {
        const struct recorded_operation *operation = &finder->recorded->operations[i];
        if (!factors_has(finder->factors, finder->recorded, i) || isnan(values[i]) ||
            (by == BY_MICRO_BATCH && operation->micro_batch == RECORDED_NONE))
            continue;
        struct like *like = &finder->likes[count++];
        *like = (struct like){.value = values[i], .operation = (uint32_t)i};
        set_keys(finder, by, operation, like);
    }
    like_medians(finder->likes, count);
    for (size_t i = 0; i < count; i++)
        if (by != BY_MICRO_BATCH || finder->likes[i].count > 1) /* one alone may be slow for any reason */
            result[finder->likes[i].operation] = finder->likes[i].value;
    return count;
}

static void expect(struct finder *finder, const struct loss_model *model)
{
    struct factors *factors = finder->factors;
    for (size_t i = 0; model && i < finder->recorded->count; i++)
        factors->expected[i] = model->seconds(model->user, finder->recorded, &finder->recorded->operations[i]);
    if (!model)
        medians(finder, BY_PIECE_OF_STAGE, factors->own, factors->expected);
}

/* The mean over stages of what is expected of a kind. */
static void even_out(struct finder *finder, const struct loss_model *model)
{
    struct factors *factors = finder->factors;
    size_t count = 0;
    for (size_t i = 0; i < finder->recorded->count; i++) {
        factors->even[i] = factors->expected[i];
        if (model || !factors_has(factors, finder->recorded, i))
            continue;
        finder->likes[count] = (struct like){.value = factors->expected[i], .operation = (uint32_t)i};
        set_keys(finder, BY_PIECE, &finder->recorded->operations[i], &finder->likes[count++]);
    }
    like_means(finder->likes, count);
    for (size_t i = 0; i < count; i++)
        factors->even[finder->likes[i].operation] = finder->likes[i].value;
}

/* ---- micro-batches ---- */

/* The factors of a replica's micro-batches. */
struct level {
    double sum, squares, mean, error; /* error: standard, of the mean */
    double count;
};

static bool is_far(const struct level *level, double from)
{
    static const double errors = 6, rounding = 1e-9;
    return fabs(level->mean - from) > errors * level->error + rounding;
}

/* What the micro-batches of a job take on average: the mean of replicas, without those that are far from the median of
 * all. */
static double common_level(const struct level *levels, uint32_t count)
{
    double *means = array_zeroed(count, sizeof *means), sum = 0, near = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (levels[i].count > 0)
            means[kept++] = levels[i].mean;
    double middle = kept ? median(means, kept) : 1;
    free(means);
    for (uint32_t i = 0; i < count; i++)
        if (levels[i].count > 0 && !is_far(&levels[i], middle)) {
            sum += levels[i].mean;
            near++;
        }
    return near > 0 ? sum / near : middle;
}

/* [replica], of the finder's likes: those of micro-batches. */
static struct level *find_levels(const struct finder *finder, size_t count, struct arena *arena)
{
    uint32_t ranks = (uint32_t)finder->recorded->rank_count;
    struct level *levels = arena_array(arena, ranks + 1u, sizeof *levels);
    for (size_t i = 0; i < count; i += finder->likes[i].count) {
        const struct like *like = &finder->likes[i];
        struct level *level = &levels[like->first >> 32];
        level->sum += like->value;
        level->squares += like->value * like->value;
        level->count++;
    }
    for (uint32_t i = 0; i < ranks; i++) {
        struct level *level = &levels[i];
        level->mean = level->sum / level->count;
        level->error = sqrt(fmax(level->squares / level->count - level->mean * level->mean, 0) / level->count);
    }
    return levels;
}

/* Micro-batches are uneven against the mean of what a replica of the job has; where a replica is slower than others by
 * more than its micro-batches vary, that is of its ranks. Without a model against the median, as everything is then. */
static void level_out(const struct finder *finder, size_t count, bool model, struct arena *arena)
{
    const struct recorded *recorded = finder->recorded;
    struct level *levels = find_levels(finder, count, arena);
    double common = common_level(levels, (uint32_t)recorded->rank_count), zero = model ? common : 1;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!factors_has(finder->factors, recorded, i) || operation->micro_batch == RECORDED_NONE)
            continue;
        const struct level *level = &levels[finder->replicas[recorded_rank_of(recorded, operation)]];
        bool apart = level->count > 0 && is_far(level, common);
        finder->factors->micro_batch[i] /= apart ? level->mean * zero / common : zero;
    }
}

static double *ones(size_t count, struct arena *arena)
{
    double *values = arena_array_unset(arena, count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = 1;
    return values;
}

static double *ratio(const struct recorded *recorded, const double *values, const double *by, struct arena *arena)
{
    double *result = arena_array_unset(arena, recorded->count + 1, sizeof *result);
    for (size_t i = 0; i < recorded->count; i++)
        result[i] = by[i] > 0 ? values[i] / by[i] : NAN;
    return result;
}

/* ---- ranks ---- */

/* Factors of ranks that are not further from 1 than the noise of their computations lets expect are 1: `count` likes
 * of the finder, by rank and name, whose values are `left`. The standard error of a median is 1.2533 times that of a
 * mean, and the median deviation is 0.6745 standard deviations of a normal distribution. */
static void settle_ranks(const struct finder *finder, size_t count, const double *left)
{
    static const double errors = 4, rounding = 1e-9;
    double *deviations = array_zeroed(count, sizeof *deviations);
    for (size_t i = 0; i < count; i += finder->likes[i].count) {
        const struct like *like = &finder->likes[i];
        for (uint32_t k = 0; k < like->count; k++)
            deviations[k] = fabs(left[like[k].operation] - like->value);
        double error = 1.2533 / 0.6745 * median(deviations, like->count) / sqrt(like->count);
        if (fabs(like->value - 1) > errors * error + rounding)
            continue;
        for (uint32_t k = 0; k < like->count; k++)
            finder->factors->rank[like[k].operation] = 1;
    }
    free(deviations);
}

/* From what computations take over what is expected, `all`, less `known` of it: factors of micro-batches first, then
 * those of kinds, stages and ranks of what these leave. */
static void estimate(struct finder *finder, bool model, const double *all, const double *known, struct arena *arena)
{
    const struct recorded *recorded = finder->recorded;
    struct factors *factors = finder->factors;
    factors->micro_batch = ones(recorded->count, arena);
    double *left = ratio(recorded, all, known, arena);
    level_out(finder, medians(finder, BY_MICRO_BATCH, left, factors->micro_batch), model, arena);
    left = ratio(recorded, all, factors->micro_batch, arena);
    size_t found = medians(finder, BY_RANK, left, factors->rank);
    if (model) {
        medians(finder, BY_KIND, factors->rank, factors->kind);
        left = ratio(recorded, left, factors->kind, arena);
        double *of_ranks = ones(recorded->count, arena); /* among all values those of one slow rank may be half */
        medians(finder, BY_RANK_AND_STAGE, left, of_ranks);
        medians(finder, BY_STAGE, of_ranks, factors->stage);
        left = ratio(recorded, left, factors->stage, arena);
        found = medians(finder, BY_RANK, left, factors->rank);
    }
    settle_ranks(finder, found, left);
}

void factors_find(const struct recorded *recorded, const struct loss_model *model, struct factors *factors,
                  struct arena *arena)
{
    size_t count = recorded->count;
    struct finder finder = {recorded, factors, orders_replicas(recorded, arena), NULL};
    finder.likes = arena_array_unset(arena, count + 1, sizeof *finder.likes);
    factors->expected = ones(count, arena);
    factors->kind = ones(count, arena);
    factors->stage = ones(count, arena);
    factors->rank = ones(count, arena);
    factors->even = ones(count, arena);
    for (size_t i = 0; i < count; i++)
        factors->expected[i] = NAN;
    expect(&finder, model);
    even_out(&finder, model);
    double *all = ratio(recorded, factors->own, factors->expected, arena), *known = ones(count, arena);
    estimate(&finder, model != NULL, all, known, arena);
    for (size_t i = 0; i < count; i++) /* once more: a slow rank is in the medians of its micro-batches */
        known[i] = factors->kind[i] * factors->stage[i] * factors->rank[i];
    estimate(&finder, model != NULL, all, known, arena);
}

bool factors_pause(const struct factors *factors, size_t operation)
{
    static const double far = 1.5;
    return factors->own[operation] > far * factors_seconds(factors, operation);
}

double factors_seconds(const struct factors *factors, size_t operation)
{
    return factors->expected[operation] * factors->kind[operation] * factors->stage[operation] *
           factors->rank[operation] * factors->micro_batch[operation];
}
