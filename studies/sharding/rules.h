/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as rules of dlrm.sharding. */
#ifndef STAGESIM_SHARDING_RULES_H
#define STAGESIM_SHARDING_RULES_H

#include "studies/sharding/task.h"

#include <stdio.h>

/* As a YAML list in one line, and as a CSV file with its heading: one rule for each table, in their order. */
void sharding_rules_yaml(FILE *out, const struct sharding_task *task, const struct dlrm_placement *placement);
void sharding_rules_csv(FILE *out, const struct sharding_task *task, const struct dlrm_placement *placement);

#endif
