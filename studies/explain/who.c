/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/who.h"

#include "base/arena.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts below this share of a step have nobody to name. */
static const double worth = 2e-3;

/* ---- one rank, stage, or pair of ranks ---- */

struct chosen {
    const struct recorded *recorded;
    uint32_t rank, peer;   /* index; number; RECORDED_NONE: any */
    uint32_t stage, group; /* RECORDED_NONE: any */
};

static bool is_chosen(const void *user, const struct recorded_operation *operation)
{
    const struct chosen *chosen = user;
    if (chosen->group != RECORDED_NONE && operation->group != chosen->group)
        return false;
    if (chosen->stage != RECORDED_NONE && operation->stage != chosen->stage)
        return false;
    if (chosen->rank != RECORDED_NONE && recorded_rank_of(chosen->recorded, operation) != chosen->rank)
        return false;
    return chosen->peer == RECORDED_NONE || operation->peer == chosen->peer;
}

/* "rank 4 (stage 1, data rank 0)". */
static const char *rank_text(const struct loss_search *search, uint32_t rank)
{
    const struct recorded_rank *it = &search->recorded->ranks[rank];
    char stage[32] = "", data[32] = "";
    if (it->stage != RECORDED_NONE)
        snprintf(stage, sizeof stage, "stage %u", it->stage);
    if (it->data != RECORDED_NONE)
        snprintf(data, sizeof data, "%sdata rank %u", *stage ? ", " : "", it->data);
    return *stage || *data ? arena_print(search->arena, "rank %u (%s%s)", it->number, stage, data)
                           : arena_print(search->arena, "rank %u", it->number);
}

/* What the chosen alone gives when it is mended. */
static double gain(struct loss_search *search, const struct chosen *chosen, const double *values, double before,
                   bool gaps)
{
    search->mend_gaps = gaps;
    double after = loss_search_replay(search, values, gaps, is_chosen, chosen);
    search->mend_gaps = false;
    return before - after;
}

/* Sum over ranks, stages or pairs of what a part takes away from their operations. */
static void add_up(const struct loss_search *search, const double *values, double *by_rank, double *by_stage)
{
    for (size_t i = 0; i < search->recorded->count; i++) {
        const struct recorded_operation *operation = &search->recorded->operations[i];
        double less = values[i] - search->next[i];
        by_rank[recorded_rank_of(search->recorded, operation)] += less;
        if (operation->stage != RECORDED_NO_STAGE)
            by_stage[operation->stage] += less;
    }
}

static void add_gaps(const struct loss_search *search, double *by_rank)
{
    for (size_t s = 0; s < search->step_count; s++)
        for (uint32_t i = 0; i < search->replays[s]->node_count; i++) {
            const struct replay_node *node = &search->replays[s]->nodes[i];
            if (node->operation != RECORDED_NONE && node->gap > 0)
                by_rank[recorded_rank_of(search->recorded, &search->recorded->operations[node->operation])] +=
                    node->gap;
        }
}

static uint32_t largest(const double *values, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        best = values[i] > values[best] ? i : best;
    return best;
}

/* ---- words ---- */

static void name_rank(struct loss_search *search, enum loss_kind kind, const double *values, double before,
                      const double *by_rank, struct loss_part *part, struct losses *losses)
{
    struct chosen chosen = {search->recorded, largest(by_rank, (uint32_t)search->recorded->rank_count), RECORDED_NONE,
                            RECORDED_NONE, RECORDED_NONE};
    part->who = rank_text(search, chosen.rank);
    part->who_seconds = gain(search, &chosen, values, before, kind == LOSS_GAPS);
    if (kind != LOSS_RANKS)
        return;
    losses->slow_rank = chosen.rank;
    for (size_t i = 0; i < search->recorded->count; i++)
        if (factors_has(&search->factors, search->recorded, i) &&
            recorded_rank_of(search->recorded, &search->recorded->operations[i]) == chosen.rank)
            losses->slowness = fmax(losses->slowness, search->factors.rank[i]);
    part->who = arena_print(search->arena, "%s: computations take up to %.3g times those of its like", part->who,
                            losses->slowness);
}

/* Of a stage with one rank in the trace nobody can tell whether its GPU or its layers are slow. */
static const char *one_rank(const struct loss_search *search, uint32_t stage)
{
    uint32_t rank = RECORDED_NONE;
    for (size_t i = 0; i < search->recorded->count; i++) {
        const struct recorded_operation *operation = &search->recorded->operations[i];
        if (!factors_has(&search->factors, search->recorded, i) || operation->stage != stage)
            continue;
        uint32_t own = recorded_rank_of(search->recorded, operation);
        if (rank != RECORDED_NONE && own != rank)
            return "";
        rank = own;
    }
    return rank == RECORDED_NONE ? ""
                                 : arena_print(search->arena, ", or rank %u, its only one in the trace",
                                               search->recorded->ranks[rank].number);
}

static void name_stage(struct loss_search *search, const double *values, double before, const double *by_stage,
                       struct loss_part *part)
{
    struct chosen chosen = {search->recorded, RECORDED_NONE, RECORDED_NONE, largest(by_stage, RECORDED_NO_STAGE),
                            RECORDED_NONE};
    part->who_seconds = gain(search, &chosen, values, before, false);
    double most = 0;
    const char *name = "";
    for (size_t i = 0; i < search->recorded->count; i++) {
        const struct recorded_operation *operation = &search->recorded->operations[i];
        const struct factors *factors = &search->factors;
        if (!factors_has(factors, search->recorded, i) || operation->stage != chosen.stage)
            continue;
        double factor = factors->stage[i] * factors->expected[i] / factors->even[i];
        if (factor > most) {
            most = factor;
            name = recorded_name_of(search->recorded, operation);
        }
    }
    part->who = arena_print(search->arena, "stage %u%s: %s takes %.3g times %s", chosen.stage,
                            search->model ? one_rank(search, chosen.stage) : "", name, most,
                            search->model ? "what the scenario says" : "the mean of stages");
}

static void name_pauses(struct loss_search *search, struct loss_part *part)
{
    uint32_t count = 0;
    double most = 0, sum = 0;
    for (size_t i = 0; i < search->recorded->count; i++)
        if (factors_has(&search->factors, search->recorded, i) && factors_pause(&search->factors, i)) {
            double more = search->factors.own[i] - search->next[i];
            count++;
            sum += more;
            most = fmax(most, more);
        }
    char mean[READABLE_MAX], longest[READABLE_MAX];
    if (count)
        part->who =
            arena_print(search->arena, "%u computation%s, %s longer on average, %s at most", count,
                        readable_plural(count), readable_seconds(mean, sum / count), readable_seconds(longest, most));
}

static void name_micro_batches(struct loss_search *search, const struct losses *losses, struct loss_part *part)
{
    double sum = 0, square = 0, most = 0;
    size_t count = 0;
    for (size_t i = 0; i < search->recorded->count; i++)
        if (factors_has(&search->factors, search->recorded, i) &&
            search->recorded->operations[i].micro_batch != RECORDED_NONE) {
            double factor = search->factors.micro_batch[i];
            sum += factor;
            square += factor * factor;
            most = fmax(most, factor);
            count++;
        }
    if (!count)
        return;
    double mean = sum / (double)count, spread = sqrt(fmax(square / (double)count - mean * mean, 0)) / mean;
    const char *alike =
        losses->correlation >= 0.9 ? "; forwards and backwards vary together, as with uneven sequences" : "";
    part->who = arena_print(search->arena, "micro-batches differ by %.1f %%, the longest takes %.3g times the median%s",
                            100 * spread, most, alike);
}

/* The group whose collectives lose most, or the stage where the trace does not say groups. */
static void name_group(struct loss_search *search, const double *values, double before, struct loss_part *part)
{
    const struct recorded *recorded = search->recorded;
    size_t worst = 0;
    for (size_t i = 0; i < recorded->count; i++)
        worst = values[i] - search->next[i] > values[worst] - search->next[worst] ? i : worst;
    const struct recorded_operation *operation = &recorded->operations[worst];
    struct chosen chosen = {recorded, RECORDED_NONE, RECORDED_NONE, RECORDED_NONE, operation->group};
    if (operation->group == RECORDED_NONE && operation->stage != RECORDED_NO_STAGE)
        chosen.stage = operation->stage;
    part->who_seconds = gain(search, &chosen, values, before, false);
    part->who = arena_print(search->arena, "%s of the group of %s", recorded_name_of(recorded, operation),
                            rank_text(search, recorded_rank_of(recorded, operation)));
}

struct sums {
    double expected, forwards, kind; /* seconds: of the concerned and of forwards; and what the concerned take */
};

static struct sums sums_of(const struct loss_search *search, enum loss_kind kind)
{
    struct sums sums = {0};
    for (size_t i = 0; i < search->recorded->count; i++) {
        const struct recorded_operation *operation = &search->recorded->operations[i];
        const struct factors *factors = &search->factors;
        if (!factors_has(factors, search->recorded, i) || isnan(factors->expected[i]))
            continue;
        if (operation->work == RECORDED_FORWARD)
            sums.forwards += factors->expected[i];
        if (!loss_concerns(kind, operation))
            continue;
        sums.expected += factors->expected[i];
        sums.kind += factors->expected[i] * factors->kind[i];
    }
    return sums;
}

/* All computations of a kind. A backward that takes about a forward more computes its activations again. */
static void name_kind(struct loss_search *search, enum loss_kind kind, struct loss_part *part)
{
    static const double least = 0.85, most = 1.15;
    struct sums sums = sums_of(search, kind);
    if (!(sums.expected > 0))
        return;
    double more = sums.forwards > 0 ? (sums.kind - sums.expected) / sums.forwards : 0;
    part->who = arena_print(search->arena, "they take %.4g times what the scenario says%s", sums.kind / sums.expected,
                            kind == LOSS_BACKWARD && more > least && more < most
                                ? ", about a forward more: are activations computed again?"
                                : "");
}

/* The pair of ranks whose messages lose most. */
static void name_pair(struct loss_search *search, const double *values, double before, struct loss_part *part)
{
    const struct recorded *recorded = search->recorded;
    uint32_t ranks = (uint32_t)recorded->rank_count;
    double *by_rank = arena_array(search->arena, ranks + 1, sizeof *by_rank), best = 0;
    add_up(search, values, by_rank, arena_array(search->arena, RECORDED_NO_STAGE, sizeof *by_rank));
    struct chosen chosen = {recorded, largest(by_rank, ranks), RECORDED_NONE, RECORDED_NONE, RECORDED_NONE};
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        double less = values[i] - search->next[i];
        if (recorded_rank_of(recorded, operation) == chosen.rank && less > best) {
            best = less;
            chosen.peer = operation->peer;
        }
    }
    part->who_seconds = gain(search, &chosen, values, before, false);
    const char *own = rank_text(search, chosen.rank);
    part->who = chosen.peer == RECORDED_NONE ? own : arena_print(search->arena, "%s to rank %u", own, chosen.peer);
}

void who_find(struct loss_search *search, enum loss_kind kind, const double *values, double before,
              struct loss_part *part, struct losses *losses)
{
    if (!(part->seconds > worth * losses->measured))
        return;
    struct arena *arena = search->arena;
    double *by_rank = arena_array(arena, search->recorded->rank_count + 1, sizeof *by_rank),
           *by_stage = arena_array(arena, RECORDED_NO_STAGE, sizeof *by_stage);
    if (kind == LOSS_GAPS)
        add_gaps(search, by_rank);
    else
        add_up(search, values, by_rank, by_stage);
    if (kind == LOSS_COLLECTIVES || kind == LOSS_COLLECTIVE_SIZES)
        name_group(search, values, before, part);
    else if (kind == LOSS_GAPS || kind == LOSS_RANKS)
        name_rank(search, kind, values, before, by_rank, part, losses);
    else if (kind == LOSS_STAGES)
        name_stage(search, values, before, by_stage, part);
    else if (kind == LOSS_PAUSES)
        name_pauses(search, part);
    else if (kind == LOSS_MICRO_BATCHES)
        name_micro_batches(search, losses, part);
    else if (kind == LOSS_FORWARD || kind == LOSS_BACKWARD || kind == LOSS_OTHER_COMPUTE)
        name_kind(search, kind, part);
    else if (kind == LOSS_MESSAGES || kind == LOSS_MESSAGE_SIZES || kind == LOSS_CONTENTION)
        name_pair(search, values, before, part);
}

/* ---- forwards against backwards ---- */

struct point {
    uint32_t rank, step, micro_batch;
    double ratio[2]; /* forward, backward */
};

static int by_micro_batch(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return (a->micro_batch > b->micro_batch) - (a->micro_batch < b->micro_batch);
}

static double correlation_of(const struct point *points, size_t count)
{
    double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, n = 0;
    for (size_t i = 1; i < count; i++) {
        if (by_micro_batch(&points[i - 1], &points[i]) != 0)
            continue;
        double x = points[i - 1].ratio[0] + points[i].ratio[0], y = points[i - 1].ratio[1] + points[i].ratio[1];
        if (!(x > 0) || !(y > 0))
            continue;
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
    }
    double vx = sxx - sx * sx / n, vy = syy - sy * sy / n;
    return n > 2 && vx > 0 && vy > 0 ? (sxy - sx * sy / n) / sqrt(vx * vy) : NAN;
}

double who_correlation(const struct loss_search *search)
{
    const struct recorded *recorded = search->recorded;
    const struct factors *factors = &search->factors;
    struct point *points = arena_array(search->arena, recorded->count + 1, sizeof *points);
    size_t count = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        bool forward = operation->work == RECORDED_FORWARD, backward = operation->work == RECORDED_BACKWARD;
        if (!factors_has(factors, recorded, i) || (!forward && !backward) || isnan(factors->expected[i]))
            continue;
        double ratio = factors->own[i] / (factors->expected[i] * factors->kind[i] * factors->rank[i]);
        points[count] =
            (struct point){recorded_rank_of(recorded, operation), operation->step, operation->micro_batch, {0}};
        points[count++].ratio[backward] = ratio;
    }
    if (count)
        qsort(points, count, sizeof *points, by_micro_batch);
    return correlation_of(points, count);
}
