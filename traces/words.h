/* SPDX-License-Identifier: Apache-2.0 */
/* Words of stagesim's own traces: what operations are for, and what streams are of. */
#ifndef STAGESIM_TRACES_WORDS_H
#define STAGESIM_TRACES_WORDS_H

#include "traces/recorded.h"

/* "F", "gradient-sync" and the like; what has no meaning of its own here is RECORDED_OTHER. */
enum recorded_work words_work(const char *text, size_t size);
/* "compute", "send:1:activation", "receive:0:gradient", "collective:2", "delay:0"; in Paje's traces also "to 1 act",
 * "from 0 grad", "group 2". False: none of them. */
bool words_stream(const char *text, size_t size, enum recorded_kind *kind);

/* Stage and micro-batch of "0.3" or "0.3a", as names of operations have them (RECORDED_NO_STAGE, RECORDED_NONE: it has
 * none); what follows. */
const char *words_pair(const char *text, uint16_t *stage, uint32_t *micro_batch);

#endif
