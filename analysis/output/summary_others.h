/* SPDX-License-Identifier: Apache-2.0 */
/* What a summary says of other runs than its own. */
#ifndef STAGESIM_SUMMARY_OTHERS_H
#define STAGESIM_SUMMARY_OTHERS_H

#include "analysis/figures/report.h"
#include "base/json_writer.h"

/* From how many micro-batches the others follow, or why all were run. */
void summary_steady_write(struct json_writer *json, const struct steady *steady);
/* How far the best layout is; nothing where that was not asked for. */
void summary_nearest_write(struct json_writer *json, const struct nearest *nearest);

#endif
