/* SPDX-License-Identifier: Apache-2.0 */
/* Beam search: all operations are decided one after the other, and after each decision the most promising states go
 * on. Proves nothing, but finds good orders where branch and bound gets lost. */
#ifndef STAGESIM_BEST_BEAM_H
#define STAGESIM_BEST_BEAM_H

#include "schedules/best/bound.h"
#include "schedules/best/budget.h"

/* With at most `width` states at a time (fewer of large instances, for memory), none of which ends after `most`. Each
 * is a state of the budget. True with words filled when an order was found. */
bool beam_search(const struct instance *instance, struct bound *bound, uint32_t width, int64_t most,
                 struct budget *budget, struct words *words);

#endif
