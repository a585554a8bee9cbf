/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all schedules: one file per schedule, here and in split/. */
#ifndef STAGESIM_SCHEDULE_H
#define STAGESIM_SCHEDULE_H

#include "schedules/kit/schedule.h"

enum { SCHEDULES_MAX = 128 }; /* more than there are */

/* All schedules, NULL-terminated, in the order in which they are listed. */
extern const struct schedule *const schedule_table[];

/* By name, in letters of any case, or NULL. */
const struct schedule *schedule_find(const char *name);

#endif
