/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a search: what was found, entry by entry, each with its checksum, only ever appended to. A search that
 * was ended at any moment goes on from it, and parts of a search made elsewhere are joined by reading theirs. */
#ifndef STAGESIM_SEARCH_JOURNAL_H
#define STAGESIM_SEARCH_JOURNAL_H

#include "base/files/journal.h"
#include "studies/search/table.h"

/* What a journal is of: searches agree in it if they come to the same results. */
struct search_identity {
    uint64_t fingerprint;   /* of the scenario, its platform and what is searched */
    uint64_t count;         /* candidates */
    uint32_t shard, shards; /* 1 of 1: all of them */
};

/* Opens a journal for appending, by several processes at once; without `resume` it begins anew, with it what it holds
 * goes to the table, and an entry that was not written to its end is cut off. -1 with the fault filled, also when it is
 * of another search. */
int search_journal_open(const char *file, const struct search_identity *identity, bool resume,
                        struct search_table *table, struct fault *fault);
/* Appends one result, at once or not at all. False when it could not be written. */
bool search_journal_append(int journal, uint64_t index, const struct search_result *result,
                           const struct search_table *table);
/* Reads a part; `shards` becomes the number of parts that it is one of. An empty file is one that another process has
 * only just made: it has no entries. False with the fault filled. */
bool search_journal_read(const char *file, const struct search_identity *identity, struct search_table *table,
                         uint32_t *shards, struct fault *fault);

#endif
