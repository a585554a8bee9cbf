/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank is to have which embedding table: what plans are made from. Pure: knows of no engine. */
#ifndef STAGESIM_SHARDING_TASK_H
#define STAGESIM_SHARDING_TASK_H

#include "workloads/dlrm/placement.h"

/* All borrowed. */
struct sharding_task {
    uint32_t count, ranks;
    const struct dlrm_table *tables; /* [table], width given */
    const double *bytes;             /* [table]: of its rows with their optimizer's state */
    const double *unique;            /* [table]: different rows that a batch of all ranks reads */
    double batch;                    /* samples of all ranks */
    double room;                     /* bytes that a rank has for tables; 0: not known, then all fit */
};

/* Bytes of a rank's parts of tables. */
double sharding_bytes(const struct sharding_task *task, const struct dlrm_placement *placement, uint32_t rank);
/* Whether no rank has more than its room. */
bool sharding_fits(const struct sharding_task *task, const struct dlrm_placement *placement);

/* A way to make a plan. */
struct sharding_maker {
    const char *name, *rule;
    /* Places every table in a placement that was initialised. False where a table has room nowhere. */
    bool (*make)(const struct sharding_task *task, struct dlrm_placement *placement);
};

/* Those that give whole tables to ranks (greedy.c), and all of them with those that cut tables; a NULL name ends. */
extern const struct sharding_maker sharding_greedy[], sharding_cutting[];

#endif
