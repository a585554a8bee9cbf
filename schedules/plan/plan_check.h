/* SPDX-License-Identifier: Apache-2.0 */
/* The checker that every plan passes, whoever made it. */
#ifndef STAGESIM_PLAN_CHECK_H
#define STAGESIM_PLAN_CHECK_H

#include "schedules/plan/plan_lock.h"

#define PLAN_NOWHERE UINT32_MAX

/* A mistake in a plan. Slots are named by worker and index in its order; where one is missing, another
 * one of its micro-batch and stage, or the last of the worker on which it belongs. worker PLAN_NOWHERE: no slot is to
 * blame, or there is no second one. */
struct plan_mistake {
    uint32_t worker, other_worker;
    size_t index, other_index;     /* other: the slot that it clashes with */
    const char *text;              /* valid during the report, like the notes */
    const struct plan_note *notes; /* of a dead-lock: the slots that wait and those that are waited for, in the order */
    size_t note_count;             /* of the text; 0 for all others */
};

/* Told of every mistake until it returns false. */
struct plan_reporter {
    bool (*report)(void *user, const struct plan_mistake *mistake);
    void *user;
};

/* True when the plan can be executed: every stage of every pipeline lives on a worker; every slot runs where its stage
 * lives; each micro-batch stays in one pipeline and meets each of its stages forward and backward exactly once (the
 * backward whole, or half a and half b) and, where it is split, in W; blocks are such as can be joined; evicted stashes
 * come back before their backward; and the order is possible: one that would dead-lock is refused with the cycle in
 * words. Otherwise every mistake is reported
 * (`reporter` NULL: not), the cycle only if there is no other. Takes time linear in the slots of a plan without
 * mistakes. */
bool plan_check(const struct plan *plan, const struct plan_reporter *reporter);

#endif
