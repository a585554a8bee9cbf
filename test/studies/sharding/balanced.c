/* SPDX-License-Identifier: Apache-2.0 */
/* HugeCTR's planner on the tables of DLRM-DCNv2, against the costs of its plans as they were worked out by hand and by
 * a program of its own: 34.58 on 8 GPUs, 68.42 on 4; 75.14 with every table cut over 8, 112.58 with whole tables in
 * turn. */
#include "studies/sharding/balanced.h"

#include "test/studies/sharding/tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const double shard = 3.35e12 / 450e9 / 4, room = 60e9;

static double planned(struct sharding_task *task, struct dlrm_placement *placement)
{
    cr_assert(sharding_place_balanced(task, placement));
    cr_assert(sharding_fits(task, placement));
    return sharding_balanced_cost(task, placement);
}

Test(balanced, dcnv2_on_eight)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 8, room);
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, DCNV2_TABLES, 8);
    /* In turn: ranks 3 and so on have three or four tables; rank 4 has C5, C13 and C21 with 6, 1 and 100 lookups. */
    cr_assert_float_eq(sharding_balanced_cost(&dcnv2.task, &placement), 6 + 1 + 100 + 3 * shard, 1e-9);
    double cost = planned(&dcnv2.task, &placement);
    cr_assert_float_eq(cost, 34.583333, 1e-6);
    cr_assert_leq(cost, 34.6);
    for (uint32_t i = 0; i < DCNV2_TABLES; i++)
        cr_assert_eq(placement.places[i].count, i == 20 ? 4 : 1, "table %u is cut into %u", i + 1,
                     placement.places[i].count);
    dlrm_placement_finish(&placement);
}

Test(balanced, dcnv2_on_four)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 4, room);
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, DCNV2_TABLES, 4);
    cr_assert_float_eq(planned(&dcnv2.task, &placement), 68.416667, 1e-6);
    dlrm_placement_finish(&placement);
}

/* 214 lookups over 8 ranks, and 26 shards on each. */
Test(balanced, every_table_cut)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 8, room);
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, DCNV2_TABLES, 8);
    cr_assert(sharding_cutting[7].make(&dcnv2.task, &placement));
    cr_assert_str_eq(sharding_cutting[7].name, "rows");
    cr_assert_float_eq(sharding_balanced_cost(&dcnv2.task, &placement), 214 / 8.0 + 26 * shard, 1e-9);
    cr_assert_float_eq(sharding_balanced_cost(&dcnv2.task, &placement), 75.14, 5e-3);
    dlrm_placement_finish(&placement);
}

/* 13 tables have fewer rows than a rank has samples, 8,192, and together 23 lookups; a program of its own places
 * the other 13 at a cost of 29.444444, and 23/8 come on top. */
Test(balanced, small_tables_on_all_ranks)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 8, room);
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, DCNV2_TABLES, 8);
    cr_assert(sharding_place_copies(&dcnv2.task, &placement));
    uint32_t copies = 0;
    for (uint32_t i = 0; i < DCNV2_TABLES; i++) {
        cr_assert_eq(placement.places[i].split == DLRM_REPLICATED, dcnv2.tables[i].rows < 8192, "table %u", i + 1);
        copies += placement.places[i].split == DLRM_REPLICATED;
    }
    cr_assert_eq(copies, 13);
    cr_assert_float_eq(sharding_balanced_cost(&dcnv2.task, &placement), 29.444444 + 23 / 8.0, 1e-6);
    dlrm_placement_finish(&placement);
}

Test(balanced, cost_of_copies_and_columns)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 2, 0);
    dcnv2.task.count = 2; /* 3 and 2 lookups */
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, 2, 2);
    dlrm_placement_set(&placement, 0, DLRM_COLUMNS, (const uint32_t[]){0, 1}, 2);
    dlrm_placement_set(&placement, 1, DLRM_REPLICATED, NULL, 2);
    cr_assert_float_eq(sharding_balanced_cost(&dcnv2.task, &placement), 3 + shard + 1, 1e-9);
    dlrm_placement_finish(&placement);
}

/* Two ranks that have room for no table as a whole, and then for nothing. */
Test(balanced, memory)
{
    struct dcnv2 dcnv2;
    dcnv2_fill(&dcnv2, 2, 0);
    double all = 0;
    for (uint32_t i = 0; i < DCNV2_TABLES; i++)
        all += dcnv2.task.bytes[i];
    struct dlrm_placement placement;
    dlrm_placement_init(&placement, DCNV2_TABLES, 2);
    dcnv2.task.room = all / 2;
    cr_assert(sharding_place_balanced(&dcnv2.task, &placement));
    dcnv2.task.room = all / 2 * 0.999;
    cr_assert_not(sharding_place_balanced(&dcnv2.task, &placement));
    dlrm_placement_finish(&placement);
}
