/* SPDX-License-Identifier: Apache-2.0 */
/* Times of the calendar in logs. */
#ifndef STAGESIM_ARRIVAL_TIME_H
#define STAGESIM_ARRIVAL_TIME_H

#include "cluster/logs/arrival_log.h"

#include <stdbool.h>

/* "2026-03-31T23:59:59" with that character in the middle: seconds since 1970. Behind it may be "+08:00", which is
 * taken off, where `zone`. False where it is no such text. */
bool arrival_time(const char *text, size_t size, char middle, bool zone, double *seconds);
/* "2023/7/15 02:19": seconds since 1970. False where it is no such text. */
bool arrival_minute(const char *text, size_t size, double *seconds);
/* Makes the first submission second 0. */
void arrival_shift(struct arrival_log *log);

#endif
