/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario's layers and devices as the partition sees them. */
#ifndef STAGESIM_DIVISION_NETWORK_H
#define STAGESIM_DIVISION_NETWORK_H

#include "job/job.h"
#include "studies/division/division.h"

/* Layers, edges and elements; NULL after the mistake was reported. Computing is 0. From the arena. */
struct partition_network *division_network(const struct scenario *scenario, struct arena *arena, struct diag *diag);

/* Bytes of a number in the network's tensors. */
double division_element_bytes(const struct scenario *scenario);

/* The job's ranks in the order of their kinds, and the bandwidth between groups of them: of each device's widest
 * route from the other group the narrowest link, each link counted once. Devices are of a kind if they have the same
 * model and speed. Fills kinds, devices, levels and ranks of the study. False after it was reported that there are too
 * few or too many. */
bool division_devices(const struct job *job, struct arena *arena, struct diag *diag, struct division_study *study,
                      struct partition_devices *devices);

#endif
