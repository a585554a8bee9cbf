/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim schedule best --on SCENARIO: the best schedule for a scenario's platform, and how the others do there. */
#ifndef STAGESIM_SCHEDULE_ON_H
#define STAGESIM_SCHEDULE_ON_H

#include "base/tables/table_write.h"
#include "job/scenario/scenario.h"
#include "schedules/plan/plan_timing.h"

#include <stdio.h>

struct schedule_on_request {
    struct scenario_request scenario;
    uint64_t effort;
    double time_limit;        /* seconds; 0: none */
    bool partition;           /* layers of the stages and recomputation are searched for, too */
    bool pytorch;             /* the order is to be one that PyTorch can run */
    enum table_format format; /* of the list of the best; one that people read */
    FILE *table;              /* where it goes */
};

struct schedule_on_result {
    struct plan *plan; /* the caller's */
    struct plan_costs costs;
};

/* Searches, prints, and gives the best order back with what its stages take. Returns an exit code after every mistake
 * was reported. Memory from the arena. */
int schedule_on(const struct schedule_on_request *request, struct arena *arena, struct schedule_on_result *result);

#endif
