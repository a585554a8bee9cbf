/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/journal.h"

#include <string.h>

/* A record: this, and behind it the reason. */
struct entry {
    uint64_t index;
    struct search_result result;
};

struct both {
    struct entry entry;
    char reason[SEARCH_REASON_MAX];
};

static struct journal_identity identity_of(const struct search_identity *identity)
{
    static const uint32_t entry_bytes = sizeof(struct entry);
    return (struct journal_identity){
        .kind = "search",
        .title = "stagesim search journal 4\n",
        .fingerprint = journal_fingerprint(identity->fingerprint, &entry_bytes, sizeof entry_bytes),
        .count = identity->count,
        .shard = identity->shard,
        .shards = identity->shards,
    };
}

/* What an entry says goes to the table: of the best, one that came later says only the time with contention. */
static void take(void *user, const void *record, size_t size)
{
    struct search_table *table = user;
    struct both both;
    if (size < sizeof both.entry || size >= sizeof both)
        return;
    memcpy(&both, record, size);
    if (both.entry.index >= table->count)
        return;
    both.reason[size - sizeof both.entry] = '\0';
    struct search_result *result = &table->results[both.entry.index];
    struct search_verified verified =
        both.entry.result.verified.iteration > 0 ? both.entry.result.verified : result->verified;
    if (both.entry.result.status != SEARCH_UNTRIED)
        *result = both.entry.result;
    result->verified = verified;
    if (size > sizeof both.entry)
        search_table_put_reason(table, result, both.reason);
}

int search_journal_open(const char *file, const struct search_identity *identity, bool resume,
                        struct search_table *table, struct fault *fault)
{
    struct journal_identity own = identity_of(identity);
    return journal_open(file, &own, resume, take, table, fault);
}

bool search_journal_read(const char *file, const struct search_identity *identity, struct search_table *table,
                         uint32_t *shards, struct fault *fault)
{
    struct journal_identity own = identity_of(identity);
    return journal_read(file, &own, shards, take, table, fault);
}

bool search_journal_append(int journal, uint64_t index, const struct search_result *result,
                           const struct search_table *table)
{
    struct both both;
    memset(&both.entry, 0, sizeof both.entry); /* padding, too */
    both.entry.index = index;
    memcpy(&both.entry.result, result, sizeof *result);
    both.entry.result.reason = 0; /* where it was kept here says nothing elsewhere */
    if (result->reason_length)
        search_table_get_reason(table, result, both.reason);
    return journal_append(journal, &both, sizeof both.entry + result->reason_length);
}
