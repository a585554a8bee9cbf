/* SPDX-License-Identifier: Apache-2.0 */
/* What can be decided next so that every active schedule can be reached (Giffler and Thompson 1960): of all operations
 * that could start, the one that can end first is taken, and with it all that its worker could start before that end.
 * Where a limit is shared by several stages it may also be right to start none of them: then the worker idles. */
#ifndef STAGESIM_BEST_MOVES_H
#define STAGESIM_BEST_MOVES_H

#include "schedules/best/bound.h"

#define MOVE_IDLE UINT32_MAX

struct move {
    uint32_t operation, worker; /* operation MOVE_IDLE: the worker does nothing until `start` */
    int64_t start, rank;        /* rank: for the caller; 0, of idling INT64_MIN */
};

/* At most so many moves at a time. */
uint32_t moves_most(const struct instance *instance);
/* In the part that the bound looks at, with its earliest starts of bound_heads; 0: nothing can start any more. */
uint32_t moves_list(const struct instance *instance, const struct progress_state *state, const struct bound *bound,
                    struct move *moves);
void move_do(const struct instance *instance, struct progress_state *state, const struct move *move);
/* `free`: when the worker was free before. */
void move_undo(const struct instance *instance, struct progress_state *state, const struct move *move, int64_t free);

#endif
