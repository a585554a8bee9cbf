/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RECORD_MAX = 1 << 20 };

/* Numbers are the machine's own. */
struct head {
    struct journal_identity identity;
    uint32_t checksum;
};

struct record {
    uint32_t checksum; /* of the bytes that follow */
    uint32_t size;
};

/* CRC-32 (ISO 3309), eight steps for each byte: there is little to check. */
static uint32_t checksum_of(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint32_t sum = ~UINT32_C(0);
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    }
    return ~sum;
}

static struct head head_of(const struct journal_identity *identity)
{
    struct head head;
    memset(&head, 0, sizeof head); /* padding, too: it is summed */
    memcpy(head.identity.title, identity->title, sizeof head.identity.title);
    head.identity.fingerprint = identity->fingerprint;
    head.identity.count = identity->count;
    head.identity.shard = identity->shard;
    head.identity.shards = identity->shards;
    head.checksum = checksum_of(&head.identity, sizeof head.identity);
    return head;
}

/* ---- reading ---- */

static bool read_head(FILE *in, const char *file, const struct journal_identity *identity, struct head *head,
                      struct fault *fault)
{
    if (fread(head, sizeof *head, 1, in) != 1 ||
        memcmp(head->identity.title, identity->title, sizeof identity->title) != 0 ||
        head->checksum != checksum_of(&head->identity, sizeof head->identity))
        return fault_set(fault, "%s is no journal of a %s by this stagesim", file, identity->kind);
    if (head->identity.fingerprint == identity->fingerprint && head->identity.count == identity->count)
        return true;
    return fault_set(fault, "%s is of another %s: the scenario, a file that it names, or an option has changed", file,
                     identity->kind);
}

/* All records that are whole; returns where they end. */
static long read_records(FILE *in, journal_reader *read, void *user)
{
    struct record record;
    long end = ftell(in);
    char *bytes = malloc(RECORD_MAX);
    while (bytes && fread(&record, sizeof record, 1, in) == 1 && record.size <= RECORD_MAX &&
           (!record.size || fread(bytes, record.size, 1, in) == 1) &&
           record.checksum == checksum_of(bytes, record.size)) {
        read(user, bytes, record.size);
        end = ftell(in);
    }
    free(bytes);
    return end;
}

/* Whether nothing was written yet: another process has only just made the file. */
static bool is_empty(FILE *in)
{
    struct stat status;
    return fstat(fileno(in), &status) == 0 && status.st_size == 0;
}

bool journal_read(const char *file, const struct journal_identity *identity, uint32_t *shards, journal_reader *read,
                  void *user, struct fault *fault)
{
    struct head head;
    FILE *in = fopen(file, "rb");
    if (!in)
        return fault_set(fault, "%s: %s", file, strerror(errno));
    bool empty = is_empty(in), ok = empty || read_head(in, file, identity, &head, fault);
    if (ok && !empty) {
        read_records(in, read, user);
        *shards = head.identity.shards;
    }
    fclose(in);
    return ok;
}

/* ---- writing ---- */

/* A file that is no journal, of whatever it may be, is somebody's own. */
static bool may_be_emptied(const char *file, struct fault *fault)
{
    struct head head;
    FILE *in = fopen(file, "rb");
    if (!in)
        return true; /* opening it for writing says why */
    bool fine = is_empty(in) || (fread(&head, sizeof head, 1, in) == 1 &&
                                 head.checksum == checksum_of(&head.identity, sizeof head.identity));
    fclose(in);
    return fine ||
           fault_set(fault, "%s: there is a file that is no journal of stagesim; remove it, or name another", file);
}

static int begin_anew(const char *file, const struct journal_identity *identity, struct fault *fault)
{
    struct head head = head_of(identity);
    if (!may_be_emptied(file, fault))
        return -1;
    int journal = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (journal >= 0 && write(journal, &head, sizeof head) == (ssize_t)sizeof head)
        return journal;
    fault_set(fault, "%s: %s", file, strerror(errno));
    if (journal >= 0)
        close(journal);
    return -1;
}

/* Reads what there is and cuts the rest off. */
static int go_on(const char *file, const struct journal_identity *identity, journal_reader *read, void *user,
                 struct fault *fault)
{
    struct head head;
    FILE *in = fopen(file, "rb");
    if (!in) {
        fault_set(fault, "%s: %s", file, strerror(errno));
        return -1;
    }
    bool ok = read_head(in, file, identity, &head, fault);
    if (ok && (head.identity.shard != identity->shard || head.identity.shards != identity->shards))
        ok = fault_set(fault, "%s is shard %u of %u", file, head.identity.shard, head.identity.shards);
    long end = ok ? read_records(in, read, user) : 0;
    fclose(in);
    int journal = ok ? open(file, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (ok && (journal < 0 || ftruncate(journal, end)))
        fault_set(fault, "%s: %s", file, strerror(errno));
    return journal;
}

int journal_open(const char *file, const struct journal_identity *identity, bool resume, journal_reader *read,
                 void *user, struct fault *fault)
{
    struct stat status;
    bool begun = stat(file, &status) == 0 && status.st_size >= (off_t)sizeof(struct head);
    return resume && begun ? go_on(file, identity, read, user, fault) : begin_anew(file, identity, fault);
}

int journal_extend(const char *file, struct fault *fault)
{
    int journal = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (journal < 0)
        fault_set(fault, "%s: %s", file, strerror(errno));
    return journal;
}

bool journal_append(int journal, const void *bytes, size_t size)
{
    struct record record = {checksum_of(bytes, size), (uint32_t)size};
    struct iovec parts[] = {{&record, sizeof record}, {(void *)(uintptr_t)bytes, size}};
    ssize_t whole = (ssize_t)(sizeof record + size), written = size <= RECORD_MAX ? writev(journal, parts, 2) : -1;
    if (size > RECORD_MAX)
        errno = EFBIG;
    if (written >= 0 && written < whole)
        errno = ENOSPC; /* a part was written: the disk is full */
    return written == whole;
}

/* ---- fingerprints ---- */

/* FNV-1a, 64 bits. */
uint64_t journal_fingerprint(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

uint64_t journal_fingerprint_file(uint64_t sum, const char *file)
{
    char block[65536];
    FILE *in = fopen(file, "rb");
    for (size_t size; in && (size = fread(block, 1, sizeof block, in)) > 0;)
        sum = journal_fingerprint(sum, block, size);
    if (in)
        fclose(in);
    return sum;
}
