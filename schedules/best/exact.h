/* SPDX-License-Identifier: Apache-2.0 */
/* Branch and bound over the active schedules of an instance (Giffler and Thompson 1960): the operation that can end
 * first is taken, and all that its worker could start before that end are tried. What cannot be done in time by the
 * bounds, or is no better than what has been tried in vain, is cut off. */
#ifndef STAGESIM_BEST_EXACT_H
#define STAGESIM_BEST_EXACT_H

#include "schedules/best/bound.h"
#include "schedules/best/budget.h"

struct exact;

/* How an attempt ended. */
enum exact_end {
    EXACT_FOUND,      /* a schedule within the time */
    EXACT_IMPOSSIBLE, /* there is none: proved */
    EXACT_GIVEN_UP    /* the budget is used up */
};

/* In which order children are tried. */
enum exact_rule { RULE_TAIL, RULE_BACKWARD, RULE_EARLY, RULE_MIXED, EXACT_RULES };

/* `table_bits`: of the table of what is known to fail. Memory is the arena's, but for what is known to fail, which
 * exact_finish frees. */
struct exact *exact_create(const struct instance *instance, struct bound *bound, unsigned table_bits,
                           struct arena *arena);
void exact_finish(struct exact *exact);

/* From now on attempts begin at a state and end when `count` operations are decided: those of the bound's part. */
void exact_part(struct exact *exact, const struct progress_state *from, uint32_t count);

/* Looks for a schedule that ends by `most`; a node is a state of the budget. */
enum exact_end exact_try(struct exact *exact, int64_t most, enum exact_rule rule, uint32_t seed, struct budget *budget);
/* After FOUND: what was decided, behind as many operations of each worker as had been before. */
void exact_words(const struct exact *exact, struct words *words);

/* After IMPOSSIBLE: no schedule ends before this, which is later than `most`; INT64_MAX: there is none at all. */
int64_t exact_over(const struct exact *exact);

#endif
