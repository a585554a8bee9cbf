/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in workloads. */
#ifndef STAGESIM_WORKLOAD_TABLE_H
#define STAGESIM_WORKLOAD_TABLE_H

#include "abi/workload.h"

/* NULL-terminated, in the order in which they are listed. */
extern const struct stagesim_workload *const workload_table[];

#endif
