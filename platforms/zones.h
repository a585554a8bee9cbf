/* SPDX-License-Identifier: Apache-2.0 */
/* The zones of a SimGrid platform file as a tree in which equal neighbours are folded: "64 x pod of 32 x node of 8
 * hosts". */
#ifndef STAGESIM_ZONES_H
#define STAGESIM_ZONES_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;

struct zone {
    uint32_t count;                 /* equal zones that follow each other, this one being the first */
    const char *name, *last;        /* ids of the first and of the last of them */
    const char *routing;            /* "Full", "Floyd", ...; of a <cluster> its topology, such as "TORUS 8,8" */
    const char *router;             /* the first router in it, or NULL */
    uint32_t hosts, routers, links; /* declared in it, zones inside not counted */
    const char *speed;              /* of its first host, as written; NULL without */
    uint64_t total_hosts;           /* of one zone, those of zones inside counted */
    struct zone *child, *next;      /* folded; NULL at the end */
    uint64_t shape;                 /* equal for zones of equal content, names aside */
};

/* The outermost zone in the arena; NULL with the fault filled when the file is no well-formed platform XML. SimGrid's
 * reader has to have accepted the file before: this one looks at zones only. */
const struct zone *zones_read(const char *path, struct arena *arena, struct fault *fault);

#endif
