/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's topology.conf and topology.yaml: which nodes are on which leaf switch, or in which block. What a node is, and
 * how wide the network is, they do not say. */
#ifndef STAGESIM_SLURM_H
#define STAGESIM_SLURM_H

#include "base/diagnostics.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct import;

/* A switch or block, as a file gives it. */
struct slurm_switch {
    const char *name, *nodes, *children; /* lists; NULL: none */
    unsigned line, column;               /* of its record */
};

struct slurm_records {
    const char *file;
    const char *name;  /* of the topology, NULL: it has none */
    bool blocks;       /* blocks, not switches */
    const char *sizes; /* of blocks that jobs are planned with; NULL: not given */
    struct slurm_switch *switches;
    uint32_t count;
    struct arena *arena;
};

struct slurm_cluster {
    bool blocks;
    uint32_t nodes, leaves, leaf_nodes; /* leaf_nodes: of the largest leaf */
};

/* Whether a text begins as one of the two kinds of file. */
bool slurm_recognise(const char *text, size_t size);

/* Reads the records of a file. `topology`: of several in a topology.yaml the one of that name; NULL: the cluster's
 * default, or the first. Memory from the arena. False with the fault filled: FILE:LINE:COLUMN and what is wrong. */
bool slurm_read(const char *file, const char *text, size_t size, const char *topology, struct slurm_records *records,
                struct fault *fault);

/* What the records come to: nodes are in one leaf each, switches have any number of switches above, without a cycle.
 * `uneven`: leaves of different sizes will do. Tells of what was assumed or left out. False with the fault filled. */
bool slurm_check(const struct slurm_records *records, bool uneven, struct import *findings,
                 struct slurm_cluster *cluster, struct fault *fault);

#endif
