/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning and the end of explain.json. */
#ifndef STAGESIM_EXPLAIN_JSON_PARTS_H
#define STAGESIM_EXPLAIN_JSON_PARTS_H

#include "base/json_writer.h"
#include "traces/recorded.h"

/* The files, of which there are `count`, and what they are. */
void explain_json_begin(struct json_writer *json, const char *const *files, size_t count,
                        const struct recorded *recorded);
/* The verdict and the notes. */
void explain_json_end(struct json_writer *json, const char *verdict, const struct recorded *recorded, FILE *out);

#endif
