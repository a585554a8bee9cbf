/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of PyTorch whose training loop says what it does: annotations (torch.profiler.record_function) "forward S.M"
 * and "backward S.M" around the computations of stage S for micro-batch M, and "optimizer". Without work of a device,
 * they are a job's timeline, with the messages and collectives that PyTorch annotates itself (gloo:send and the like).
 */
#ifndef STAGESIM_TRACES_ANNOTATED_H
#define STAGESIM_TRACES_ANNOTATED_H

#include "traces/recorded.h"

#include <stddef.h>

/* Whether the operations from `first` on are such a profile: then they are made operations of a timeline. */
bool annotated_take(struct recorded *recorded, size_t first);
/* Once all files are read: replicas, which ranks of the stages are in the order of their numbers, and what messages and
 * collectives waited for, which is cut off at their front. Before recorded_finish. */
void annotated_join(struct recorded *recorded);

#endif
