/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/schedule.h"

#include "schedules/rules.h"

#include <strings.h>

const struct schedule *const schedule_table[] = {SCHEDULE_RULES & schedule_best, NULL};

const struct schedule *schedule_find(const char *name)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++)
        if (!strcasecmp((*schedule)->name, name))
            return *schedule;
    return NULL;
}
