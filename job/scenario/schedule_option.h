/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a schedule's options, read as scenarios and `stagesim schedule --option` give them, and written. */
#ifndef STAGESIM_SCHEDULE_OPTION_H
#define STAGESIM_SCHEDULE_OPTION_H

#include "abi/fields/fields.h"
#include "base/json_writer.h"
#include "schedules/schedule.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads a count within the option's bounds, one of its words, a number of stashes or, into *each in the reader's
 * arena, one for each worker: a list, or a text in brackets. No node (NULL) and one that was refused before leave
 * *value as it is, and so does a mistake, which is reported. False after a mistake. */
bool schedule_option_read(const struct fields_reader *reader, const struct schedule_option *option,
                          const struct node *node, int64_t *value, struct schedule_stashes *each);

/* As it is read: the word, the count, or the stashes; in the arena. */
const char *schedule_option_text(const struct schedule_option *option, int64_t value,
                                 const struct schedule_stashes *each, struct arena *arena);
/* The entry `key` of a JSON object: the word, the count as a number, the stashes as one or as an array. */
void schedule_option_json(struct json_writer *json, const char *key, const struct schedule_option *option,
                          int64_t value, const struct schedule_stashes *each);

#endif
