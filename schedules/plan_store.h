/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that jobs share: the layouts of a search differ in much that their order does not depend on. */
#ifndef STAGESIM_PLAN_STORE_H
#define STAGESIM_PLAN_STORE_H

#include "schedules/plan/plan_check.h"
#include "schedules/schedule.h"

struct plan_store;

/* The caller owns the store. */
struct plan_store *plan_store_create(void);
/* NULL is fine. */
void plan_store_destroy(struct plan_store *store);

/* The checked plan of a request that fits; *own: it is the caller's, who destroys it. Otherwise it is the store's,
 * valid until it is asked for another two. Only plans that follow from workers, micro-batches and options are kept, and
 * no long ones. `store` NULL: nothing is kept. NULL where there is no plan, or after the check has reported its
 * mistakes. */
const struct plan *plan_store_take(struct plan_store *store, const struct schedule *schedule,
                                   const struct schedule_request *request, const struct plan_reporter *reporter,
                                   bool *own);

#endif
