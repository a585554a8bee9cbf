/* SPDX-License-Identifier: Apache-2.0 */
/* The gantt of a run: the computations and collectives of the workers that the report lists. */
#ifndef STAGESIM_GANTT_COLLECT_H
#define STAGESIM_GANTT_COLLECT_H

#include "analysis/critical_path.h"
#include "analysis/gantt.h"

struct gantt_choice {
    bool messages;                        /* show messages as arrows, where they take time and are few enough */
    bool rows_only;                       /* figures and rows, no boxes: nothing will be drawn */
    bool levels;                          /* collect memory over time for report.html; costs as much as the boxes */
    const struct critical_path *critical; /* marked where it runs through the workers shown; NULL: not known */
};

/* One row per entry of report->workers. The title is the schedule, the subtitle says what ran where. The caller owns it. */
struct gantt *gantt_of_run(const struct report *report, const struct timeline *timeline, const struct gantt_choice *choice);

/* Shades for pipelines with both directions (by direction) or several chunks a worker (by chunk). Sets gantt.shades and names. */
void gantt_set_shades(struct gantt *gantt, bool bidirectional, uint32_t chunks);
/* The shade of a slot, after gantt_set_shades. */
uint8_t gantt_shade_of(const struct gantt *gantt, bool bidirectional, uint32_t chunks, uint32_t pipeline, uint32_t chunk);

#endif
