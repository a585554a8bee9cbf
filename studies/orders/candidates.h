/* SPDX-License-Identifier: Apache-2.0 */
/* With which options a schedule could have the order of a recorded trace: those that can be read from the order, and
 * every word of the others. */
#ifndef STAGESIM_ORDERS_CANDIDATES_H
#define STAGESIM_ORDERS_CANDIDATES_H

#include "studies/orders/times.h"

/* What an order says of options. */
struct order_options {
    const struct order *order;
    const struct order_times *times;
    uint32_t group;                     /* forwards of the first stage before any other on its worker; 0: none */
    uint32_t slices;                    /* of a sequence, if it is cut */
    uint32_t ahead;                     /* forwards of the first worker before its first backward */
    bool loop, wave;                    /* where the stages are */
    struct schedule_stashes stashes[2]; /* that the workers hold, where a weight gradient needs all of it, half */
    int64_t most_stashes[2];            /* of them, in parts of a stash */
};

/* Memory from the arena, where it stays for the requests. */
void order_options_find(const struct order *order, const struct order_times *times, struct arena *arena,
                        struct order_options *options);

/* Calls `each` with every request of the schedule that fits and has the order's number of stages, the one with its
 * default options first, until it returns false. */
void candidates_each(const struct schedule *schedule, const struct order_options *options,
                     bool (*each)(void *user, const struct schedule *schedule, const struct schedule_request *request),
                     void *user);

/* "memory 2p, waves 1": options that are not the default's, except those that follow from the number of stages; "". */
const char *candidate_text(const struct schedule *schedule, const struct schedule_request *request,
                           struct arena *arena);

#endif
