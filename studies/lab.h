/* SPDX-License-Identifier: Apache-2.0 */
/* The best schedule for a scenario's own platform: published schedules and searched orders are timed on the analytic
 * engine, with what the job sends and synchronises; the best order is improved there, layers are moved between stages
 * if that is asked for, and the ten best are simulated on SimGrid, with contention. */
#ifndef STAGESIM_LAB_H
#define STAGESIM_LAB_H

#include "job/scenario/scenario.h"

#include <stdint.h>

enum { LAB_SETS = 10, LAB_TEXT_MAX = 1024, LAB_CONFIRMED = 10, LAB_CANDIDATES = 512 };

struct lab_request {
    const struct scenario *scenario;
    uint64_t effort;    /* partial orders of each search; a timed job counts as a thousand */
    double time_limit;  /* seconds, 0: none; caps the part before SimGrid */
    bool partition;     /* layers may move between stages, and activations may be computed again */
    const char *folder; /* an existing one, for orders: NUMBER.csv, and NUMBER.times with what their stages take */
};

/* Plain data, sent from process to process. */
struct lab_candidate {
    uint32_t number;                   /* of its files */
    char schedule[64];                 /* by name */
    char label[128];                   /* what people read: the schedule with its options */
    char sets[LAB_SETS][LAB_TEXT_MAX]; /* scenario keys beside it; set_count of them */
    uint32_t set_count;
    char layout[LAB_TEXT_MAX]; /* layers of the stages where they may be unequal, else empty */
    bool own;                  /* of the scenario's schedule; set where layers are moved */
    bool improved;             /* on the platform: only its file has the order */
    bool fits;
    double analytic, simgrid, bound, peak_bytes; /* seconds; simgrid 0: not simulated; bound 0: not known */
};

struct lab {
    struct lab_candidate candidates[LAB_CANDIDATES]; /* the best first: those on SimGrid by that, then by `analytic` */
    uint32_t count;
    bool stopped; /* before all was tried */
};

/* Returns an exit code after every mistake was reported on standard error. */
int lab_run(const struct lab_request *request, struct lab *lab);

#endif
