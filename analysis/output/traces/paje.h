/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.paje: the timeline in the Paje trace format, for ViTE, pj_dump and other tools. Described in doc/traces.md.
 */
#ifndef STAGESIM_PAJE_H
#define STAGESIM_PAJE_H

#include "analysis/output/traces/trace_source.h"

#include <stdio.h>

/* Write errors stay on the stream. */
void paje_write(FILE *out, const struct trace_source *source);

/* One trace with a container for each job, between the cluster and the nodes. Links are left out: each job knows its
 * own transfers. */
void paje_write_jobs(FILE *out, const struct trace_job *jobs, uint32_t count);

#endif
