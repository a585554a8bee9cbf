/* SPDX-License-Identifier: Apache-2.0 */
/* What limits of stashes alone make impossible, and orders that use such limits well: layers (see layers.h) of
 * relaxations that keep to more and more, and of the whole with a width. */
#ifndef STAGESIM_BEST_RELAX_H
#define STAGESIM_BEST_RELAX_H

#include "schedules/best/budget.h"
#include "schedules/best/instance.h"

struct relax;

/* Memory is the arena's. NULL where no worker has a limit. The first order takes a quarter of `effort` at most. */
struct relax *relax_create(const struct instance *instance, int64_t effort, struct arena *arena);

/* Raises `least`, which no order undercuts, up to `most` + 1 at most. Each call goes on where the one before ended. */
void relax_raise(struct relax *relax, int64_t *least, int64_t most, struct budget *budget);

/* Looks for an order that ends by `most`, more widely each time. True: `words` are one. */
bool relax_order(struct relax *relax, int64_t most, struct budget *budget, struct words *words);

/* An order of few states, whatever it takes: where there are many micro-batches it soon repeats, often at a better rate
 * than shorter orders do, and begins and ends badly. */
bool relax_steady(struct relax *relax, struct budget *budget, struct words *words);

/* What a further micro-batch takes at least, and by the best order that repeats, in units: raises `least` and lowers
 * `rate`, with more states each time. */
void relax_rate(struct relax *relax, double *least, double *rate, struct budget *budget);

#endif
