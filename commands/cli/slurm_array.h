/* SPDX-License-Identifier: Apache-2.0 */
/* A search or a sweep as arrays of Slurm jobs. */
#ifndef STAGESIM_SLURM_ARRAY_H
#define STAGESIM_SLURM_ARRAY_H

#include "commands/cli/options.h"

/* That a task is to take, in seconds of a processor: less is not worth a job. */
#define SLURM_TASK_SECONDS 5.0

/* What is shared out; borrowed. */
struct slurm_work {
    const char *command; /* search or sweep */
    const struct options *options;
    double seconds; /* of a processor that all of it is likely to take */
    uint32_t best;  /* how many of the best a second array simulates; 0: none */
    /* Notes the shards whose part in the directory is not complete; returns an exit code after a mistake was reported.
     */
    int (*find_missing)(void *user, const char *parts, uint32_t shards, bool *missing, uint32_t *count);
    void *user;
};

/* Submits the shards of what the arguments ask for, waits, submits again what was lost or failed, has the best
 * simulated, and joins the parts. What failed is seen by the parts that are there. Returns an exit code after every
 * mistake was reported. */
int slurm_array_run(const struct slurm_work *work, int argc, char **argv, struct arena *arena);

#endif
