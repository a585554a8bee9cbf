/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the fastest layouts of a search space that fit in memory, on the analytic engine, in several processes. */
#ifndef STAGESIM_SEARCH_H
#define STAGESIM_SEARCH_H

#include "analysis/band/band.h"
#include "analysis/band/memory_band.h"
#include "studies/search/journal.h"
#include "studies/search/space.h"
#include "studies/search/table.h"
#include "studies/search/workers.h"

/* Why candidates are left out. */
struct search_reason {
    uint64_t count;
    const char *text; /* of the first of them; the others differ in numbers at most */
};

struct search {
    const struct scenario *scenario;
    struct search_space space;
    struct search_table table;
    struct search_identity identity;
    enum search_objective objective;
    uint32_t kept; /* how many of the best are exact */
    /* Candidates that were timed, the best first, then the smallest, then by number: ranked_count of them, in memory
     * that search_finish gives back. Of those with equal time and memory all but the first are like it. */
    uint64_t *ranked;
    uint64_t ranked_count, different; /* different: without those that are like another */
    uint64_t same;                    /* of those that are like another: that are the same job as one of these */
    uint64_t *best; /* the first best_count different ones, where they are in `ranked`; in the order of the time on
                       SimGrid where it was asked */
    uint32_t best_count;
    double *exposed; /* [best_count]: communication in the way, means over ranks, as a share of the iteration on the
                        analytic engine; NAN: not known. NULL: not asked for */
    uint64_t untried, waiting, unfit, illegal; /* candidates not looked at; that fit, perhaps, and were not timed */
    uint64_t passed[SEARCH_BOUNDS];            /* discarded by a bound */
    struct search_reason *reasons;             /* of the illegal ones, the most frequent first */
    size_t reason_count;
    struct band band;               /* of the measured times of such jobs over the predicted ones, of all candidates */
    struct memory_band memory_band; /* the same of their memory */
    bool stopped;                   /* before it was done */
    uint32_t merged_shards;         /* parts that the search was cut into; 0: not merged */
};

/* What the best one has least of: seconds, joules, their product, the days or the price of a training, or the inverse
 * of its goodput; on SimGrid where the layout was simulated and `verified` asks for it. INFINITY: not known. */
double search_value(const struct search *search, const struct search_result *result, bool verified);

/* Prepares a search: its space, on the platform's GPUs, and an empty table. Returns an exit code after every mistake
 * was reported on standard error. Memory from the arena; finish it all the same. */
int search_create(struct search *search, const struct scenario *scenario, const struct search_request *request,
                  struct arena *arena);
void search_finish(struct search *search);

/* Fills the table in request->jobs processes; with a journal, from and to it. */
int search_run(struct search *search, const struct search_request *request);
/* Fills the table from parts, which are the journals of the same search. */
int search_merge(struct search *search, const char *const *files, size_t count);

/* Opens the request's journal for what is simulated; what it has goes to the table. Returns an exit code. */
int search_begin_journal(struct search *search, const struct search_request *request);

/* Ranks what is in the table. What bounds discard in the light of all that was timed is discarded, timed or not, so
 * that the outcome does not depend on the order in which candidates were tried. False with the fault filled. */
bool search_rank(struct search *search, const struct search_request *request, struct arena *arena, struct fault *fault);

/* Simulates the best `count` on the SimGrid engine and orders them by it. Those that are known are not run again. Only
 * every shards-th, from the shard-th on, where `shards` is larger than 1; what is found goes to the journal, if any.
 * Stops early, without being a failure, when the user interrupts. Returns an exit code. */
int search_verify(struct search *search, uint32_t count, const struct search_request *request, struct arena *arena);

/* Finds out what communication of the best `count` is exposed; nothing after an interruption. Memory from the arena.
 * Returns an exit code. */
int search_expose(struct search *search, uint32_t count, struct arena *arena);

#endif
