/* SPDX-License-Identifier: Apache-2.0 */
/* Local search: neighbours in the words of workers change places, also at no gain, as long as nothing gets longer. */
#ifndef STAGESIM_BEST_IMPROVE_H
#define STAGESIM_BEST_IMPROVE_H

#include "schedules/best/budget.h"
#include "schedules/best/instance.h"

struct improve;

/* Memory is the arena's. */
struct improve *improve_create(const struct instance *instance, struct arena *arena);

/* Shortens words that are valid, down to `least` at most, an evaluation a state of the budget. The same
 * words and the same budgets so far give the same result. */
void improve_run(struct improve *improve, struct words *words, int64_t least, struct budget *budget);

#endif
