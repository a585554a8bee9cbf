/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios of a cluster: what there is beside one job. */
#ifndef STAGESIM_CLUSTER_H
#define STAGESIM_CLUSTER_H

/* Lets scenario_load know them, see job/scenario/scenario_kind.h. */
void cluster_register(void);

#endif
