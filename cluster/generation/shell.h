/* SPDX-License-Identifier: Apache-2.0 */
/* What stands beside an engine in a scenario, read as that of a job of one GPU: platform, model, output. */
#ifndef STAGESIM_GENERATION_SHELL_H
#define STAGESIM_GENERATION_SHELL_H

#include "abi/fields/fields.h"
#include "job/scenario/scenario.h"

/* Reports keys of the top level that are none of `keys`, of `what`. */
void generation_check_keys(const struct fields_reader *reader, const struct node *root, const char *const *keys,
                           const char *what);
/* `workload: KIND` may be said, too. */
void generation_check_workload(const struct node *root, const char *kind, struct arena *arena, struct diag *diag);
/* Those of `keys` that every scenario has. NULL with the mistakes reported. */
struct scenario *generation_read_shell(const struct scenario_request *request, const struct node *root,
                                       const char *const *keys, struct arena *arena, struct diag *diag);
/* What writes a table and nothing else refuses pictures, reports and traces of operations. False with the mistake
 * reported. */
bool generation_check_output(const struct scenario *scenario, const struct node *root, const char *table,
                             struct diag *diag);

#endif
