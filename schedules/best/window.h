/* SPDX-License-Identifier: Apache-2.0 */
/* Large neighbourhoods: what starts within a while of an order is decided anew by branch and bound, between what comes
 * before and what comes behind, which stay as they are. */
#ifndef STAGESIM_BEST_WINDOW_H
#define STAGESIM_BEST_WINDOW_H

#include "schedules/best/budget.h"
#include "schedules/best/instance.h"

struct window;

/* Memory is the arena's, but for what window_finish frees. */
struct window *window_create(const struct instance *instance, struct arena *arena);
void window_finish(struct window *window);

/* Shortens words that are valid, down to `least` at most, with `slice` states. The same words and the same budgets so
 * far give the same result. */
void window_run(struct window *window, struct words *words, int64_t least, int64_t slice, struct budget *budget);

#endif
