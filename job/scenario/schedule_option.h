/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a schedule's options, read as scenarios and `stagesim schedule --option` give them, and written. */
#ifndef STAGESIM_SCHEDULE_OPTION_H
#define STAGESIM_SCHEDULE_OPTION_H

#include "abi/fields/fields.h"
#include "base/json_writer.h"
#include "schedules/schedule.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads a count within the option's bounds, or one of its words. No node (NULL) and one that was refused before leave
 * *value as it is, and so does a mistake, which is reported. False after a mistake. */
bool schedule_option_read(const struct fields_reader *reader, const struct schedule_option *option,
                          const struct node *node, int64_t *value);

/* As it is read: the word, or the count in the arena. */
const char *schedule_option_text(const struct schedule_option *option, int64_t value, struct arena *arena);
/* The entry `key` of a JSON object: the word, or the count as a number. */
void schedule_option_json(struct json_writer *json, const char *key, const struct schedule_option *option,
                          int64_t value);

#endif
