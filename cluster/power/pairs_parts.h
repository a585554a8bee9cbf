/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of pairs share. */
#ifndef STAGESIM_PAIRS_PARTS_H
#define STAGESIM_PAIRS_PARTS_H

#include "base/document.h"
#include "cluster/power/pairs.h"

extern const char *const pairs_keys[]; /* of the top level */
void pairs_schema(struct json_writer *json);
struct scenario *pairs_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                            struct diag *diag);

#endif
