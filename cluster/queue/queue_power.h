/* SPDX-License-Identifier: Apache-2.0 */
/* `power:` beside `queue:`: what nodes and jobs draw, and how much slower jobs are under a cap. */
#ifndef STAGESIM_QUEUE_POWER_H
#define STAGESIM_QUEUE_POWER_H

#include "cluster/queue/queue_scenario.h"
#include "cluster/queue/throughput.h"

/* *power is NULL where nothing is known of watts. False with the mistake reported. Memory from the arena; throughputs
 * are asked with these watts from now on. */
bool queue_power_create(const struct scenario *scenario, struct throughput *throughput, struct arena *arena,
                        struct diag *diag, const struct queue_power **power);
/* How many times as long arithmetic takes under a cap, and under the least one that GPUs ever have. NULL: 1 both. */
struct queue_clock {
    double stretch, most;
};
struct queue_clock queue_power_clock(const struct queue_power *power, double cap);
/* Whose share of its nodes' devices decides what a job without a type draws. */
void queue_power_take_jobs(const struct queue_power *power, const struct queue_job *jobs);

#endif
