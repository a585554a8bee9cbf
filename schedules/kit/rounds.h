/* SPDX-License-Identifier: Apache-2.0 */
/* Micro-batches in groups (rounds) through the chunks of looped schedules: within a group all of it goes through chunk
 * 0, then through chunk 1, and so on. */
#ifndef STAGESIM_ROUNDS_H
#define STAGESIM_ROUNDS_H

#include "schedules/kit/schedule.h"

enum { ROUNDS_OPTION_CHUNKS, ROUNDS_OPTION_GROUP, ROUNDS_OPTIONS };

/* Rows of an option table: its first ones. */
#define ROUNDS_OPTION_ROWS                                                                                             \
    [ROUNDS_OPTION_CHUNKS] = {.key = "chunks",                                                                         \
                              .initial = 2,                                                                            \
                              .least = 2,                                                                              \
                              .most = SCHEDULE_STAGES_MAX,                                                             \
                              .doc = "chunks of the model per worker (v)"},                                            \
    [ROUNDS_OPTION_GROUP] = {.key = "group",                                                                           \
                             .initial = 0,                                                                             \
                             .least = 0,                                                                               \
                             .most = SCHEDULE_FORWARDS_MAX,                                                            \
                             .doc = "number of micro-batches that follow each other in one chunk (g); 0: as many as "  \
                                    "workers, or somewhat more if the groups are not of equal size then, or all if "   \
                                    "there are fewer than workers"}

/* Workers times chunks. */
uint32_t rounds_stages(const struct schedule_request *request);

/* The size of a group: the option, or where it is 0 the micro-batches over as many groups as there are workers in them;
 * the number of workers where that leaves a remainder. */
uint32_t rounds_group(const struct schedule_request *request);

/* Whether the options are possible in the schedule of that name: a group that is smaller than the pipeline is deep, the
 * last, shorter one included, leaves a chunk waiting for the one before, unless it is the only one. */
bool rounds_fit(const char *name, const struct schedule_request *request, struct schedule_refusal *refusal);

/* The plan of looped stages in which `order` appends what each worker does, in groups of that size. */
struct plan *rounds_plan(const struct schedule_request *request,
                         void (*order)(struct plan *plan, uint32_t worker, uint32_t group));

/* A place in the sequence (group, chunk, micro-batch of the group). */
struct rounds_cursor {
    uint32_t first, size; /* of the group */
    uint32_t chunk, micro_batch;
};

struct rounds_cursor rounds_begin(uint32_t micro_batches, uint32_t group);
void rounds_next(struct rounds_cursor *cursor, uint32_t micro_batches, uint32_t group, uint32_t chunks);

#endif
