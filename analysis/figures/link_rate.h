/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the links of each kind are over time. */
#ifndef STAGESIM_LINK_RATE_H
#define STAGESIM_LINK_RATE_H

#include "platforms/platform.h"
#include "simulator/program/timeline.h"

struct arena;

/* From a moment on the links of a kind carry that share of their bandwidth, mean over the links that the job uses. */
struct link_rate {
    double time, utilization;
    uint32_t kind;
};

struct link_rates {
    const char **names; /* [kind_count]: as `platform show` folds them, only kinds that are used */
    uint32_t kind_count;
    struct link_rate *rates; /* [rate_count], in the order of time; a kind begins with 0 */
    size_t rate_count;
};

/* Bytes of an operation are spread evenly over the time in which its data move. Memory from the arena. */
struct link_rates *link_rates_create(const struct timeline *timeline, struct platform *platform, const uint32_t *hosts,
                                     struct arena *arena);

#endif
