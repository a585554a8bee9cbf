/* SPDX-License-Identifier: Apache-2.0 */
/* How many states a search may still look at, in all and in the attempt that is under way, and somebody who may end it
 * at any of them. */
#ifndef STAGESIM_BEST_BUDGET_H
#define STAGESIM_BEST_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum { BUDGET_POLL = 32 }; /* states between two questions */

struct budget {
    int64_t total, slice;     /* left */
    bool (*poll)(void *user); /* false ends the search; NULL: nobody asks */
    void *user;
    uint32_t since;
    bool stopped;
};

static inline void budget_begin(struct budget *budget, int64_t slice)
{
    budget->slice = slice < budget->total ? slice : budget->total;
}

static inline bool budget_is_spent(const struct budget *budget)
{
    return budget->slice <= 0 || budget->total <= 0 || budget->stopped;
}

/* Counts a state; false where there was nothing left for it. */
static inline bool budget_spend(struct budget *budget)
{
    if (budget_is_spent(budget))
        return false;
    budget->slice--;
    budget->total--;
    if (++budget->since >= BUDGET_POLL && budget->poll) {
        budget->since = 0;
        budget->stopped = !budget->poll(budget->user);
    }
    return true;
}

#endif
