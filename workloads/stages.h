/* SPDX-License-Identifier: Apache-2.0 */
/* The workload `stages`: an abstract pipeline, documented in doc/scenario.md. */
#ifndef STAGESIM_STAGES_H
#define STAGESIM_STAGES_H

#include "abi/workload.h"

extern const struct stagesim_workload stages_workload;

#endif
