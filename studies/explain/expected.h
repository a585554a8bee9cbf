/* SPDX-License-Identifier: Apache-2.0 */
/* What operations take in a simulated run, by what they are: for those of a measured one that are alike. */
#ifndef STAGESIM_EXPLAIN_EXPECTED_H
#define STAGESIM_EXPLAIN_EXPECTED_H

#include "traces/recorded.h"

struct expected_table {
    struct expected *rows; /* count of them, by their keys */
    size_t count;
    double step; /* seconds of a step of the run */
};

/* Of all steps of the run; seconds are the median of what is alike. False with the fault filled. The caller finishes
 * the table in any case. */
bool expected_fill(struct expected_table *table, const struct recorded *run, struct fault *fault);
void expected_finish(struct expected_table *table);

/* Seconds of the operations that are alike; NaN: there are none. */
double expected_seconds(const struct expected_table *table, const struct recorded *recorded,
                        const struct recorded_operation *operation);
/* Its bytes over those of operations that are for the same work of the same stage; 1 where they are not known, where
 * some have its bytes, or where those of the run differ among each other. */
double expected_ratio(const struct expected_table *table, const struct recorded *recorded,
                      const struct recorded_operation *operation);

#endif
