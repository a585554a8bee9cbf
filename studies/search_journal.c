/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file begins with a line for people and the identity; entries follow. Numbers are the machine's own. */
static const char title[32] = "stagesim search journal 1\n";

struct head {
    char title[sizeof title];
    struct search_identity identity;
    uint32_t entry_bytes; /* of an entry without its reason */
    uint32_t checksum;
};

struct entry {
    uint32_t checksum; /* of what follows, the reason included */
    uint32_t reason_bytes;
    uint64_t index;
    struct search_result result;
};

/* CRC-32 (ISO 3309), eight steps for each byte: there is little to check. */
static uint32_t checksum_of(uint32_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    sum = ~sum;
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    }
    return ~sum;
}

static uint32_t entry_checksum(const struct entry *entry, const char *reason)
{
    uint32_t sum = checksum_of(0, &entry->reason_bytes, sizeof *entry - offsetof(struct entry, reason_bytes));
    return checksum_of(sum, reason, entry->reason_bytes);
}

static struct head head_of(const struct search_identity *identity)
{
    struct head head;
    memset(&head, 0, sizeof head); /* padding, too: it is summed */
    memcpy(head.title, title, sizeof title);
    head.identity.fingerprint = identity->fingerprint;
    head.identity.count = identity->count;
    head.identity.shard = identity->shard;
    head.identity.shards = identity->shards;
    head.entry_bytes = sizeof(struct entry);
    head.checksum = checksum_of(0, &head, offsetof(struct head, checksum));
    return head;
}

/* ---- reading ---- */

static bool read_head(FILE *in, const char *file, const struct search_identity *identity, struct head *head,
                      struct fault *fault)
{
    if (fread(head, sizeof *head, 1, in) != 1 || memcmp(head->title, title, sizeof title) != 0 ||
        head->checksum != checksum_of(0, head, offsetof(struct head, checksum)) ||
        head->entry_bytes != sizeof(struct entry))
        return fault_set(fault, "%s is no journal of a search by this stagesim", file);
    if (head->identity.fingerprint != identity->fingerprint || head->identity.count != identity->count)
        return fault_set(fault,
                         "%s is of another search: the scenario, its platform, what is searched or an option is not as "
                         "it was",
                         file);
    return true;
}

/* The next whole entry. */
static bool read_entry(FILE *in, uint64_t count, struct entry *entry, char reason[SEARCH_REASON_MAX])
{
    if (fread(entry, sizeof *entry, 1, in) != 1 || entry->reason_bytes >= SEARCH_REASON_MAX || entry->index >= count ||
        (entry->reason_bytes && fread(reason, entry->reason_bytes, 1, in) != 1))
        return false;
    reason[entry->reason_bytes] = '\0';
    return entry->checksum == entry_checksum(entry, reason);
}

/* All entries that are whole go to the table; returns where they end. */
static long read_entries(FILE *in, struct search_table *table)
{
    struct entry entry;
    char reason[SEARCH_REASON_MAX];
    long end = ftell(in);
    while (read_entry(in, table->count, &entry, reason)) {
        struct search_result *result = &table->results[entry.index];
        double verified = result->verified;
        if (entry.result.status != SEARCH_UNTRIED)
            *result = entry.result;
        result->verified = entry.result.verified > 0 ? entry.result.verified : verified;
        if (entry.reason_bytes)
            search_table_put_reason(table, result, reason);
        end = ftell(in);
    }
    return end;
}

/* Whether nothing was written yet: another process has only just made the file. */
static bool is_empty(FILE *in)
{
    struct stat status;
    return fstat(fileno(in), &status) == 0 && status.st_size == 0;
}

bool search_journal_read(const char *file, const struct search_identity *identity, struct search_table *table,
                         uint32_t *shards, struct fault *fault)
{
    struct head head;
    FILE *in = fopen(file, "rb");
    if (!in)
        return fault_set(fault, "%s: %s", file, strerror(errno));
    bool empty = is_empty(in), ok = empty || read_head(in, file, identity, &head, fault);
    if (ok && !empty) {
        read_entries(in, table);
        *shards = head.identity.shards;
    }
    fclose(in);
    return ok;
}

/* ---- writing ---- */

static bool write_all(int file, const void *data, size_t size)
{
    return write(file, data, size) == (ssize_t)size;
}

static int begin_anew(const char *file, const struct search_identity *identity, struct fault *fault)
{
    struct head head = head_of(identity);
    int journal = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (journal >= 0 && write_all(journal, &head, sizeof head))
        return journal;
    fault_set(fault, "%s: %s", file, strerror(errno));
    if (journal >= 0)
        close(journal);
    return -1;
}

/* Reads what there is and cuts the rest off. */
static int go_on(const char *file, const struct search_identity *identity, struct search_table *table,
                 struct fault *fault)
{
    struct head head;
    FILE *in = fopen(file, "rb");
    if (!in)
        return fault_set(fault, "%s: %s", file, strerror(errno)), -1;
    bool ok = read_head(in, file, identity, &head, fault);
    if (ok && (head.identity.shard != identity->shard || head.identity.shards != identity->shards))
        ok = fault_set(fault, "%s is shard %u of %u", file, head.identity.shard, head.identity.shards);
    long end = ok ? read_entries(in, table) : 0;
    fclose(in);
    if (!ok)
        return -1;
    int journal = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (journal < 0 || ftruncate(journal, end))
        fault_set(fault, "%s: %s", file, strerror(errno));
    return journal;
}

int search_journal_open(const char *file, const struct search_identity *identity, bool resume,
                        struct search_table *table, struct fault *fault)
{
    struct stat status;
    bool begun = stat(file, &status) == 0 && status.st_size >= (off_t)sizeof(struct head);
    return resume && begun ? go_on(file, identity, table, fault) : begin_anew(file, identity, fault);
}

int search_journal_extend(const char *file, struct fault *fault)
{
    int journal = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (journal < 0)
        fault_set(fault, "%s: %s", file, strerror(errno));
    return journal;
}

bool search_journal_append(int journal, uint64_t index, const struct search_result *result,
                           const struct search_table *table)
{
    struct {
        struct entry entry;
        char reason[SEARCH_REASON_MAX];
    } both;
    memset(&both.entry, 0, sizeof both.entry);
    both.entry.reason_bytes = result->reason_length;
    both.entry.index = index;
    memcpy(&both.entry.result, result, sizeof *result);
    both.entry.result.reason = 0; /* where it was kept here says nothing elsewhere */
    if (result->reason_length)
        search_table_get_reason(table, result, both.reason);
    both.entry.checksum = entry_checksum(&both.entry, both.reason);
    return write_all(journal, &both, sizeof both.entry + result->reason_length);
}
