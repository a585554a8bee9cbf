/* SPDX-License-Identifier: Apache-2.0 */
/* Why an order can never finish. */
#ifndef STAGESIM_PLAN_LOCK_H
#define STAGESIM_PLAN_LOCK_H

#include "schedules/plan/plan_walk.h"

/* Writes into `text` of `size` bytes which workers wait for each other in a circle, where the walk came to no end.
 * *blocked is the one of them with the lowest number; its slot that waits is returned. */
size_t plan_lock_describe(const struct plan *plan, const struct plan_walk *walk, char *text, size_t size,
                          uint32_t *blocked);

#endif
