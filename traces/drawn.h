/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of a run that were made for viewers (Chrome, Paje): they say what each stream did when and what an operation
 * is called, and which messages go where, but not what waits for what. That is put together here: a forward waits for
 * the activation of its micro-batch from the stage before, and so on; everything else for what ended when it began. */
#ifndef STAGESIM_TRACES_DRAWN_H
#define STAGESIM_TRACES_DRAWN_H

#include "traces/trace_reader.h"

struct drawn;

/* The caller owns it; the file's operations follow from now on. */
struct drawn *drawn_create(struct trace_reader *reader);
void drawn_destroy(struct drawn *drawn); /* NULL is fine */

/* A stream of a rank by its name, such as "send:1:activation"; index of it. RECORDED_NONE: streams have no such names.
 */
uint32_t drawn_stream(struct drawn *drawn, uint32_t rank, uint64_t number, const char *name);
/* Whether that stream has been named. */
bool drawn_has(const struct drawn *drawn, uint32_t stream);
/* An operation, "F 0.3", "activation 0.3", "gradient-sync 1", "FB 0.3+1.2": seconds, and bytes of messages (NaN: not
 * known). Those of a stream come in their order. */
void drawn_operation(struct drawn *drawn, uint32_t stream, const char *text, double begin, double data, double end,
                     double bytes);
/* A message goes from one stream to another: that is true of all their messages. */
void drawn_link(struct drawn *drawn, uint32_t from, uint32_t to);
/* Pairs messages, finds the members of collectives and what waits for what. */
void drawn_finish(struct drawn *drawn);

#endif
