/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a job was run, and how that became the whole. */
#ifndef STAGESIM_STEADY_DESCRIPTION_H
#define STAGESIM_STEADY_DESCRIPTION_H

#include <stdint.h>

enum { STEADY_REASON_MAX = 160 };

struct beats;

struct steady {
    uint32_t micro_batches; /* that were run of an iteration's; 0: all were */
    uint32_t period;        /* micro-batches after which a state of the job came back; 0: times advance linearly */
    double start, length;   /* seconds: since when, and how long that took */
    /* Of a timeline that is still the shorter job's: how many more times the whole one goes through the cycle, and
     * the micro-batches that it has more. */
    uint32_t cycles, left_out;
    const struct beats *beats; /* of that job; a cycle has so many; NULL: of no such timeline */
    uint32_t cycle_beats;
    char reason[STEADY_REASON_MAX]; /* micro_batches 0: why all were run; empty: not said */
};

#endif
