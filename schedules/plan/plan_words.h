/* SPDX-License-Identifier: Apache-2.0 */
/* Slots in words, for messages. */
#ifndef STAGESIM_PLAN_WORDS_H
#define STAGESIM_PLAN_WORDS_H

#include "schedules/plan/plan.h"

struct plan_words {
    char text[64];
};

/* "the backward", "half a of the forward", ... */
struct plan_words plan_words_of(unsigned kind, unsigned part);

#endif
