/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that were drawn, walked through. */
#ifndef STAGESIM_STEP_WALK_H
#define STAGESIM_STEP_WALK_H

#include "simulator/tails/step_draw.h"

/* The ends of STEP_LANES steps. */
struct step_walk {
    const struct step_model *model;
    struct step_draw *draw;
    double *ends;       /* [node * STEP_LANES + lane] */
    double *seconds;    /* the same: scratch of steps without a fixed order */
    bool *on_even_path; /* [node]: a computation on the longest path of the step in which nothing varies */
    double *added;      /* [worker * replicas + replica]: scratch */
};

/* NULL with the fault filled: a pass in which nothing varies is not the timeline. Memory from the arena. */
struct step_walk *step_walk_create(const struct step_model *model, struct arena *arena, struct fault *fault);
/* Draws and walks steps `first` to first + STEP_LANES - 1, with a change or none (TAILS_CHANGES): what they take. */
void step_walk_seconds(struct step_walk *walk, uint64_t first, enum tails_change change, double seconds[STEP_LANES]);
/* Of the steps walked last, without a change: the computations of the even step's longest path take so long. */
void step_walk_controls(const struct step_walk *walk, double controls[STEP_LANES]);
/* What the controls are on average. */
double step_walk_control_mean(const struct step_walk *walk);
/* Whose computations add most to the longest path of one of them: worker * replicas + replica; STEP_NONE: nobody's. */
uint32_t step_walk_straggler(struct step_walk *walk, int lane);

#endif
