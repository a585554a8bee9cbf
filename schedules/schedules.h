/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules of the table, and what their generators share. */
#ifndef STAGESIM_SCHEDULES_H
#define STAGESIM_SCHEDULES_H

#include "schedules/schedule.h"

extern const struct schedule schedule_gpipe, schedule_1f1b, schedule_eager_1f1b;
extern const struct schedule schedule_pipedream, schedule_pipedream_2bw;
extern const struct schedule schedule_gems, schedule_chimera;
extern const struct schedule schedule_interleaved, schedule_breadth_first;
extern const struct schedule schedule_zb_h1, schedule_zb_h2, schedule_zb_v, schedule_v_half, schedule_v_min,
    schedule_dualpipe, schedule_dualpipe_v, schedule_bpipe, schedule_hanayo, schedule_best, schedule_zb_auto,
    schedule_zb_v_greedy, schedule_1f1b_v, schedule_group_interleaved, schedule_stp, schedule_seq1f1b,
    schedule_slimpipe, schedule_mario, schedule_adapipe, schedule_pipe_offload, schedule_weipipe;

/* One stage per worker: the `stages` of schedules without chunks. */
uint32_t stages_one_per_worker(const struct schedule_request *request);

/* A plan of one pipeline with stage s on worker s mod D, all of the request's iterations in it; the caller owns it. */
struct plan *plan_create_looped(const struct schedule_request *request, uint32_t stages);

/* The order of stage `worker` on its worker: `warm` forwards (at most all), then a forward and a backward in turn, then
 * the backwards that are left. */
void order_one_forward_one_backward(struct plan *plan, uint32_t worker, uint32_t warm);

#endif
