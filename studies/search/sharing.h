/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of a search share, for their sources alone: child.c (what a process does with candidates) and
 * workers.c (the parent, which says what is to be done). */
#ifndef STAGESIM_SEARCH_SHARING_H
#define STAGESIM_SEARCH_SHARING_H

#include "studies/search/bounds.h"
#include "studies/search/estimate.h"
#include "studies/search/floors.h"
#include "studies/search/workers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/types.h>

struct class_store;
struct diag;
struct plan_store;
struct platform;

enum { SEARCH_BLOCK = 256 }; /* candidates that are looked at by one process */

/* The steps of a search. The parent says which it is; where time is limited, the first two take turns. In between, no
 * process begins anything. */
enum step { STEP_LOOK, STEP_TIME, STEP_BETWEEN, STEP_DONE };

/* What the processes share. */
struct shared {
    atomic_int step;
    atomic_bool stop, lost;            /* asked to stop; a process has died */
    atomic_int failed;                 /* errno of a journal that cannot be written; 0: it can */
    atomic_bool troubled;              /* a file could not be read again, or there was no memory */
    atomic_bool timed;                 /* some layout that fits was timed */
    atomic_bool fitting;               /* some layout is known to fit */
    atomic_uint busy;                  /* processes that may be at a candidate */
    _Atomic uint64_t next[2], done[2]; /* of either step */
    _Atomic uint64_t waiting, turn;    /* candidates of the second step so far, and before this turn */
    struct search_spent spent[2];      /* on them, by either step */
    struct search_bounds bounds;
};

struct working {
    const struct search_work *work;
    struct shared *shared;
    uint64_t *order;             /* candidates of the second step; of each turn the smallest bound first */
    uint64_t own;                /* candidates of this shard */
    uint64_t blocks, stride;     /* the same in blocks, and how far apart these are looked at */
    uint64_t scattered;          /* how far apart candidates are where they are looked at one by one */
    struct search_floors floors; /* say nothing but where only the fastest is asked for */
    struct class_store *classes; /* of a child, too */
    struct plan_store *plans;    /* of a child; NULL: nothing is shared */
    struct turns *turns;         /* of the parent */
    pid_t parent;
    /* The parent's part: goes to the next step where it is time to; true: it did. */
    bool (*take_turns)(struct working *w);
};

/* ---- child.c ---- */

/* A process's part of the work (struct working *user), until the parent says that all is done or that it is over. As
 * struct simulation_visit asks for it. */
int search_child(void *user, struct platform *platform, FILE *results, struct diag *diag);

/* The number-th candidate of the shard. */
uint64_t search_index(const struct working *w, uint64_t number);

/* When to go from one step to the other. */
struct turns {
    double limit, end; /* seconds that there are, and when they are over */
    double look_until; /* then what was looked at is timed; 0: all is looked at first */
    double graced;     /* until then layouts are timed after an interruption that came before any was; 0: none did */
    bool first;        /* nothing was timed yet */
};
/* Whether all processes are to end. */
bool search_is_over(const struct working *w);

/* Tells bounds of a layout that fits and was timed. */
void search_note_timed(const struct working *w, const struct search_result *result);

#endif
