/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that a job's timeline lacks, supposed to do what those of their position do. */
#ifndef STAGESIM_EXPLAIN_SYMMETRY_H
#define STAGESIM_EXPLAIN_SYMMETRY_H

#include "traces/recorded.h"

/* Adds operations of ranks of `model`, a simulated run of all ranks, that the trace lacks: those of the first rank of
 * their position that it has, at the same times. With whom they talk is as in the model, by the names of streams.
 * Returns how many ranks were added; those of positions that no rank of the trace has are still missing. */
uint32_t symmetry_fill(struct recorded *trace, const struct recorded *model);

#endif
