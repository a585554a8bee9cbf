/* SPDX-License-Identifier: Apache-2.0 */
/* The 26 tables of MLPerf's DLRM-DCNv2: rows (at most 40 million) and lookups of a sample
 * (mlcommons/training_results_v3.0, NVIDIA/benchmarks/dlrm_dcnv2/implementations/hugectr/README.md); 8 bytes for each
 * of 128 numbers of a row (Adagrad). */
#ifndef STAGESIM_TEST_SHARDING_TABLES_H
#define STAGESIM_TEST_SHARDING_TABLES_H

#include "studies/sharding/task.h"

enum { DCNV2_TABLES = 26 };

struct dcnv2 {
    struct sharding_task task;
    struct dlrm_table tables[DCNV2_TABLES];
    double bytes[DCNV2_TABLES], unique[DCNV2_TABLES];
};

static inline void dcnv2_fill(struct dcnv2 *dcnv2, uint32_t ranks, double room)
{
    static const double rows[] = {40000000, 39060,    17295,    7424,     20265,  3,     7122, 1543, 63,
                                  40000000, 3067956,  405282,   10,       2209,   11938, 155,  4,    976,
                                  14,       40000000, 40000000, 40000000, 590152, 12973, 108,  36};
    static const double lookups[] = {3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1};
    for (uint32_t i = 0; i < DCNV2_TABLES; i++) {
        dcnv2->tables[i] = (struct dlrm_table){.name = "C", .rows = rows[i], .width = 128, .pooling = lookups[i]};
        dcnv2->bytes[i] = rows[i] * 128 * 8;
        dcnv2->unique[i] = rows[i] < 65536 * lookups[i] ? rows[i] : 65536 * lookups[i];
    }
    dcnv2->task = (struct sharding_task){DCNV2_TABLES, ranks, dcnv2->tables, dcnv2->bytes, dcnv2->unique, 65536, room};
}

#endif
