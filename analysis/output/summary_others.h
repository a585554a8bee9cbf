/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary says of other runs than its own, of limits, and of towers. */
#ifndef STAGESIM_SUMMARY_OTHERS_H
#define STAGESIM_SUMMARY_OTHERS_H

#include "analysis/figures/report.h"
#include "base/json_writer.h"

/* From how many micro-batches the others follow, or why all were run. */
void summary_steady_write(struct json_writer *json, const struct steady *steady);
/* How far the best layout is; nothing where that was not asked for. */
void summary_nearest_write(struct json_writer *json, const struct nearest *nearest);
/* What towers cost on the ranks that have them, and the worker that waits longest. */
void summary_towers_write(struct json_writer *json, const struct report *report);
/* What limits a job of the workload layers; nothing where it is not known. */
void summary_limits_write(struct json_writer *json, const struct report *report);

#endif
