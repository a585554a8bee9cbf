/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/cluster.h"

#include "cluster/idle/idle_nodes.h"
#include "cluster/jobs/jobs.h"
#include "cluster/power/pairs.h"
#include "cluster/queue/queue_scenario.h"
#include "cluster/rl/rl.h"
#include "cluster/serving/serving.h"

#include <stddef.h>

/* A line for each key of the top level. */
static const struct scenario_kind *const kinds[] = {&jobs_kind, &idle_kind,    &pairs_kind, &queue_kind,
                                                    &rl_kind,   &serving_kind, NULL};

void cluster_register(void)
{
    scenario_kinds = kinds;
}
