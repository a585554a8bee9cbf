/* SPDX-License-Identifier: Apache-2.0 */
/* The traffic of a checkpoint as a program of its own: a message from each rank, or to it. */
#ifndef STAGESIM_CHECKPOINT_PROGRAM_H
#define STAGESIM_CHECKPOINT_PROGRAM_H

#include "job/job.h"

enum checkpoint_direction {
    CHECKPOINT_WRITES, /* from ranks to servers */
    CHECKPOINT_LOADS,  /* from servers to ranks */
    CHECKPOINT_COPIES  /* from ranks to those that have their places in the next node */
};

/* Who sends to whom. */
struct checkpoint_places {
    uint32_t ranks, server_count;
    const uint32_t *hosts; /* [rank]: indices into the platform's hosts */
    uint32_t *servers;     /* the same of the storage's */
    uint32_t *next;        /* [rank]: the rank that keeps its copy; NULL: nobody asked */
};

struct checkpoint_program {
    const struct program *program;
    uint32_t *hosts; /* [rank of the program] */
};

/* Servers are the hosts that match the patterns (count of them) or, without patterns, those of nodes in which the job
 * has no rank. False with the fault filled where there are none, or the job has a rank on one; with `copies` also where
 * the job has one node alone. The job is borrowed. */
bool checkpoint_places_find(const char *const *patterns, size_t count, const struct platform *platform,
                            const struct job *job, bool copies, struct checkpoint_places *places, struct arena *arena,
                            struct fault *fault);

/* So many bytes of each rank. Memory from the arena. */
struct checkpoint_program *checkpoint_program_create(const struct checkpoint_places *places,
                                                     enum checkpoint_direction direction, double bytes,
                                                     struct arena *arena);

#endif
