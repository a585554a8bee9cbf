/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario of the workload layers on its platform, as strategies per operator see it. */
#ifndef STAGESIM_OPERATOR_NETWORK_H
#define STAGESIM_OPERATOR_NETWORK_H

#include "job/scenario/scenario.h"
#include "platforms/platform.h"
#include "studies/operators/operators.h"

struct operator_network;

/* Times of parts are the workload's, those of messages the routes' latency and bytes over their narrowest link, those
 * of all-reduces the collectives' estimates. `shares`: the slowest
 * links of a route send one message after the other, as in FlexFlow's simulator; otherwise messages of different pairs
 * do not disturb each other, as on the analytic engine. The scenario's job has been built once without mistakes. NULL
 * with the mistake reported. Scenario and platform are borrowed; operator_network_destroy frees it. */
struct operator_network *operator_network_create(const struct scenario *scenario, struct platform *platform,
                                                 bool shares, struct diag *diag);
void operator_network_destroy(struct operator_network *network);

const struct operators *operator_network_problem(const struct operator_network *network);
/* Devices of a node, where all nodes have equally many that follow each other; otherwise 1. */
uint32_t operator_network_node(const struct operator_network *network);

#endif
