/* SPDX-License-Identifier: Apache-2.0 */
/* A search as arrays of Slurm jobs. */
#ifndef STAGESIM_SEARCH_SLURM_H
#define STAGESIM_SEARCH_SLURM_H

#include "commands/cli/options.h"
#include "studies/search.h"

/* What is shared out; borrowed. */
struct slurm_search {
    const struct options *options;
    const struct scenario *scenario;
    const struct search_request *request;
    const char *output; /* the output directory, without slashes at the end */
    uint32_t simulated; /* how many of the best are simulated; 0: none */
};

/* Submits the shards of the search that the arguments ask for, waits, submits again what was lost or failed, has the
 * best simulated, and joins the parts. What failed is seen by the parts that are there. Returns an exit code after
 * every mistake was reported. */
int search_slurm(const struct slurm_search *wanted, int argc, char **argv, struct arena *arena);

#endif
