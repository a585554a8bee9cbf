/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-alls in which each pair of members has its own bytes (MPI's alltoallv), as ranks with unequal parts of a model
 * exchange them. */
#ifndef STAGESIM_PROGRAM_PAIR_BYTES_H
#define STAGESIM_PROGRAM_PAIR_BYTES_H

#include <stdint.h>

struct arena;

/* PAIRS_MEMBERS_MAX squared bounds the pairs of one all-to-all. A program has at most PAIRS_MAX of them altogether. */
enum { PAIRS_MEMBERS_MAX = 2048, PAIRS_MAX = 1 << 24 };

/* Over the size of the collective: what goes from a member to another, and what a member keeps for itself. */
struct pair_bytes {
    uint32_t members;
    double *shares; /* [from * members + to] */
    double *sent;   /* [member]: bytes to others, exactly */
};

/* The size of the collective with nccl-tests' meaning: the mean of what a member has for all members, itself included.
 * Where all pairs have equally many bytes it is that of an ordinary all-to-all. */
double pair_bytes_size(const double *bytes, uint32_t members);
/* From bytes, [from * members + to]; the caller finishes it. */
struct pair_bytes pair_bytes_create(const double *bytes, uint32_t members);
void pair_bytes_finish(struct pair_bytes *pairs);
struct pair_bytes pair_bytes_copy(const struct pair_bytes *pairs, struct arena *arena);
/* The first member that neither sends to nor receives from another; `members` where there is none. */
uint32_t pair_bytes_find_idle(const double *bytes, uint32_t members);

#endif
