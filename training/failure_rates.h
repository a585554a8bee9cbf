/* SPDX-License-Identifier: Apache-2.0 */
/* Published rates of failures, by name. */
#ifndef STAGESIM_TRAINING_FAILURE_RATES_H
#define STAGESIM_TRAINING_FAILURE_RATES_H

#include "training/plan.h"

struct failure_rates {
    const char *name;
    const char *what, *source;                  /* for people: "54 days on 16,384 H100", where they were published */
    const struct failure_component *components; /* count of them */
    size_t count;
};

/* NULL-terminated. */
extern const struct failure_rates *const failure_rates_table[];
/* NULL: there are none of that name. */
const struct failure_rates *failure_rates_find(const char *name);
/* Of a node of eight GPUs in a day, all components together. */
double failure_rates_per_node_day(const struct failure_rates *rates);

#endif
