/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a type of job trains on some nodes: asked of stagesim's engines once for each shape of the nodes. */
#ifndef STAGESIM_THROUGHPUT_H
#define STAGESIM_THROUGHPUT_H

#include "cluster/queue/node_layout.h"
#include "cluster/queue/queue_scenario.h"

#include <stdbool.h>
#include <stdint.h>

struct throughput;

/* With what watts types are evaluated. */
struct throughput_watts {
    bool same;                /* all GPUs draw these: otherwise each what the platform says */
    double idle, full, alpha; /* of a GPU; of the curve */
    double compute_bound;     /* negative: as each type's operators say */
};

/* What a type comes to on some nodes. */
struct throughput_figures {
    double rate;      /* samples a second; iterations where samples are not known */
    double iteration; /* seconds */
    double state;     /* bytes of what is saved of it; 0: not known */
    double joules;    /* of its GPUs in an iteration; negative: not known */
};

/* The platform is borrowed. The caller owns the result. */
struct throughput *throughput_create(const struct scenario *scenario, struct platform *platform);
void throughput_destroy(struct throughput *throughput); /* NULL is fine */

const struct node_layout *throughput_nodes(const struct throughput *throughput);

/* From now on joules are known, and those of GPUs with these watts. */
void throughput_set_watts(struct throughput *throughput, const struct throughput_watts *watts);

/* The shape of nodes, see node_layout.h. */
uint64_t throughput_shape(struct throughput *throughput, const uint32_t *nodes, uint32_t count);
/* The scenario of a type's job on so many hosts, whose arithmetic takes `stretch` times as long; NULL with the mistakes
 * reported. Memory from the arena. */
struct scenario *throughput_scenario(const struct throughput *throughput, uint32_t type, uint32_t hosts, double stretch,
                                     struct arena *arena, struct diag *diag);

/* Data-parallel replicas of the type's scenario fill the nodes. False where that cannot be; with `diag` the mistakes
 * are reported. */
bool throughput_of(struct throughput *throughput, uint32_t type, const uint32_t *nodes, uint32_t count,
                   struct diag *diag, struct throughput_figures *figures);
/* The same where arithmetic takes `stretch` times as long, since clocks are lower; 1: they are not. Watts were set, and
 * are the same. */
bool throughput_stretched(struct throughput *throughput, uint32_t type, const uint32_t *nodes, uint32_t count,
                          double stretch, struct diag *diag, struct throughput_figures *figures);

/* How often it was asked, how many different shapes were evaluated, and how many answers were known for the very nodes.
 */
struct throughput_counts {
    uint64_t asked, evaluated, same_nodes;
};
struct throughput_counts throughput_counts(const struct throughput *throughput);

#endif
