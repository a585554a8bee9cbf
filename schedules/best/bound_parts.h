/* SPDX-License-Identifier: Apache-2.0 */
/* What the bound keeps; for bound*.c only. */
#ifndef STAGESIM_BOUND_PARTS_H
#define STAGESIM_BOUND_PARTS_H

#include "schedules/best/bound.h"
#include "schedules/best/jackson.h"

struct arena;

/* Work that must be done on a worker before something else can start, by earliest start. after[i] is when a worker that
 * runs it in this order is done with the first i + 1; the first `known` of these are found. */
struct backlog {
    int64_t *head, *length, *after;
    uint32_t count, known;
};

/* What a worker still has to do behind an operation, as work that precedes it in reversed time. Behind a forward come
 * the worker's later forwards and every backward and weight gradient of its own and later micro-batches. */
struct behind {
    struct backlog *forward, *backward; /* [stage] */
};

struct bound {
    const struct instance *instance;
    int64_t *tails, *heads;
    struct backlog *before; /* [stage]: what precedes the next backward of the stage on its worker */
    struct backlog
        *room;        /* [worker]: ends of releases (in tails: what follows forwards), for a limit of several stages */
    uint32_t *rank;   /* [stage]: among the stages of its worker */
    uint32_t *to;     /* [chain]: where the part ends that is looked at; the whole: all micro-batches */
    int64_t *after;   /* [worker]: what follows the part on it */
    uint32_t most_to; /* the largest of `to` */
    uint32_t first;   /* micro-batches of which everything is decided: they are passed over */
    struct behind *behind;
    struct jackson jackson;
};

/* ---- backlog.c ---- */

void backlog_add(struct backlog *backlog, int64_t head, int64_t length);
/* When the worker is done with all of it, which it begins at `from` at the earliest, the same whenever it is asked. */
int64_t backlog_end(struct backlog *backlog, int64_t from);
void backlog_create(struct backlog *backlog, uint32_t capacity, struct arena *arena);

/* ---- bound_release.c ---- */

/* The time of the `count`-th release of a worker at the earliest; -1: there is none so far. */
int64_t bound_release_at(const struct bound *bound, uint32_t worker, uint32_t count);
/* A worker that holds several stages shares its limit among them. When the forward of a micro-batch begins in its
 * stage of that rank, those of the same and earlier micro-batches have begun in all stages up to this one. Releases
 * make room; before the first of a micro-batch all of its forwards on the worker have begun. So with releases of
 * `through` micro-batches, at most all of them, and forwards[i] begun in the i-th stage otherwise, sum over i of
 * max(forwards[i], through) - limit <= releases <= stages x through: the least `through` says how many there are at
 * least. */
uint32_t bound_releases_least(const struct instance *instance, uint32_t worker, const uint32_t *forwards);
/* How many micro-batches are through the last stage at least: each of the others holds a stash wherever its forward has
 * begun on this worker, and the first of them needs one in every stage (see leaves_a_way in moves.c). UINT32_MAX: the
 * limit is too small for a single one. */
uint32_t bound_through_least(const struct instance *instance, uint32_t worker, const uint32_t *forwards);

/* ---- bound_stashes.c ---- */

/* When everything can be done by what the stashes of each worker take of its limit over time. */
int64_t bound_stashes(const struct instance *instance);

/* ---- bound_tails.c ---- */

/* Tails of the micro-batches from `first` on, as far as the part has them. */
void bound_find_tails(struct bound *bound, uint32_t first);

#endif
