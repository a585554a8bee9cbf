/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `stagesim platform import` for Slurm's topology files. */
#ifndef STAGESIM_PLATFORM_SLURM_H
#define STAGESIM_PLATFORM_SLURM_H

#include "platforms/import/import.h"
#include "platforms/import/slurm.h"
#include "platforms/presets/presets.h"

struct slurm_request {
    const char *file, *text;
    size_t size;
    const char *topology;      /* of several the one of this name; NULL: the default */
    const struct preset *node; /* what a node is; NULL: was not said */
    const char *nic;           /* a name of interface_table, or NULL */
    uint32_t pod;              /* 0: the leaves */
    double oversubscription;   /* 0: the preset's */
};

/* The cluster as a design, with what is to be told of it in *findings. False with the fault filled. */
bool platform_slurm_design(const struct slurm_request *request, struct arena *arena, struct design *design,
                           struct import **findings, struct fault *fault);

#endif
