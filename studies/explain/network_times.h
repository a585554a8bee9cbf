/* SPDX-License-Identifier: Apache-2.0 */
/* What messages and collectives take on a scenario's platform when nothing else is under way, also with sizes other
 * than the scenario's: the scenario's own program with its bytes scaled, on the contention-free engine. */
#ifndef STAGESIM_EXPLAIN_NETWORK_TIMES_H
#define STAGESIM_EXPLAIN_NETWORK_TIMES_H

#include "job/scenario/scenario.h"
#include "studies/explain/expected.h"

enum { NETWORK_TIMES_MAX = 8 };

struct network_times {
    struct {
        double ratio; /* of sizes to the scenario's */
        struct expected_table table;
    } sizes[NETWORK_TIMES_MAX]; /* size_count of them; the first is 1 */
    size_t size_count;
    size_t left_out; /* transfers of the trace of further sizes: theirs are taken for the scenario's */
};

/* Fills seconds, [operation], of a timeline's messages and collectives that have the scenario's sizes: of each alone on
 * its network; NaN: it has none like it. An exit code likewise. */
int network_times_alone(const struct scenario *scenario, const struct recorded *trace, double *seconds);

/* For the sizes that transfers of the trace have; `model` is what the scenario's run takes. Returns an exit code after
 * every mistake was reported on standard error. The caller finishes it in any case. */
int network_times_find(struct network_times *network, const struct scenario *scenario,
                       const struct expected_table *model, const struct recorded *trace);
void network_times_finish(struct network_times *network);

/* Seconds of a transfer of the trace, alone on the network; with its own size, or that of the scenario's like it. NaN:
 * the scenario has none like it. */
double network_times_seconds(const struct network_times *network, const struct expected_table *model,
                             const struct recorded *trace, const struct recorded_operation *operation, bool own_size);

#endif
