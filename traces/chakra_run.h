/* SPDX-License-Identifier: Apache-2.0 */
/* Chakra's execution traces that stagesim wrote of a run: attributes say what each node is there, and when to the last
 * digit, so that they are a timeline as operations.csv is. */
#ifndef STAGESIM_TRACES_CHAKRA_RUN_H
#define STAGESIM_TRACES_CHAKRA_RUN_H

#include "base/chakra/chakra.h"
#include "traces/trace_reader.h"

struct chakra_run;

/* What a node is on the device, of any writer. Its type is one of the schema's. */
enum recorded_kind chakra_run_kind(const struct chakra_node *node);

/* Whether a node is of such a trace. */
bool chakra_run_is(const struct chakra_node *node);
/* For one file; the caller owns it. */
struct chakra_run *chakra_run_create(struct trace_reader *reader);
void chakra_run_destroy(struct chakra_run *run); /* NULL is fine */
/* Adds what the node is. */
void chakra_run_take(struct chakra_run *run, const struct chakra_node *node);
/* To be called behind the last node: what waits for what. */
void chakra_run_finish(struct chakra_run *run);

#endif
