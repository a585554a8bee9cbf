/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/sharding/improve.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Looked at of each plan: tables of the busiest rank, ranks that compute least, and tables of those. */
enum { TABLES_TRIED = 12, TARGETS_TRIED = 3, PARTNERS_TRIED = 6 };
static const double least_gain = 1e-6; /* of the time, or of the squares: smaller ones are rounding */

struct improving {
    const struct sharding_task *task;
    struct sharding_judge *judge;
    struct dlrm_placement *placement;
    double best, squares;  /* of the best plan: seconds, and the sum of the squares of its loads */
    double *loads, *tried; /* of the best plan, of the one that is looked at */
    uint32_t busiest, *targets, *numbers;
};

static bool is_over(const struct improving *s)
{
    return !s->judge->budget || s->judge->stopped();
}

/* ---- what to look at ---- */

/* What a table's part makes its ranks do: numbers that a sample reads of it. */
static double weight_of(const struct improving *s, uint32_t table)
{
    const struct dlrm_place *place = &s->placement->places[table];
    return s->task->tables[table].pooling * (double)s->task->tables[table].width / place->count;
}

static bool has(const struct dlrm_place *place, uint32_t rank)
{
    for (uint32_t i = 0; i < place->count; i++)
        if (place->ranks[i] == rank)
            return true;
    return false;
}

/* The tables of a rank by falling weight, replicated ones left out; returns how many, at most `most`. */
static uint32_t heaviest(const struct improving *s, uint32_t rank, uint32_t most, uint32_t *tables)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->task->count; i++) {
        const struct dlrm_place *place = &s->placement->places[i];
        if (place->split == DLRM_REPLICATED || !has(place, rank))
            continue;
        uint32_t at = count < most ? count++ : most;
        while (at > 0 && weight_of(s, tables[at - 1]) < weight_of(s, i)) {
            if (at < most)
                tables[at] = tables[at - 1];
            at--;
        }
        if (at < most)
            tables[at] = i;
    }
    return count;
}

static void order_ranks(struct improving *s)
{
    s->busiest = 0;
    for (uint32_t rank = 0; rank < s->task->ranks; rank++) {
        uint32_t at = rank;
        while (at > 0 && s->loads[s->targets[at - 1]] > s->loads[rank]) {
            s->targets[at] = s->targets[at - 1];
            at--;
        }
        s->targets[at] = rank;
        s->busiest = s->loads[rank] > s->loads[s->busiest] ? rank : s->busiest;
    }
}

/* ---- changes ---- */

static bool judge_plan(struct improving *s)
{
    s->judge->budget--;
    double seconds = s->judge->seconds(s->judge->user, s->placement, s->tried), squares = 0;
    for (uint32_t rank = 0; rank < s->task->ranks && !isinf(seconds); rank++)
        squares += s->tried[rank] * s->tried[rank];
    bool faster = seconds < s->best * (1 - least_gain);
    if (isinf(seconds) || (!faster && (seconds > s->best || squares >= s->squares * (1 - least_gain))))
        return false;
    s->best = seconds;
    s->squares = squares;
    memcpy(s->loads, s->tried, s->task->ranks * sizeof *s->loads);
    return true;
}

/* A table's place, kept to be put back. */
struct kept {
    uint32_t table, count, *ranks;
    enum dlrm_split split;
};

static struct kept keep_place(const struct improving *s, uint32_t table)
{
    const struct dlrm_place *place = &s->placement->places[table];
    struct kept kept = {table, place->count, array_zeroed(place->count, sizeof(uint32_t)), place->split};
    memcpy(kept.ranks, place->ranks, place->count * sizeof *kept.ranks);
    return kept;
}

/* Puts the place back where the change is not wanted. */
static bool settle(struct improving *s, struct kept *kept, bool wanted)
{
    if (!wanted)
        dlrm_placement_set(s->placement, kept->table, kept->split, kept->ranks, kept->count);
    free(kept->ranks);
    return wanted;
}

static bool try_place(struct improving *s, uint32_t table, enum dlrm_split split, const uint32_t *ranks, uint32_t count)
{
    if (is_over(s))
        return false;
    struct kept kept = keep_place(s, table);
    dlrm_placement_set(s->placement, table, split, ranks, count);
    return settle(s, &kept, sharding_fits(s->task, s->placement) && judge_plan(s));
}

/* The part of the busiest rank goes to another. */
static bool try_move(struct improving *s, uint32_t table, uint32_t target)
{
    const struct dlrm_place *place = &s->placement->places[table];
    if (has(place, target))
        return false;
    for (uint32_t i = 0; i < place->count; i++)
        s->numbers[i] = place->ranks[i] == s->busiest ? target : place->ranks[i];
    return try_place(s, table, place->split, s->numbers, place->count);
}

/* Two whole tables change their ranks. */
static bool try_swap(struct improving *s, uint32_t table, uint32_t other, uint32_t target)
{
    if (is_over(s))
        return false;
    struct kept first = keep_place(s, table), second = keep_place(s, other);
    dlrm_placement_set(s->placement, table, DLRM_WHOLE, &target, 1);
    dlrm_placement_set(s->placement, other, DLRM_WHOLE, &s->busiest, 1);
    bool wanted = sharding_fits(s->task, s->placement) && judge_plan(s);
    settle(s, &first, wanted);
    return settle(s, &second, wanted);
}

/* The table gets another part, on the target. */
static bool try_cut(struct improving *s, uint32_t table, uint32_t target, enum dlrm_split split)
{
    const struct dlrm_place *place = &s->placement->places[table];
    const struct dlrm_table *description = &s->task->tables[table];
    double parts = place->count + 1.0;
    if (has(place, target) || (place->split != DLRM_WHOLE && place->split != split) ||
        (split == DLRM_COLUMNS ? (double)description->width : description->rows) < parts)
        return false;
    memcpy(s->numbers, place->ranks, place->count * sizeof *s->numbers);
    s->numbers[place->count] = target;
    return try_place(s, table, split, s->numbers, place->count + 1);
}

static bool try_all_ranks(struct improving *s, uint32_t table)
{
    const struct dlrm_place *place = &s->placement->places[table];
    for (uint32_t rank = 0; rank < s->task->ranks; rank++)
        s->numbers[rank] = rank;
    bool cut = place->split == DLRM_ROWS && place->count == s->task->ranks;
    return try_place(s, table, DLRM_REPLICATED, s->numbers, s->task->ranks) ||
           (!cut && try_place(s, table, DLRM_ROWS, s->numbers, s->task->ranks));
}

static bool try_with(struct improving *s, uint32_t table, uint32_t target)
{
    uint32_t partners[PARTNERS_TRIED];
    if (target == s->busiest)
        return false;
    if (try_move(s, table, target))
        return true;
    bool whole = s->placement->places[table].split == DLRM_WHOLE;
    uint32_t count = whole ? heaviest(s, target, PARTNERS_TRIED, partners) : 0;
    for (uint32_t i = 0; i < count; i++)
        if (s->placement->places[partners[i]].split == DLRM_WHOLE && weight_of(s, partners[i]) < weight_of(s, table) &&
            try_swap(s, table, partners[i], target))
            return true;
    return try_cut(s, table, target, DLRM_ROWS) || try_cut(s, table, target, DLRM_COLUMNS);
}

static bool improve_once(struct improving *s)
{
    uint32_t tables[TABLES_TRIED];
    order_ranks(s);
    uint32_t count = heaviest(s, s->busiest, TABLES_TRIED, tables);
    for (uint32_t i = 0; i < count && !is_over(s); i++) {
        for (uint32_t k = 0; k < TARGETS_TRIED && k < s->task->ranks; k++)
            if (try_with(s, tables[i], s->targets[k]))
                return true;
        if (try_all_ranks(s, tables[i]))
            return true;
    }
    return false;
}

double sharding_improve(const struct sharding_task *task, struct sharding_judge *judge,
                        struct dlrm_placement *placement, double *loads)
{
    struct improving s = {.task = task,
                          .judge = judge,
                          .placement = placement,
                          .best = INFINITY,
                          .squares = INFINITY,
                          .tried = array_zeroed(task->ranks, sizeof(double)),
                          .targets = array_zeroed(task->ranks, sizeof(uint32_t)),
                          .numbers = array_zeroed((size_t)task->ranks + 1, sizeof(uint32_t))};
    s.loads = loads;
    if (!is_over(&s) && judge_plan(&s))
        while (!is_over(&s) && improve_once(&s)) {}
    free(s.tried);
    free(s.targets);
    free(s.numbers);
    return s.best;
}
