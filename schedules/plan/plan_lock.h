/* SPDX-License-Identifier: Apache-2.0 */
/* Why an order can never finish. */
#ifndef STAGESIM_PLAN_LOCK_H
#define STAGESIM_PLAN_LOCK_H

#include "schedules/plan/plan_walk.h"

enum { PLAN_LOCK_SPELLED = 8, PLAN_LOCK_NOTES = 2 * PLAN_LOCK_SPELLED };

/* What is to be said of a slot. */
struct plan_note {
    uint32_t worker;
    size_t index;
    char text[64];
};

/* Workers that wait for each other in a circle, of a longer one the first. */
struct plan_lock {
    uint32_t worker; /* the one of them with the lowest number, and its slot that waits */
    size_t index;
    char text[960]; /* who waits for what from whom */
    struct plan_note notes[PLAN_LOCK_NOTES];
    size_t note_count;
};

/* Fills `lock` where the walk came to no end. */
void plan_lock_describe(const struct plan *plan, const struct plan_walk *walk, struct plan_lock *lock);

#endif
