/* SPDX-License-Identifier: Apache-2.0 */
/* Items that are computed each for itself, named by their numbers: trainings, steps. Several processes compute them in
 * blocks, with a journal from which they go on, in one run or in parts; the items are the same whoever does them. */
#ifndef STAGESIM_BLOCKS_H
#define STAGESIM_BLOCKS_H

#include "base/files/journal.h"

#include <stdio.h>

struct scenario;

struct blocks_request {
    const char *command, *item; /* for people: "train", "run" */
    uint32_t items, per_block;  /* in all; noted at a time */
    size_t size;                /* of an item, which has no pointers */
    /* Fills items `from` to from + count - 1. False: one of them says it of all, and none behind them need be known.
     */
    bool (*fill)(void *user, uint32_t from, uint32_t count, void *items);
    bool (*ends)(const void *item); /* whether an item is such a one; NULL: none is */
    void *user;
    struct journal_identity identity; /* all but count and shards */
    unsigned jobs;                    /* processes at a time, at least 1 */
    FILE *bar;                        /* for its progress; NULL: none */
    FILE *out;                        /* for mistakes */
    double time_limit;                /* seconds; 0: none */
    uint32_t shard, shards;           /* only blocks shard - 1, shard - 1 + shards, ...; 1 of 1: all */
    const char *journal;              /* file; NULL: none */
    bool resume;                      /* what the journal has need not be done again */
};

struct blocks {
    const struct blocks_request *request;
    struct journal_identity identity;
    uint32_t count;
    void *items;  /* shared between processes */
    bool *known;  /* [count], too */
    bool stopped; /* before all of the part were known */
};

/* Of a scenario with all its sections, its file and its platform's, and of an item's size: the part of an identity that
 * all have. */
uint64_t blocks_fingerprint(const struct scenario *scenario, size_t size);

/* False with the fault filled. The caller ends it with blocks_destroy, also then. */
bool blocks_create(struct blocks *blocks, const struct blocks_request *request, struct fault *fault);
void blocks_destroy(struct blocks *blocks);
/* Computes what is not known of the shard's blocks. Ends early when it is interrupted, the time is up, or an item ends
 * all. An exit code after the mistake was reported. */
int blocks_run(struct blocks *blocks);
/* Takes the items of journals; *shards becomes the number of parts that they say there are. An exit code after the
 * mistake was reported. */
int blocks_read(struct blocks *blocks, const char *const *files, size_t count, uint32_t *shards);
/* Which of so many parts lack blocks; missing[part - 1]. Returns how many. */
uint32_t blocks_missing(const struct blocks *blocks, uint32_t shards, bool *missing);
/* Takes all parts; an exit code after the mistake was reported, also where some are missing. */
int blocks_merge(struct blocks *blocks, const char *const *files, size_t count);

#endif
