/* SPDX-License-Identifier: Apache-2.0 */
/* What stands beside an engine in a scenario, read as that of a job of one GPU: platform, model, output. */
#ifndef STAGESIM_GENERATION_BESIDE_H
#define STAGESIM_GENERATION_BESIDE_H

#include "job/scenario/scenario_kind.h"

/* `workload: KIND` and `engine: analytic` may be said, too. */
void generation_check_words(const struct node *root, const char *kind, struct arena *arena, struct diag *diag);
/* What has no operations refuses traces of them, all but those (bits of enum trace_bit). NULL with the mistakes
 * reported. */
struct scenario *generation_read_beside(const struct scenario_request *request, struct node *root, unsigned traces,
                                        const char *expected, struct arena *arena, struct diag *diag);

#endif
