/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules as torch.distributed.pipelining reads and writes them: a CSV file without a header whose row r has the
 * actions of rank r, in order. An action is its stage, its kind and its micro-batch: 2F0 a forward, 2B0 a whole
 * backward, 2I0 and 2W0 the gradients of the input and of the weights, (0F7;7B3)OVERLAP_F_B a forward and a backward as
 * one block, an empty cell an idle step. Files with communication have 2SEND_F0, 3RECV_F0, 3SEND_B0, 2RECV_B0,
 * 2UNSHARD, 2RESHARD and 2REDUCE_GRAD, too. */
#ifndef STAGESIM_PLAN_PYTORCH_H
#define STAGESIM_PLAN_PYTORCH_H

#include "base/diagnostics.h"
#include "schedules/plan/plan.h"

#include <stdio.h>

enum pytorch_action {
    PYTORCH_F,
    PYTORCH_I,
    PYTORCH_B,
    PYTORCH_W,
    PYTORCH_UNSHARD,
    PYTORCH_RESHARD,
    PYTORCH_REDUCE_GRAD,
    PYTORCH_SEND_F,
    PYTORCH_RECV_F,
    PYTORCH_SEND_B,
    PYTORCH_RECV_B,
    PYTORCH_ACTIONS
};
extern const char *const pytorch_action_names[PYTORCH_ACTIONS];

/* Before PyTorch 2.6, I was written as B, beside its W; and later B as BW. */
enum pytorch_dialect { PYTORCH_TODAY, PYTORCH_OLDER };

/* ---- reading ---- */

/* Whether a text begins as such a file. */
bool plan_pytorch_recognise(const char *text, size_t size);
/* The plan in it, checked by the rules of PyTorch's loader and those of plan_check; the caller owns it. Idle steps and
 * the places of communication are not kept: a slot starts, and a message is sent, as soon as it can. NULL after every
 * mistake was reported with line and column. */
struct plan *plan_pytorch_parse(const char *name, const char *text, size_t size, enum pytorch_dialect dialect,
                                struct diag *diag);

/* ---- writing ---- */

/* False with the fault filled when such a file cannot say what the plan does. */
bool plan_pytorch_holds(const struct plan *plan, struct fault *fault);
/* Writes a plan that it can hold. `communication`: with what PyTorch would add when it loads the file without: messages
 * where stages that follow each other are on different ranks, UNSHARD of the three stages that come next and RESHARD of
 * others, in the order of their numbers, and REDUCE_GRAD after a stage's last backward. */
void plan_pytorch_write(const struct plan *plan, bool communication, FILE *out);

#endif
