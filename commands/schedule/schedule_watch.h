/* SPDX-License-Identifier: Apache-2.0 */
/* Watches a search for an order: shows on standard error how far it is, and ends it at a time limit or an
 * interruption, with the best order so far. */
#ifndef STAGESIM_SCHEDULE_WATCH_H
#define STAGESIM_SCHEDULE_WATCH_H

#include "schedules/schedule.h"

struct schedule_watcher {
    struct schedule_watch watch; /* for the request */
    double limit;                /* seconds; 0: none */
    /* Derived. */
    double began, shown;
    bool terminal, late; /* late: the limit ended it */
    uint64_t states;
};

/* From now on interruptions are noted. The watcher must stay where it is. */
void schedule_watch_begin(struct schedule_watcher *watcher, double limit);
/* Says on standard error what ended the search early, if anything did. */
void schedule_watch_end(struct schedule_watcher *watcher);

#endif
