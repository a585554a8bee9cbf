/* SPDX-License-Identifier: Apache-2.0 */
/* Says why a program cannot finish. */
#ifndef STAGESIM_DEADLOCK_H
#define STAGESIM_DEADLOCK_H

#include "base/diagnostics.h"
#include "simulator/program/timeline.h"

/* The timeline holds the times of all operations that could be carried out, and NaN ends for the others, of which there
 * is at least one. Fills the fault with the cycle in words ("the backward of micro-batch 3 in stage 2 on worker 2 waits
 * for the backward of micro-batch 3 in stage 3 on worker 3, which waits for ...") and says that the input is refused;
 * returns false. */
bool deadlock_explain(const struct timeline *timeline, struct fault *fault);

#endif
