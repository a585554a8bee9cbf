/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a scenario's keys as text that reads back as the same values. */
#ifndef STAGESIM_FIELD_TEXT_H
#define STAGESIM_FIELD_TEXT_H

#include "abi/workload.h"

struct arena;

/* The field's value in `target` as YAML in flow style, files named from `directory`. NULL: the field has no value that
 * could be written, as of keys that were not given and whose default follows from others. Memory from the arena. */
const char *field_text(const struct stagesim_field *field, const void *target, const char *directory,
                       struct arena *arena);

#endif
