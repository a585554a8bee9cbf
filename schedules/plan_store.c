/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan_store.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEPT = 4,
    FORWARDS_MAX = 1 << 18, /* of a plan that is kept: about 10 MB */
};

struct kept_plan {
    const struct schedule *schedule;
    uint32_t workers, micro_batches, iterations;
    int64_t options[SCHEDULE_OPTIONS_MAX];
    struct plan *plan; /* NULL: none yet */
    uint64_t asked;    /* when it was asked for last */
};

struct plan_store {
    struct kept_plan plans[KEPT];
    uint64_t asked; /* how often it was asked */
};

struct plan_store *plan_store_create(void)
{
    return array_zeroed(1, sizeof(struct plan_store));
}

void plan_store_destroy(struct plan_store *store)
{
    for (unsigned i = 0; store && i < KEPT; i++)
        plan_destroy(store->plans[i].plan);
    free(store);
}

static bool depends_on_times(const struct schedule *schedule)
{
    return schedule->adapts || schedule->slices || schedule->timed || schedule->searches;
}

static const struct plan *find(struct plan_store *store, const struct schedule *schedule,
                               const struct schedule_request *request)
{
    for (unsigned i = 0; i < KEPT; i++) {
        struct kept_plan *kept = &store->plans[i];
        if (kept->plan && kept->schedule == schedule && kept->workers == request->workers &&
            kept->micro_batches == request->micro_batches && kept->iterations == request->iterations &&
            !memcmp(kept->options, request->options, sizeof kept->options)) {
            kept->asked = ++store->asked;
            return kept->plan;
        }
    }
    return NULL;
}

static void keep(struct plan_store *store, const struct schedule *schedule, const struct schedule_request *request,
                 struct plan *plan)
{
    struct kept_plan *kept = &store->plans[0];
    for (unsigned i = 1; i < KEPT; i++)
        if (store->plans[i].asked < kept->asked)
            kept = &store->plans[i];
    plan_destroy(kept->plan);
    *kept = (struct kept_plan){schedule, request->workers, request->micro_batches, request->iterations,
                               {0},      .plan = plan,     .asked = ++store->asked};
    memcpy(kept->options, request->options, sizeof kept->options);
}

const struct plan *plan_store_take(struct plan_store *store, const struct schedule *schedule,
                                   const struct schedule_request *request, const struct plan_reporter *reporter,
                                   bool *own)
{
    bool keeps = store && !depends_on_times(schedule);
    const struct plan *known = keeps ? find(store, schedule, request) : NULL;
    *own = false;
    if (known)
        return known;
    struct plan *plan = schedule->plan(request);
    if (!plan || !plan_check(plan, reporter)) {
        plan_destroy(plan);
        return NULL;
    }
    *own = !keeps || (uint64_t)plan->stages * plan->micro_batches > FORWARDS_MAX;
    if (!*own)
        keep(store, schedule, request, plan);
    return plan;
}
