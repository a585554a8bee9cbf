/* SPDX-License-Identifier: Apache-2.0 */
/* One cluster for several jobs: each job is searched on every cluster, and a cluster's days and money are those of all
 * of them one after the other. */
#ifndef STAGESIM_FLEET_FAMILY_H
#define STAGESIM_FLEET_FAMILY_H

#include "studies/fleet/fleet.h"

/* A job with its number of trainings, and what becomes of them. */
struct fleet_member {
    const struct scenario *scenario;
    const char *name;
    double weight;
    const struct fleet_found *found; /* [cluster], once they are folded */
    /* Where a cluster is recommended: its share of the days and the money there; and alone on the cluster that is best
     * for it, by the same rule. */
    struct fleet_way shared, alone;
};

/* Reads the other jobs of plan.jobs and asks each question of each job: question j * clusters + i is cluster i with job
 * j, the scenario's own first. Nothing happens where there are no others. False with the mistakes reported. */
bool fleet_family_create(struct fleet *fleet, struct arena *arena, struct diag *diag);

/* From the answers for each job to those for all of them: from then on the fleet's questions are clusters. Of a cluster
 * on which a job does not run, it says what is true of the first such job. */
void fleet_family_fold(struct fleet *fleet, struct arena *arena);

/* What each job has of the recommended cluster, and loses there. */
void fleet_family_weigh(struct fleet *fleet);

#endif
