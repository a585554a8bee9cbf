/* SPDX-License-Identifier: Apache-2.0 */
/* Search that learns: it decides which of two operations of a worker runs first, draws what follows (propagate.c), and
 * of each dead end keeps which decisions cannot stand together (conflict-driven clause learning with bounds that are
 * explained when they are needed; Marques-Silva and Sakallah 1999; Feydy and Stuckey 2009). It proves where branch and
 * bound in the order of time looks at the same dead end again and again. */
#ifndef STAGESIM_BEST_LEARN_H
#define STAGESIM_BEST_LEARN_H

#include "schedules/best/budget.h"
#include "schedules/best/exact.h"

struct learn;

/* NULL where an instance has too many pairs. Memory is the arena's, but for what learn_finish frees. */
struct learn *learn_create(const struct instance *instance, struct arena *arena);
void learn_finish(struct learn *learn);

/* Orders of pairs are tried as in these words first. */
void learn_guide(struct learn *learn, const struct words *words);

/* Looks for an order that ends by `most`, with states of the budget according to the work; it can be asked again with
 * what it has learnt so far. */
enum exact_end learn_try(struct learn *learn, int64_t most, struct budget *budget);
/* After FOUND. */
void learn_words(const struct learn *learn, struct words *words);

#endif
