/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes over time in the trace format of Chrome, which Perfetto opens as well: a thread for each node, slices for what
 * it does, and counters. */
#ifndef STAGESIM_CHROME_NODES_H
#define STAGESIM_CHROME_NODES_H

#include "base/json_writer.h"

#include <stdint.h>

void chrome_nodes_begin(struct json_writer *json, const char *title);
void chrome_nodes_name(struct json_writer *json, uint32_t node, const char *name);
/* Seconds; a slice within another one is shown below it. */
void chrome_nodes_slice(struct json_writer *json, uint32_t node, const char *name, const char *category, double from,
                        double to);
/* The value of a counter from then on. */
void chrome_nodes_level(struct json_writer *json, const char *name, double time, uint32_t value);
void chrome_nodes_end(struct json_writer *json);

#endif
