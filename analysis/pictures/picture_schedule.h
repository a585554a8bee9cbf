/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a plan: when its slots run if only computing takes time (and messages a latency). */
#ifndef STAGESIM_PICTURE_SCHEDULE_H
#define STAGESIM_PICTURE_SCHEDULE_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/gantt.h"
#include "analysis/pictures/picture_form.h"

/* A slot with its times, in any unit. */
struct timed_slot {
    double start, end;
    uint32_t worker, micro_batch;
    uint16_t stage, pipeline;
    uint8_t part;  /* 0 whole, 1 half a, 2 half b */
    uint8_t block; /* 0: alone; 1, 2: first or second of a block of two that has these times as a whole */
    char kind;     /* F, B, W, R; E and L: a stash that moves, drawn below what is computed if it takes time */
};

/* A plan and its figures; borrowed. */
struct timed_plan {
    const char *name; /* of the schedule */
    uint32_t workers, stages, pipelines, micro_batches;
    double iteration, ratio; /* T and the bubble ratio; iteration negative: not known */
    const struct timed_slot *slots;
    size_t slot_count;
};

/* The caller owns it. */
struct gantt *gantt_of_plan(const struct timed_plan *plan);

/* Writes the picture. False with the fault filled when it could not be written. */
bool picture_schedule(const struct timed_plan *plan, enum canvas_format format, const struct picture_form *form,
                      FILE *out, struct fault *fault);

#endif
