/* SPDX-License-Identifier: Apache-2.0 */
/* Measured times of collectives: tables in the CSV form of `stagesim collective`, and what nccl-tests prints. */
#ifndef STAGESIM_MEASURED_H
#define STAGESIM_MEASURED_H

#include "simulator/diagnostics.h"
#include "workloads/workload.h"

#include <stddef.h>
#include <stdint.h>

struct measured_row {
    double bytes, seconds;
};

struct measured {
    const char *file;
    enum stagesim_collective kind;
    uint32_t ranks;
    struct measured_row *rows;
    size_t count;
};

/* Reads a table. Every mistake goes to diag; false after one. Collective and ranks come from the comments `# collective: all-reduce` and
 * `# ranks: 8`, or, in the output of nccl-tests, from the name of the program and the lines of the ranks. Rows of size 0 are
 * left out. The caller frees with measured_finish; the file's name is borrowed. */
bool measured_init(struct measured *measured, const char *file, struct diag *diag);
void measured_finish(struct measured *measured);

#endif
