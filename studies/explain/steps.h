/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a trace that are not like each other. */
#ifndef STAGESIM_EXPLAIN_STEPS_H
#define STAGESIM_EXPLAIN_STEPS_H

#include "traces/recorded.h"

/* Notes steps that some ranks of the trace do not have, and steps of a job's timeline with other numbers of
 * micro-batches than most. `steps` ascending, `count` of them. */
void steps_note(struct recorded *recorded, const uint32_t *steps, size_t count);

#endif
