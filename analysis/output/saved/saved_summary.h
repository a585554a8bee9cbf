/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json read back. */
#ifndef STAGESIM_SAVED_SUMMARY_H
#define STAGESIM_SAVED_SUMMARY_H

#include "analysis/figures/report.h"
#include "base/diagnostics.h"

struct arena;

/* The report that summary_write wrote: all that report.html and pictures show. The mesh has names and sizes only;
 * levers, parts of the memory, contention, folding and the simulation block are not read. Every mistake goes to diag
 * with its place; NULL after one. Memory from the arena. */
struct report *saved_summary_read(const char *file, struct arena *arena, struct diag *diag);

#endif
