/* SPDX-License-Identifier: Apache-2.0 */
/* The planner of NVIDIA's HugeCTR for DLRM-DCNv2 (mlcommons/training_results_v3.0, NVIDIA's dlrm_dcnv2 in hugectr):
 * tables cut by rows into powers of two until no rank has much more lookups than the others. */
#ifndef STAGESIM_SHARDING_BALANCED_H
#define STAGESIM_SHARDING_BALANCED_H

#include "studies/sharding/task.h"

/* Its cost of a rank: lookups of a sample in its shards, and for each shard as much as 1.861 lookups, a quarter of the
 * ratio of an H100's bandwidths of memory (3.35 TB/s) and NVLink (450 GB/s). Returns the largest of all ranks; tables
 * in columns count with all their lookups, replicated ones with the rank's share of them and no shard. */
double sharding_balanced_cost(const struct sharding_task *task, const struct dlrm_placement *placement);

/* First every table cut over all ranks. Then, twenty times: shards by falling lookups, each to the rank of least cost
 * that has room and nothing of its table. If all find one, the plan is kept if it is the best so far, and the table of
 * most lookups in a shard is cut into twice as many; otherwise the table that found none is. False where no plan has
 * room. */
bool sharding_place_balanced(const struct sharding_task *task, struct dlrm_placement *placement);
/* The same for tables with at least as many rows as a rank has samples; all ranks have the others. To all-reduce the
 * gradient of such a table moves no more numbers than to exchange its sums. */
bool sharding_place_copies(const struct sharding_task *task, struct dlrm_placement *placement);

#endif
