/* SPDX-License-Identifier: Apache-2.0 */
/* What schedules that build on group-interleaved 1F1B have of it: its options, which are their first ones. */
#ifndef STAGESIM_GROUP_INTERLEAVED_H
#define STAGESIM_GROUP_INTERLEAVED_H

#include "schedules/schedule.h"

enum { GROUP_OPTION_CHUNKS, GROUP_OPTION_GROUP, GROUP_OPTIONS };

/* Rows of an option table. */
#define GROUP_OPTION_ROWS                                                                                              \
    [GROUP_OPTION_CHUNKS] = {.key = "chunks",                                                                          \
                             .initial = 2,                                                                             \
                             .least = 1,                                                                               \
                             .most = SCHEDULE_STAGES_MAX,                                                              \
                             .doc = "chunks of the model per worker (v)"},                                             \
    [GROUP_OPTION_GROUP] = {.key = "group",                                                                            \
                            .initial = 0,                                                                              \
                            .least = 0,                                                                                \
                            .most = SCHEDULE_STAGES_MAX,                                                               \
                            .doc = "micro-batches that follow each other in one chunk (g), at most as many as "        \
                                   "workers; 0: half of them"}

/* Whether those two options are possible in the schedule of that name. */
bool group_interleaved_fits(const char *name, const struct schedule_request *request, struct schedule_refusal *refusal);

/* The table of equal slots that a request's order follows from; memory is the arena's. */
struct group_table;
const struct group_table *group_table_create(const struct schedule_request *request, struct arena *arena);

/* The slot of a forward, an input gradient or a weight gradient, with workers put off so that inputs are there in time.
 */
uint64_t group_table_slot(const struct group_table *table, enum slot_kind kind, uint32_t stage, uint32_t micro_batch);

#endif
