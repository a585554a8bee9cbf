/* SPDX-License-Identifier: Apache-2.0 */
/* What the keys of stagesim's own may be, as JSON Schema. */
#ifndef STAGESIM_SCHEMA_OWN_H
#define STAGESIM_SCHEMA_OWN_H

#include "abi/workload.h"
#include "base/json_writer.h"

struct arena;

/* Members of the object that is open: all keys of the top level but those of workloads and of kinds of scenarios. */
void schema_own_keys(struct json_writer *json, struct arena *arena);
/* A member: what a key of `communication` may be. */
void schema_communication_value(struct json_writer *json, const struct stagesim_field *field);
/* A member `name`: the section `communication`, with the keys that the workload (NULL: none) has in it. */
void schema_communication(struct json_writer *json, const char *name, const struct stagesim_workload *workload,
                          struct arena *arena);

#endif
