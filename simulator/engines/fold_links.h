/* SPDX-License-Identifier: Apache-2.0 */
/* Which flows can use a link at one time, and whether it is fast enough for all of them. */
#ifndef STAGESIM_FOLD_LINKS_H
#define STAGESIM_FOLD_LINKS_H

#include "platforms/platform.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLICE_NONE UINT32_MAX
#define SLICE_MANY (UINT32_MAX - 1)

/* Two numbers, sorted by the first. */
struct fold_pair {
    uint32_t link, other;
};

struct fold_pairs {
    struct fold_pair *items;
    size_t count, capacity;
};

void fold_pairs_add(struct fold_pairs *pairs, uint32_t link, uint32_t other);
/* Sorts and removes repetitions. */
void fold_pairs_finish(struct fold_pairs *pairs);
/* Index of the first pair of a link; pairs of the link follow each other. */
size_t fold_pairs_find(const struct fold_pairs *pairs, uint32_t link);

struct fold_links {
    const struct platform *platform;
    uint32_t *slice; /* [link]: the slice whose own flows use it, SLICE_NONE, SLICE_MANY */
    struct fold_pairs
        limits[2];       /* (link, what bounds a flow there): the first and the last of its narrowest narrower links */
    uint32_t flow_count; /* numbers flows that nothing else bounds */
    bool *roomy;         /* [link]; after fold_links_finish */
};

void fold_links_init(struct fold_links *links, const struct platform *platform);
void fold_links_destroy(struct fold_links *links);
/* A flow that can use the route; slice SLICE_NONE: of a coupling collective. */
void fold_links_add(struct fold_links *links, const struct platform_route *route, uint32_t slice);
/* After all were added: in order for fold_links_most. */
void fold_links_sort(struct fold_links *links);
/* Bytes a second that the flows can use of a link at once; INFINITY: as many as it carries. */
double fold_links_most(const struct fold_links *links, uint32_t link);
/* Decides which links are roomy. */
void fold_links_finish(struct fold_links *links);

#endif
