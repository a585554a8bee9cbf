/* SPDX-License-Identifier: Apache-2.0 */
/* What the schedule `best` stands for where a scenario leaves its chunks open: every synchronous rule of the table, and
 * the orders that are searched for with one to four chunks a worker, in either placement, with backwards split and
 * whole. All are timed on the scenario's own platform; of those that fit its memory the fastest counts. */
#ifndef STAGESIM_CHOICE_H
#define STAGESIM_CHOICE_H

#include "job/scenario/scenario.h"
#include "platforms/platform.h"

enum { CHOICE_SETS = 4, CHOICE_MOST = 128 };

/* One of what it may stand for. */
struct choice_candidate {
    const char *schedule; /* by name */
    const char *label;    /* what people read: its name, or what was searched for */
    struct scenario_set sets[CHOICE_SETS];
    size_t set_count;
    bool searched;
};

/* How one of them does: plain data, sent from process to process. */
struct choice_figures {
    uint32_t number; /* in the list of candidates */
    bool fits;       /* in the platform's memory, and in the stashes that the scenario allows */
    double iteration, peak_bytes;
};

/* How all do that can be run, the best first. */
struct choice_ranking {
    struct choice_figures figures[CHOICE_MOST];
    uint32_t count;
};

/* Whether the scenario leaves it open. */
bool choice_is_open(const struct scenario *scenario);

/* What the request asks for, which differs from that of the scenario in a few values: with what was set of the scenario
 * beside them. NULL with the mistakes reported. Memory from the arena. */
struct scenario *choice_reload(const struct scenario *scenario, const struct scenario_request *request,
                               struct arena *arena, struct diag *diag);

/* All candidates of a scenario that leaves it open; memory from the arena. */
struct choice_candidate *choice_list(const struct scenario *scenario, struct arena *arena, uint32_t *count);

/* The scenario with a candidate in place of `best`; NULL with the mistakes reported. */
struct scenario *choice_load(const struct scenario *scenario, const struct choice_candidate *candidate,
                             struct arena *arena, struct diag *diag);

/* Times all of them on the analytic engine. */
void choice_rank(const struct scenario *scenario, struct platform *platform, struct choice_ranking *ranking);

/* Whether the first does better: it fits, then it is faster; where neither fits, it needs less memory. */
bool choice_is_better(const struct choice_figures *a, const struct choice_figures *b);

/* What a scenario stands for that leaves it open, by the analytic engine; the scenario itself where it leaves nothing
 * open, or where nothing can be run, which its own run then says why. Memory from the arena. */
const struct scenario *choice_settle(const struct scenario *scenario, struct platform *platform, struct arena *arena);

#endif
