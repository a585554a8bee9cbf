/* SPDX-License-Identifier: Apache-2.0 */
/* Many simulations of one training, by several processes, with a journal from which they go on. */
#ifndef STAGESIM_TRAININGS_H
#define STAGESIM_TRAININGS_H

#include "base/files/journal.h"
#include "job/scenario/scenario.h"
#include "training/plan.h"

struct training_job;

/* Runs that are noted at a time. */
enum { TRAININGS_BLOCK = 16 };

struct trainings_request {
    const struct scenario *scenario;
    const struct training_job *job;
    const struct training_plan *plan; /* of both */
    uint32_t runs;
    unsigned jobs;          /* processes at a time, at least 1 */
    bool quiet;             /* no progress */
    double time_limit;      /* seconds; 0: none */
    uint32_t shard, shards; /* only blocks shard - 1, shard - 1 + shards, ...; 1 of 1: all */
    const char *journal;    /* file; NULL: none */
    bool resume;            /* what the journal has need not be done again */
};

struct trainings {
    const struct trainings_request *request;
    uint32_t blocks;
    struct training_run *runs; /* [request->runs], shared between processes */
    bool *known;               /* [blocks], too */
    struct journal_identity identity;
    bool stopped; /* before all of the part were known */
};

/* False with the fault filled. The caller ends it with trainings_destroy, also then. */
bool trainings_create(struct trainings *trainings, const struct trainings_request *request, struct fault *fault);
void trainings_destroy(struct trainings *trainings);
/* Simulates what is not known of the shard's blocks. Ends early when it is interrupted, the time is up, or a training
 * does not get on. An exit code after the mistake was reported. */
int trainings_run(struct trainings *trainings);
/* Takes the runs of journals; *shards becomes the number of parts that they say there are. An exit code after the
 * mistake was reported. */
int trainings_read(struct trainings *trainings, const char *const *files, size_t count, uint32_t *shards);
/* Which of so many parts lack blocks; missing[part - 1]. Returns how many. */
uint32_t trainings_missing(const struct trainings *trainings, uint32_t shards, bool *missing);
/* Takes the parts of the same trainings; an exit code after the mistake was reported, also where some are missing. */
int trainings_merge(struct trainings *trainings, const char *const *files, size_t count);

#endif
