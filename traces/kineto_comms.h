/* SPDX-License-Identifier: Apache-2.0 */
/* Communication in profiles of PyTorch: which kernels it is, what they move and between whom, from their own arguments
 * or from those of the operator on the host that they come from. */
#ifndef STAGESIM_TRACES_KINETO_COMMS_H
#define STAGESIM_TRACES_KINETO_COMMS_H

#include "traces/event.h"
#include "traces/recorded.h"

/* Sets kind, group, bytes and peer of a kernel of NCCL or RCCL; of an operator's record (record_param_comms) group,
 * bytes and peer. */
void kineto_comms_read(struct recorded *recorded, struct recorded_operation *operation, const char *name,
                       const struct trace_event *event);

/* Launches by correlation and operators by external id, of the operations from `first` on. */
struct kineto_join;
struct kineto_join *kineto_join_create(const struct recorded *recorded, size_t first);
void kineto_join_destroy(struct kineto_join *join);
/* The call of the runtime that an operation of the device comes from; NULL: not recorded, or it is not of a device. */
const struct recorded_operation *kineto_join_launch(const struct kineto_join *join, const struct recorded *recorded,
                                                    const struct recorded_operation *operation);

/* Gives kernels that say nothing themselves what their operators say. */
void kineto_comms_join(struct recorded *recorded, size_t first, const struct kineto_join *join);

#endif
