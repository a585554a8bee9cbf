/* SPDX-License-Identifier: Apache-2.0 */
/* What fold.c finds out about program and platform, and fold_verify.c needs to judge a timeline. */
#ifndef STAGESIM_FOLD_PROOF_H
#define STAGESIM_FOLD_PROOF_H

#include "simulator/engines/fold.h"
#include "simulator/engines/fold_links.h"

/* A send stream of a rank of slice 0; its equals are in every slice. */
struct fold_sender {
    uint32_t rank, position, stream, peer;
};

/* An instance of a group within slice 0; its equals are in every slice. */
struct fold_local {
    uint32_t group, size;
    uint32_t *ranks;
};

struct fold_proof {
    const struct program *program;
    struct platform *platform;
    const uint32_t *hosts;
    struct folding *folding;
    struct arena *arena;
    const struct mesh_axis *axis;
    unsigned axis_index;
    struct fold_sender *senders;
    size_t sender_count, sender_capacity;
    struct fold_local *locals;
    size_t local_count, local_capacity;
    uint32_t *members; /* scratch: ranks of an instance */
    struct fold_links links;
    uint32_t *image, *preimage, *touched; /* [link]: the map of links from one slice to another, and back */
    uint32_t touched_count;
    struct fold_pairs coupling;   /* (link, group): links that coupling groups use and that are not roomy */
    struct fold_pairs own;        /* (link, sender): the same of senders, in all slices */
    struct fold_pairs conflicts;  /* (sender, group): their routes meet on such a link, in some slice */
    struct fold_pairs neighbours; /* (sender, sender): the same of two senders */
};

static inline bool fold_couples(const struct fold_proof *proof, const struct group *group)
{
    return group->axes >> proof->axis_index & 1;
}

static inline uint32_t fold_slice(const struct fold_proof *proof, uint32_t rank)
{
    return rank / proof->axis->stride % proof->axis->size;
}

#endif
