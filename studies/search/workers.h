/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a search: they look at every candidate, then time those that may matter, the most promising first.
 */
#ifndef STAGESIM_SEARCH_WORKERS_H
#define STAGESIM_SEARCH_WORKERS_H

#include "studies/search/space.h"
#include "studies/search/table.h"

struct arena;

/* How a search is to go on. */
struct search_request {
    uint32_t kept;          /* how many of the best have to be exact; 1 .. SEARCH_KEPT_MAX */
    unsigned jobs;          /* processes */
    bool exhaustive;        /* time all that fits */
    bool fastest;           /* only times matter: a slower layout need not be timed, however small it is */
    double ceiling;         /* seconds: of what takes longer, nothing is asked; 0: any time */
    bool one_of_many;       /* searches of one command: nobody is told of values that no layout of this one has */
    bool quiet;             /* no progress */
    bool silent;            /* nobody is told of mistakes in what is searched */
    double time_limit;      /* seconds that there are, after which interruption_noted() says so; 0: any number */
    uint32_t shard, shards; /* only candidates shard - 1, shard - 1 + shards, ...; 1 of 1: all */
    const char *journal;    /* file; NULL: none */
    bool resume;            /* what the journal has need not be done again */
    /* What follows: how many of the best are evaluated once more; are simulated with contention. */
    uint32_t exposed, simulated;
};

struct search_work {
    const struct scenario *scenario;
    const struct search_space *space;
    const struct search_request *request;
    struct search_table *table;
    int journal; /* -1: none */
};

/* Fills the table. Ends early, without being a failure, when the time is up or the user interrupts (*stopped). Returns
 * an exit code after every mistake was reported on standard error. */
int search_work(const struct search_work *work, bool *stopped);

#endif
