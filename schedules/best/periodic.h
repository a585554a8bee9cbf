/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that repeat: a pattern of a few micro-batches that begins anew after each period (modulo scheduling, Rau and
 * Glaeser 1981). Its workers are never asked for two things at a time, and never hold more stashes than they may,
 * however many micro-batches follow each other. So it gives an order for any number of them. */
#ifndef STAGESIM_BEST_PERIODIC_H
#define STAGESIM_BEST_PERIODIC_H

#include "schedules/best/budget.h"
#include "schedules/best/instance.h"

enum { PERIODIC_MOST = 4 }; /* micro-batches of a pattern */

struct periodic;

/* Memory is the arena's. */
struct periodic *periodic_create(const struct instance *instance, struct arena *arena);

/* What a further micro-batch takes at least in any order, however many there are: the work of the busiest worker, or
 * the time that its stashes stay over their limit. In units of the instance. */
double periodic_bound(const struct instance *instance);
/* What one takes by the best pattern that was found; INFINITY: none was. */
double periodic_rate(const struct periodic *periodic);

/* Looks for a pattern of so many micro-batches that is shorter for each of them than `most` and than any found before,
 * with so many partial patterns side by side. Fills `words` with the order of all micro-batches; false: none was found.
 * The order may be longer than others: it begins and ends as it repeats. */
bool periodic_try(struct periodic *periodic, uint32_t batches, uint32_t width, double most, struct budget *budget,
                  struct words *words);

#endif
