/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/workload_table.h"

#include "workloads/dlrm/dlrm.h"
#include "workloads/layers/layers.h"
#include "workloads/stages.h"
#include "workloads/transformer/transformer.h"

#include <stddef.h>

const struct stagesim_workload *const workload_table[] = {&stages_workload, &transformer_workload, &layers_workload,
                                                          &dlrm_workload, NULL};
