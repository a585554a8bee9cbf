/* SPDX-License-Identifier: Apache-2.0 */
/* operations.csv, critical-path.csv and memory.csv read back: the operations of the workers that a report lists. */
#ifndef STAGESIM_SAVED_OPERATIONS_H
#define STAGESIM_SAVED_OPERATIONS_H

#include "analysis/pictures/gantt.h"
#include "base/diagnostics.h"

/* The text of the three files. */
struct saved_texts {
    const char *operations_file, *critical_file, *memory_file; /* names, for messages */
    const char *operations, *critical, *memory;
    size_t operations_size, critical_size, memory_size;
};

/* The picture of the run, as gantt_of_run made it of the timeline, memory included. Every mistake goes to diag with its
 * place; NULL after one. The caller owns the result. */
struct gantt *saved_operations_gantt(const struct saved_texts *texts, const struct report *report, struct diag *diag);

#endif
