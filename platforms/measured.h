/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times of collectives: tables in the CSV form of `stagesim collective`, and what nccl-tests prints.
 * doc/platform-fit.md describes both. */
#ifndef STAGESIM_MEASURED_H
#define STAGESIM_MEASURED_H

#include "abi/workload.h"
#include "base/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct measured_row {
    double bytes, seconds; /* size as nccl-tests means it; out of place */
};

struct measured {
    const char *file; /* borrowed */
    enum stagesim_collective kind;
    uint32_t ranks;
    struct measured_row *rows;
    size_t count;
};

/* Reads a table. Every mistake goes to diag; false after one. Collective and ranks come from the comments `#
 * collective: all-reduce` and
 * `# ranks: 8`; in what nccl-tests prints also from the name of its program and the lines of its ranks. Rows of size 0
 * are left out. The caller frees with measured_finish in either case. */
bool measured_load(struct measured *measured, const char *file, struct diag *diag);
/* The same for a text in memory; `name` stands in messages. */
bool measured_parse(struct measured *measured, const char *name, const char *text, size_t size, struct diag *diag);
void measured_finish(struct measured *measured);

#endif
