/* SPDX-License-Identifier: Apache-2.0 */
/* What is drawn for some steps at a time, and how long each node of the net takes in them. */
#ifndef STAGESIM_STEP_DRAW_H
#define STAGESIM_STEP_DRAW_H

#include "simulator/tails/step_model.h"

struct arena;

/* Of STEP_LANES steps, whose numbers stand side by side: [entity * STEP_LANES + lane]. */
struct step_draw {
    const struct step_model *model;
    uint64_t seeds[STEP_LANES];
    double *ranks;             /* factor of a rank's computations */
    double *batches;           /* [replica * micro_batches + micro_batch] */
    double *links;             /* [node]; NULL: all are 1 */
    double *meetings;          /* [meeting]: the most of its nodes' links */
    uint32_t *pauses_at;       /* [rank]: net node; STEP_NONE: none */
    double *pauses;            /* [rank] */
    uint32_t *picked;          /* [replica * micro_batches + micro_batch]: record of the trace */
    double *means;             /* [stage * 2 + backward]: of the records that were picked */
    bool balanced, even, last; /* changes that are made */
};

/* Memory from the arena. */
struct step_draw *step_draw_create(const struct step_model *model, struct arena *arena);
/* Draws steps `first` to first + STEP_LANES - 1, as they are or with a change (TAILS_CHANGES: none). */
void step_draw_begin(struct step_draw *draw, uint64_t first, enum tails_change change);
/* What a node of the net takes, in each of the steps. */
void step_draw_seconds(const struct step_draw *draw, uint32_t node, double seconds[STEP_LANES]);
/* What a computation takes on average. */
double step_mean_seconds(const struct step_model *model, uint32_t node);

#endif
