/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules that split the backward. */
#ifndef STAGESIM_SCHEDULES_SPLIT_H
#define STAGESIM_SCHEDULES_SPLIT_H

#include "schedules/kit/schedule.h"

extern const struct schedule schedule_zb_h1, schedule_zb_h2, schedule_zb_auto, schedule_zb_v, schedule_zb_v_greedy,
    schedule_v_half, schedule_v_min, schedule_dualpipe, schedule_dualpipe_v, schedule_stp, schedule_interleaved_zb,
    schedule_mepipe, schedule_v_adaptive;

#endif
