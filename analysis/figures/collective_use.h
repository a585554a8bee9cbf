/* SPDX-License-Identifier: Apache-2.0 */
/* How the collectives of a run were carried out: what `auto` chose, or the scenario asked for. */
#ifndef STAGESIM_COLLECTIVE_USE_H
#define STAGESIM_COLLECTIVE_USE_H

#include "analysis/figures/frame.h"

#include <stddef.h>

struct arena;

/* Collectives of one kind and number of ranks that took the same algorithm and protocol. */
struct collective_use {
    const char *collective, *algorithm;
    const char *protocol; /* NULL: the platform names none */
    uint32_t ranks;       /* of each group */
    double least_bytes, most_bytes;
    double count; /* per measured iteration, all groups of the mesh */
};

/* In the order of the program's groups and operations; *count of them, memory from the arena. */
struct collective_use *collective_uses(const struct frame *frame, size_t *count, struct arena *arena);

#endif
