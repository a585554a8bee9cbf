/* SPDX-License-Identifier: Apache-2.0 */
/* The gantt of a run: the computations and collectives of the workers that the report lists. */
#ifndef STAGESIM_GANTT_COLLECT_H
#define STAGESIM_GANTT_COLLECT_H

#include "analysis/figures/critical_path.h"
#include "analysis/pictures/gantt.h"

struct gantt_choice {
    bool messages;                        /* show messages as arrows, where they take time and are few enough */
    bool rows_only;                       /* figures and rows, no boxes: nothing will be drawn */
    bool levels;                          /* collect memory over time for report.html; costs as much as the boxes */
    const struct critical_path *critical; /* marked where it runs through the workers shown; NULL: not known */
};

/* A picture without boxes: title, subtitle, figures, and a row per entry of report->workers. Shades are those of the
 * report's stages, or of directions. The caller owns it. */
struct gantt *gantt_of_report(const struct report *report, bool bidirectional);

/* What a box of a computation stands for. */
struct gantt_work {
    unsigned kind;               /* enum stagesim_kind */
    uint32_t stage, micro_batch; /* STAGE_NONE, MICRO_BATCH_NONE: none */
    uint32_t pipeline;
    uint8_t part;
};

/* Adds a computation with the row, times and critical flag of `box`; with a second part (NULL: none) an upper and a
 * lower box. */
void gantt_add_work(struct gantt *gantt, const struct report *report, bool bidirectional, struct gantt_box box,
                    const struct gantt_work *work, const struct gantt_work *second);

/* One row per entry of report->workers. The title is the schedule, the subtitle says what ran where. The caller owns
 * it. */
struct gantt *gantt_of_run(const struct report *report, const struct timeline *timeline,
                           const struct gantt_choice *choice);

/* Shades for pipelines with both directions (by direction) or several chunks a worker (by chunk). Sets gantt.shades and
 * names. */
void gantt_set_shades(struct gantt *gantt, bool bidirectional, uint32_t chunks);
/* The shade of a slot, after gantt_set_shades. */
uint8_t gantt_shade_of(const struct gantt *gantt, bool bidirectional, uint32_t chunks, uint32_t pipeline,
                       uint32_t chunk);

#endif
