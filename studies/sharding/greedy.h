/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of whole tables: in turn, in pieces, at random, and greedy ones, as Lin et al. (arXiv 2404.12674, section on
 * sharding) compare them. Their names are the paper's; it gives no formulas, so the loads are our reading. */
#ifndef STAGESIM_SHARDING_GREEDY_H
#define STAGESIM_SHARDING_GREEDY_H

#include "studies/sharding/task.h"

/* What greedy plans balance. */
enum sharding_load {
    SHARDING_SIZE,        /* E D: numbers of the table */
    SHARDING_LOOKUP,      /* L D: numbers that a sample reads */
    SHARDING_NORM_LOOKUP, /* U D / B: the same with each different row of a batch counted once */
    SHARDING_SIZE_LOOKUP, /* L D log10(E D) */
};
double sharding_load_of(const struct sharding_task *task, enum sharding_load load, uint32_t table);

/* Tables by falling load, each to the rank with the least load that has room for it; of equal ones to the first. False
 * where a table has room nowhere. */
bool sharding_place_greedily(const struct sharding_task *task, enum sharding_load load,
                             struct dlrm_placement *placement);

#endif
