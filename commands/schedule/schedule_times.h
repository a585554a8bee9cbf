/* SPDX-License-Identifier: Apache-2.0 */
/* The times of `stagesim schedule`: of the model's shares as they are typed, and of a plan's stages. */
#ifndef STAGESIM_SCHEDULE_TIMES_H
#define STAGESIM_SCHEDULE_TIMES_H

#include "commands/cli/command.h"
#include "schedules/plan/plan_timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* One time for all shares of the model, or one for each. count 0: not given. */
struct time_list {
    double *values;
    size_t count;
};

enum cost { FORWARD, BACKWARD, WEIGHT, BLOCK, COSTS };

/* A plain number from 0, and where it ends. */
bool time_read(const char *text, double *time, char **end);
/* One, or several with commas between them; memory from the arena. */
bool times_read(const char *text, struct time_list *times, struct arena *arena);

double times_mean(const struct time_list *list);
/* Fills in what was not given: 1, 2 and half of the backward. */
void times_complete(struct time_list costs[COSTS], struct arena *arena);
/* 0 when the times fit that many workers, else an exit code. */
int times_check(const struct command *command, const struct time_list costs[COSTS], uint32_t workers);

/* Times of the stages, from those of the model's shares in order; memory from the arena. */
struct plan_costs times_of_stages(const struct time_list costs[COSTS], double latency, double attention,
                                  uint32_t workers, uint32_t stages, struct arena *arena);

#endif
