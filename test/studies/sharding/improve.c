/* SPDX-License-Identifier: Apache-2.0 */
/* Local search with judges whose best plans are known. */
#include "studies/sharding/improve.h"

#include "test/studies/sharding/tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

struct judged {
    const struct sharding_task *task;
    double piece; /* what each part of a table costs beside its lookups */
    uint32_t asked;
};

/* The most lookups of a rank; a part in rows has its share, and costs a piece beside. Columns and copies are dear. */
static double seconds(void *user, const struct dlrm_placement *placement, double *loads)
{
    struct judged *judged = user;
    double most = 0;
    judged->asked++;
    for (uint32_t rank = 0; rank < judged->task->ranks; rank++) {
        loads[rank] = 0;
        for (uint32_t i = 0; i < judged->task->count; i++) {
            const struct dlrm_place *place = &placement->places[i];
            for (uint32_t k = 0; k < place->count; k++)
                if (place->ranks[k] == rank)
                    loads[rank] += judged->task->tables[i].pooling / (place->split == DLRM_ROWS ? place->count : 1) +
                                   (place->split == DLRM_REPLICATED || place->split == DLRM_COLUMNS ? 1000
                                    : place->split == DLRM_ROWS                                     ? judged->piece
                                                                                                    : 0);
        }
        most = fmax(most, loads[rank]);
    }
    return most;
}

static bool never(void)
{
    return false;
}

static double improve(struct dcnv2 *dcnv2, double piece, uint32_t budget, struct dlrm_placement *placement,
                      uint32_t *asked)
{
    struct judged judged = {&dcnv2->task, piece, 0};
    struct sharding_judge judge = {seconds, never, &judged, budget};
    double loads[8], again[8];
    double found = sharding_improve(&dcnv2->task, &judge, placement, loads);
    *asked = judged.asked;
    cr_assert_eq(judge.budget, budget - judged.asked);
    /* What it says is what the plan that it leaves takes. */
    cr_assert_float_eq(seconds(&judged, placement, again), found, 1e-12);
    for (uint32_t rank = 0; rank < dcnv2->task.ranks; rank++)
        cr_assert_float_eq(loads[rank], again[rank], 1e-12);
    return found;
}

static double best_of_whole(const struct sharding_task *task)
{
    double best = INFINITY;
    for (uint32_t code = 0; code < 1u << task->count; code++) {
        double sums[2] = {0, 0};
        for (uint32_t i = 0; i < task->count; i++)
            sums[code >> i & 1] += task->tables[i].pooling;
        best = fmin(best, fmax(sums[0], sums[1]));
    }
    return best;
}

/* Whole tables on two ranks, where cutting is dear: moves and swaps come within 2 % of the best of all 2^n. */
Test(improve, whole_tables)
{
    srand(7);
    for (int trial = 0; trial < 200; trial++) {
        struct dcnv2 dcnv2;
        uint32_t asked;
        dcnv2_fill(&dcnv2, 2, 0);
        dcnv2.task.count = 12;
        for (uint32_t i = 0; i < 12; i++)
            dcnv2.tables[i].pooling = 20 + rand() % 100;
        struct dlrm_placement placement;
        dlrm_placement_init(&placement, 12, 2);
        double found = improve(&dcnv2, 1e6, 2000, &placement, &asked), best = best_of_whole(&dcnv2.task);
        cr_assert(found >= best && found <= 1.02 * best, "trial %d: %g, best %g", trial, found, best);
        dlrm_placement_finish(&placement);
    }
}

/* One table has nearly all lookups: 100 of 107 on four ranks. Cut by rows over all, which costs 1 a part, it leaves 26
 * to each, and 7 for one of them to share out: no plan is below 107/4 + 1. */
Test(improve, cuts_the_large_table)
{
    struct dcnv2 dcnv2;
    uint32_t asked;
    dcnv2_fill(&dcnv2, 4, 0);
    dcnv2.task.count = 8;
    for (uint32_t i = 0; i < 8; i++)
        dcnv2.tables[i].pooling = i == 3 ? 100 : 1;
    dcnv2.tables[3].rows = 1e6;
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, 8, 4);
    double found = improve(&dcnv2, 1, 2000, &placement, &asked);
    cr_assert(found >= 107 / 4.0 + 1 && found <= 28, "%g", found);
    cr_assert_eq(placement.places[3].count, 4);
    dlrm_placement_finish(&placement);
}

/* Four ranks have two tables of 10 lookups each, four have none: all four are the busiest, and what is faster needs a
 * change of each. Parts cost nothing. */
static double plateau(void *user, const struct dlrm_placement *placement, double *loads)
{
    struct judged *judged = user;
    double most = 0;
    judged->asked++;
    for (uint32_t rank = 0; rank < judged->task->ranks; rank++) {
        loads[rank] = 0;
        for (uint32_t i = 0; i < judged->task->count; i++)
            for (uint32_t k = 0; k < placement->places[i].count; k++)
                if (placement->places[i].ranks[k] == rank)
                    loads[rank] += placement->places[i].split == DLRM_REPLICATED
                                       ? 1000
                                       : judged->task->tables[i].pooling / placement->places[i].count;
        most = fmax(most, loads[rank]);
    }
    return most;
}

Test(improve, crosses_a_plateau)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 8, 0);
    dcnv2.task.count = 8;
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, 8, 8);
    for (uint32_t i = 0; i < 8; i++) {
        dcnv2.tables[i].pooling = 10;
        dcnv2.tables[i].rows = 1e6;
        dlrm_placement_set(&placement, i, DLRM_WHOLE, &(uint32_t){i / 2}, 1);
    }
    struct judged judged = {&dcnv2.task, 0, 0};
    struct sharding_judge judge = {plateau, never, &judged, 2000};
    double loads[8];
    cr_assert_float_eq(sharding_improve(&dcnv2.task, &judge, &placement, loads), 10, 1e-9);
    dlrm_placement_finish(&placement);
}

Test(improve, keeps_the_budget_and_the_room)
{
    struct dcnv2 dcnv2;
    uint32_t asked;
    dcnv2_fill(&dcnv2, 4, 0);
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, DCNV2_TABLES, 4);
    double first = improve(&dcnv2, 1, 1, &placement, &asked);
    cr_assert_eq(asked, 1);
    cr_assert_leq(improve(&dcnv2, 1, 10, &placement, &asked), first);
    cr_assert_leq(asked, 10);
    dlrm_placement_finish(&placement);
    dlrm_placement_init(&placement, DCNV2_TABLES, 4);
    for (uint32_t rank = 0; rank < 4; rank++)
        dcnv2.task.room = fmax(dcnv2.task.room, sharding_bytes(&dcnv2.task, &placement, rank));
    improve(&dcnv2, 1, 500, &placement, &asked);
    cr_assert(sharding_fits(&dcnv2.task, &placement));
    dlrm_placement_finish(&placement);
}
