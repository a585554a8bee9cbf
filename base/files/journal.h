/* SPDX-License-Identifier: Apache-2.0 */
/* A journal: records of bytes, each with its checksum, only ever appended. What was written before a process was killed
 * at any moment can be read again. */
#ifndef STAGESIM_JOURNAL_H
#define STAGESIM_JOURNAL_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a journal is of. */
struct journal_identity {
    const char *kind;     /* search, sweep, ...: for messages, and not in the file */
    char title[32];       /* a line for people, the version of the format included */
    uint64_t fingerprint; /* of all that the records depend on */
    uint64_t count;       /* of whatever is numbered in it */
    uint32_t shard, shards;
};

/* Is given the records one after the other. */
typedef void journal_reader(void *user, const void *record, size_t size);

/* Opens a journal for appending. It begins anew without `resume`, in place of an older one
 * but of no other file; with it, records that are there go to `read`, and one
 * that was not written to its end is cut off. Returns a descriptor; -1 with the fault filled, also when the journal is
 * of something else. */
int journal_open(const char *file, const struct journal_identity *identity, bool resume, journal_reader *read,
                 void *user, struct fault *fault);
/* Opens one that there is for appending further; -1 with the fault filled. */
int journal_extend(const char *file, struct fault *fault);
/* Appends a record, at once or not at all. False when it could not be written. */
bool journal_append(int journal, const void *record, size_t size);
/* Reads a journal of the same fingerprint and count, whichever shard it is; *shards becomes the number of shards. An
 * empty file, which another process has only just made, has no records. False with the fault filled. */
bool journal_read(const char *file, const struct journal_identity *identity, uint32_t *shards, journal_reader *read,
                  void *user, struct fault *fault);

/* Fingerprints: begin with JOURNAL_FINGERPRINT and add what counts. A file that cannot be read adds nothing. */
#define JOURNAL_FINGERPRINT UINT64_C(0xcbf29ce484222325)
uint64_t journal_fingerprint(uint64_t sum, const void *data, size_t size);
uint64_t journal_fingerprint_file(uint64_t sum, const char *file);

#endif
