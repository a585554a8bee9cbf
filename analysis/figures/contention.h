/* SPDX-License-Identifier: Apache-2.0 */
/* What contention adds: the timelines of one program on both engines side by side. Seconds. */
#ifndef STAGESIM_CONTENTION_H
#define STAGESIM_CONTENTION_H

#include "analysis/figures/frame.h"
#include "platforms/platform.h"

struct arena;

enum { CONTENTION_DELAYS_MAX = 10, CONTENTION_LINKS_MAX = 4 };

/* All operations of one type and kind. A message counts once, where it is sent; a collective at every member. */
struct contention_kind {
    uint8_t type, kind;      /* enum operation_type, enum stagesim_kind */
    uint64_t count;          /* per iteration, all ranks */
    double alone, contended; /* time in which they run (data move), per iteration, mean over ranks */
};

/* A link of an operation's route that other transfers used at the same time. */
struct contention_link {
    const char *name;
    uint64_t others; /* transfers of other operations */
};

struct contention_delay {
    uint32_t rank, id;
    uint32_t peer;    /* message: the receiving rank; collective: UINT32_MAX */
    const char *text; /* as in tables: "activation 3.1" */
    double alone, contended;
    struct contention_link links[CONTENTION_LINKS_MAX]; /* most used first, then in the order of names; none where only
                                                           the collective's own transfers share, unequally */
    uint32_t link_count;
};

struct contention {
    double alone, contended;       /* T on either engine */
    struct contention_kind *kinds; /* computations, messages, collectives, delays; by kind */
    uint32_t kind_count;
    struct contention_delay
        *delays; /* the transfers that take longest compared with the time without contention, longest first */
    uint32_t delay_count;
};

/* `alone` is the analytic timeline of the program of `contended`, the frame of a SimGrid timeline; each may represent
 * other ranks by equal ones. Memory from the arena. */
struct contention *contention_create(const struct timeline *alone, const struct frame *contended,
                                     struct platform *platform, const uint32_t *hosts, struct arena *arena);

/* ---- contention_links.c ---- */

/* Finds the links of the delays. */
void contention_find_links(struct contention *contention, const struct timeline *timeline, struct platform *platform,
                           const uint32_t *hosts, struct arena *arena);

#endif
