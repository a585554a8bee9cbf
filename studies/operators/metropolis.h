/* SPDX-License-Identifier: Apache-2.0 */
/* FlexFlow's search (Jia et al. 2019, section 6): strategies are drawn in proportion to exp(-cost/temperature) by the
 * Metropolis algorithm. A proposal gives a random operator a random configuration, all equally likely. It is accepted
 * if it costs less, and otherwise with probability exp(-(what it costs more)/temperature). Whether it is accepted is
 * drawn before it is timed, so that timing ends as soon as it takes too long for that. */
#ifndef STAGESIM_METROPOLIS_H
#define STAGESIM_METROPOLIS_H

#include "base/random/draws.h"
#include "studies/operators/task_graph.h"

/* Whether a proposal that costs so much more is accepted. */
bool metropolis_accepts(struct draws *random, double more, double temperature);

/* Seconds of the iteration, and a millisecond for each megabyte beyond the devices' memory, as in FlexFlow's code. */
double metropolis_cost(const struct task_result *result);

struct metropolis_request {
    const struct operators *operators;
    uint64_t budget;          /* evaluations of this start */
    double temperature;       /* seconds */
    bool full;                /* evaluate everything anew for each proposal, to compare with */
    bool classes;             /* for many devices: half of the proposals are for all operators that are like the one
                                 whose turn it is, and each number of parts is as likely, so that the many places of few
                                 parts do not take all turns */
    bool (*stop)(void *user); /* asked before each evaluation; NULL: never */
    void *user;
};

/* Searches from choices[layer], which becomes the best strategy. Ends when the budget is used up, when half of it has
 * brought nothing better, or when asked to stop. */
struct metropolis_outcome metropolis_search(const struct metropolis_request *request, struct draws *random,
                                            uint32_t *choices);

#endif
