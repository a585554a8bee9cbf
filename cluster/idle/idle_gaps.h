/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that a batch system left idle: its jobs are put back on nodes for the time that they ran. */
#ifndef STAGESIM_IDLE_GAPS_H
#define STAGESIM_IDLE_GAPS_H

#include "cluster/idle/idle_log.h"
#include "cluster/logs/arrival_log.h"

/* Each job takes the lowest free nodes when it starts (submit + wait); its processors stand for nodes where the log
 * does not say how many nodes it had and has as many processors as nodes, otherwise for a node per processors / nodes
 * of the machine. `nodes`: of the machine; 0: as the log says. Where jobs ask for more nodes than are free at their
 * time, the last ones go without. From the first start to the last end. NULL with the mistake reported. Memory from the
 * arena. */
struct idle_log *idle_gaps_load(const char *file, struct place at, enum arrival_format format, uint32_t nodes,
                                struct arena *arena, struct diag *diag);

#endif
