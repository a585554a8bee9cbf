/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules that are rules, one line each, in the order in which they are listed. The one that is searched for
 * tries them, and stands behind them in the table of all. */
#ifndef STAGESIM_SCHEDULE_RULES_H
#define STAGESIM_SCHEDULE_RULES_H

#include "schedules/schedules.h"

/* clang-format off */
#define SCHEDULE_RULES \
    &schedule_gpipe, \
    &schedule_1f1b, \
    &schedule_eager_1f1b, \
    &schedule_h_1f1b, \
    &schedule_vocab_1f1b, \
    &schedule_dynapipe, \
    &schedule_pipedream, \
    &schedule_pipedream_2bw, \
    &schedule_gems, \
    &schedule_chimera, \
    &schedule_bitpipe, \
    &schedule_interleaved, \
    &schedule_combined_1f1b, \
    &schedule_breadth_first, \
    &schedule_group_interleaved, \
    &schedule_pipe_offload, \
    &schedule_1f1b_v, \
    &schedule_seq1f1b, \
    &schedule_slimpipe, \
    &schedule_mepipe, \
    &schedule_hanayo, \
    &schedule_zb_h1, \
    &schedule_zb_h2, \
    &schedule_zb_auto, \
    &schedule_interleaved_zb, \
    &schedule_zb_v, \
    &schedule_zb_v_greedy, \
    &schedule_v_half, \
    &schedule_v_min, \
    &schedule_v_adaptive, \
    &schedule_dualpipe, \
    &schedule_dualpipe_v, \
    &schedule_stp, \
    &schedule_bpipe, \
    &schedule_mario, \
    &schedule_adapipe, \
    &schedule_weipipe, \
    &schedule_recycle,
/* clang-format on */

/* Ends with NULL. */
extern const struct schedule *const schedule_rules[];

#endif
