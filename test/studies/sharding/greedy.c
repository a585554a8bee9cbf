/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of whole tables: against the rule worked out again, the bound of greedy plans, and the room. */
#include "studies/sharding/greedy.h"

#include "test/studies/sharding/tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double load_of_rank(const struct sharding_task *task, const struct dlrm_placement *placement,
                           enum sharding_load load, uint32_t rank)
{
    double sum = 0;
    for (uint32_t i = 0; i < task->count; i++)
        sum += placement->places[i].ranks[0] == rank ? sharding_load_of(task, load, i) : 0;
    return sum;
}

Test(greedy, loads)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 8, 0);
    cr_assert_float_eq(sharding_load_of(&dcnv2.task, SHARDING_SIZE, 5), 3 * 128, 1e-9);
    cr_assert_float_eq(sharding_load_of(&dcnv2.task, SHARDING_LOOKUP, 20), 100 * 128, 1e-9);
    cr_assert_float_eq(sharding_load_of(&dcnv2.task, SHARDING_NORM_LOOKUP, 5), 3 * 128 / 65536.0, 1e-12);
    cr_assert_float_eq(sharding_load_of(&dcnv2.task, SHARDING_SIZE_LOOKUP, 0), 3 * 128 * log10(128 * 40e6), 1e-9);
}

/* No rank has more than the mean and (1 - 1/n) of the largest table: the last table that it was given came when it had
 * at most the mean of all others (Graham 1966). Every table is on one rank. */
Test(greedy, is_near_the_bound)
{
    for (uint32_t ranks = 2; ranks <= 16; ranks++)
        for (int load = SHARDING_SIZE; load <= SHARDING_SIZE_LOOKUP; load++) {
            struct dcnv2 dcnv2;
            dcnv2_fill(&dcnv2, ranks, 0);
            struct dlrm_placement placement;
            dlrm_placement_init(&placement, DCNV2_TABLES, ranks);
            cr_assert(sharding_place_greedily(&dcnv2.task, (enum sharding_load)load, &placement));
            double most = 0, sum = 0, largest = 0;
            for (uint32_t rank = 0; rank < ranks; rank++) {
                double own = load_of_rank(&dcnv2.task, &placement, (enum sharding_load)load, rank);
                most = fmax(most, own);
                sum += own;
            }
            for (uint32_t i = 0; i < DCNV2_TABLES; i++) {
                cr_assert_eq(placement.places[i].split, DLRM_WHOLE);
                largest = fmax(largest, sharding_load_of(&dcnv2.task, (enum sharding_load)load, i));
            }
            cr_assert_leq(most, fmax(sum / ranks + largest * (1 - 1.0 / ranks), largest) * (1 + 1e-12));
            dlrm_placement_finish(&placement);
        }
}

/* 7, 6, 5, 4, 3 lookups on two ranks: 7, 4, 3 and 6, 5: not 7, 5 and 6, 4, 3, which is the best. */
Test(greedy, by_hand)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 2, 0);
    static const double lookups[] = {3, 4, 5, 6, 7};
    static const uint32_t ranks[] = {0, 0, 1, 1, 0};
    dcnv2.task.count = 5;
    for (uint32_t i = 0; i < 5; i++)
        dcnv2.tables[i].pooling = lookups[i];
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, 5, 2);
    cr_assert(sharding_place_greedily(&dcnv2.task, SHARDING_LOOKUP, &placement));
    for (uint32_t i = 0; i < 5; i++)
        cr_assert_eq(placement.places[i].ranks[0], ranks[i], "table %u is on rank %u", i, placement.places[i].ranks[0]);
    /* A rank that has no room is passed over: 7 and 6 on rank 0, then nothing more. */
    for (uint32_t i = 0; i < 5; i++)
        dcnv2.bytes[i] = 1;
    dcnv2.bytes[4] = 3;
    dcnv2.task.room = 4;
    cr_assert(sharding_place_greedily(&dcnv2.task, SHARDING_LOOKUP, &placement));
    cr_assert_eq(placement.places[4].ranks[0], 0);
    cr_assert_eq(placement.places[3].ranks[0], 1);
    cr_assert_eq(placement.places[2].ranks[0], 1);
    cr_assert_eq(placement.places[1].ranks[0], 0);
    cr_assert_eq(placement.places[0].ranks[0], 1);
    dcnv2.task.room = 3;
    cr_assert_not(sharding_place_greedily(&dcnv2.task, SHARDING_LOOKUP, &placement));
    dlrm_placement_finish(&placement);
}

/* Ranks of tables under a maker's rule. */
static void check_maker(const char *name, const uint32_t *expected, uint32_t count, uint32_t ranks)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, ranks, 0);
    dcnv2.task.count = count;
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, count, ranks);
    const struct sharding_maker *maker = sharding_greedy;
    while (strcmp(maker->name, name))
        maker++;
    cr_assert(maker->make(&dcnv2.task, &placement));
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(placement.places[i].ranks[0], expected[i], "%s: table %u", name, i);
    dlrm_placement_finish(&placement);
}

Test(greedy, rules_without_a_look)
{
    check_maker("naive", (const uint32_t[]){0, 1, 2, 0, 1, 2, 0}, 7, 3);
    check_maker("naive-chunk", (const uint32_t[]){0, 0, 0, 1, 1, 2, 2}, 7, 3);
}

Test(greedy, bytes_of_parts)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 4, 0);
    dcnv2.task.count = 3;
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, 3, 4);
    dlrm_placement_set(&placement, 0, DLRM_ROWS, (const uint32_t[]){0, 1}, 2);
    dlrm_placement_set(&placement, 1, DLRM_COLUMNS, (const uint32_t[]){1, 2, 3}, 3); /* 43, 43, 42 of 128 */
    dlrm_placement_set(&placement, 2, DLRM_REPLICATED, NULL, 4);
    double copy = 17295.0 * 1024;
    cr_assert_float_eq(sharding_bytes(&dcnv2.task, &placement, 0), 20e6 * 1024 + copy, 1);
    cr_assert_float_eq(sharding_bytes(&dcnv2.task, &placement, 1), 20e6 * 1024 + 39060.0 * 43 * 8 + copy, 1);
    cr_assert_float_eq(sharding_bytes(&dcnv2.task, &placement, 3), 39060.0 * 42 * 8 + copy, 1);
    dcnv2.task.room = 20e6 * 1024 + 39060.0 * 43 * 8 + copy + 1;
    cr_assert(sharding_fits(&dcnv2.task, &placement));
    dcnv2.task.room -= 2;
    cr_assert_not(sharding_fits(&dcnv2.task, &placement));
    dlrm_placement_finish(&placement);
}
