/* SPDX-License-Identifier: Apache-2.0 */
/* Activations that are computed again in the backward, as torch.utils.checkpoint (reentrant) and Megatron-LM do it. */
#ifndef STAGESIM_PROFILE_RECOMPUTE_H
#define STAGESIM_PROFILE_RECOMPUTE_H

#include "traces/recorded.h"

/* [operation]: whether it is a launch of such a forward: in a CheckpointFunctionBackward, and in no backward within
 * that. The caller frees it; NULL: there is none. */
bool *recompute_launches(const struct recorded *recorded);

#endif
