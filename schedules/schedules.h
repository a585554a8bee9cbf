/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules of the table, and what their generators share. */
#ifndef STAGESIM_SCHEDULES_H
#define STAGESIM_SCHEDULES_H

#include "schedules/kit/generate.h"
#include "schedules/split/split.h"

extern const struct schedule schedule_gpipe, schedule_1f1b, schedule_eager_1f1b;
extern const struct schedule schedule_pipedream, schedule_pipedream_2bw;
extern const struct schedule schedule_gems, schedule_chimera;
extern const struct schedule schedule_interleaved, schedule_breadth_first;
extern const struct schedule schedule_bpipe, schedule_hanayo, schedule_best, schedule_1f1b_v,
    schedule_group_interleaved, schedule_seq1f1b, schedule_slimpipe, schedule_mario, schedule_adapipe,
    schedule_pipe_offload, schedule_weipipe, schedule_bitpipe, schedule_combined_1f1b, schedule_h_1f1b,
    schedule_dynapipe, schedule_recycle, schedule_vocab_1f1b;

#endif
