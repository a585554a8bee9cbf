/* SPDX-License-Identifier: Apache-2.0 */
/* The times that a recorded trace gives a schedule whose order depends on them. */
#ifndef STAGESIM_ORDERS_TIMES_H
#define STAGESIM_ORDERS_TIMES_H

#include "schedules/kit/schedule.h"
#include "studies/orders/order.h"

struct order_times {
    bool known;                       /* of every stage */
    struct plan_costs costs;          /* means of a stage's computations; messages by themselves */
    double forward, backward, weight; /* of a worker's share, the mean over workers */
};

/* Memory from the arena. */
void order_times_find(const struct recorded *recorded, const struct order *order, struct arena *arena,
                      struct order_times *times);

#endif
