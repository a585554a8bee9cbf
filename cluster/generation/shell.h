/* SPDX-License-Identifier: Apache-2.0 */
/* What stands beside an engine in a scenario, read as that of a job of one GPU: platform, model, output. */
#ifndef STAGESIM_GENERATION_SHELL_H
#define STAGESIM_GENERATION_SHELL_H

#include "abi/fields/fields.h"
#include "job/scenario/scenario.h"

/* Reports keys of the top level that are none of `keys`, of `what`. */
void generation_check_keys(const struct fields_reader *reader, const struct node *root, const char *const *keys,
                           const char *what);
/* `workload: KIND` and `engine: analytic` may be said, too. */
void generation_check_words(const struct node *root, const char *kind, struct arena *arena, struct diag *diag);
/* Those of `keys` that every scenario has. NULL with the mistakes reported. */
struct scenario *generation_read_shell(const struct scenario_request *request, const struct node *root,
                                       const char *const *keys, struct arena *arena, struct diag *diag);
/* So that the scenario is called the same when it is written to another file, with the inputs of its shell. */
void generation_name(struct node *root, struct scenario *scenario, struct arena *arena);
/* What has no operations refuses traces of them, all but those (bits of enum trace_bit). False with the mistake
 * reported. */
bool generation_check_output(const struct scenario *scenario, const struct node *root, unsigned traces,
                             const char *expected, struct diag *diag);

#endif
