/* SPDX-License-Identifier: Apache-2.0 */
/* The mesh of a job from its profiles' process groups: what framework calls them, or who exchanges what in them. */
#ifndef STAGESIM_PROFILE_AXES_H
#define STAGESIM_PROFILE_AXES_H

#include "traces/recorded.h"

struct arena;

enum axis { AXIS_TENSOR, AXIS_CONTEXT, AXIS_EXPERT, AXIS_PIPELINE, AXIS_DATA, AXES };
extern const char *const axes_names[AXES];

struct axis_found {
    uint32_t size;   /* ranks of a group; 0: there is no such group in the trace */
    uint32_t stride; /* between ranks that follow each other in a group; 0: not the same, or not known */
    bool told;       /* the group's description says what it is for; otherwise what it exchanges */
    size_t calls;    /* messages and collectives, of all ranks in the trace */
    double bytes;    /* of them, where they are recorded */
};

struct axes {
    struct axis_found found[AXES];
    uint32_t copies, shards; /* of data, in PyTorch's hybrid sharding; 0: groups do not say it */
    uint64_t ranks;          /* the product of sizes; experts lie on the ranks of other axes */
};

void axes_find(const struct recorded *recorded, struct axes *axes);
/* Notes how many stages of the pipeline have no rank in the trace. */
void axes_note(struct recorded *recorded, const struct axes *axes);
/* "tensor 2, pipeline 4, data 2" with what is not sure, from the arena; NULL: no axis was found. */
const char *axes_text(const struct axes *axes, uint32_t world, struct arena *arena);

#endif
