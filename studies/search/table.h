/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of every candidate of a search: in a file that has no name, which processes share and the system may
 * write out, so that memory does not grow with the candidates. */
#ifndef STAGESIM_SEARCH_TABLE_H
#define STAGESIM_SEARCH_TABLE_H

#include "base/diagnostics.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum search_status {
    SEARCH_UNTRIED,      /* not looked at */
    SEARCH_WAITS,        /* fits, or only a run can say; not timed yet */
    SEARCH_PASSED,       /* fits, and need not be timed */
    SEARCH_FITS,         /* timed */
    SEARCH_DOES_NOT_FIT, /* not timed */
    SEARCH_ILLEGAL
};

/* Which bound says that a candidate need not be timed. */
enum search_bound { SEARCH_NO_BOUND, SEARCH_BY_WORK, SEARCH_BY_ORDER, SEARCH_BOUNDS };

enum { SEARCH_REASON_MAX = 240 };

/* What becomes of a training with the layout. All 0: not known, or it never ends. */
struct search_training {
    double seconds, price, goodput; /* medians of the simulated trainings; price 0: not known */
};

/* What a run on the SimGrid engine says of a layout; all 0: it was not run. Seconds, joules (0: not known), shares of
 * the iteration; `step` as in struct search_result. */
struct search_verified {
    double iteration, energy, bubble, exposed;
    double step;
    struct search_training training;
    uint32_t settled;   /* iterations that these are of, where one is not like the next; 0: as the scenario says */
    uint32_t unsettled; /* 1: the next iteration may take another time, and nobody found out */
};

/* One candidate; plain data without holes that differ. Seconds and bytes. */
struct search_result {
    uint32_t micro_batches;
    uint8_t status, bound; /* enum search_status, enum search_bound */
    uint8_t pareto;        /* ranked, and nothing that fits is both faster and smaller */
    uint8_t reason_length;
    uint64_t reason;                   /* SEARCH_ILLEGAL: where in the file of reasons the first mistake is */
    double work, order;                /* bounds of the time; 0: not known */
    double iteration, samples_per_s;   /* SEARCH_FITS */
    double mfu, bubble;                /* mfu 0: not known */
    double peak_bytes, capacity_bytes; /* of the fullest rank; 0: not known */
    double energy;                     /* joules of an iteration; 0: not known */
    double step;                       /* the objective's quantile of steps that vary; 0: not known */
    struct search_training training;
    struct search_verified verified;
    uint64_t job; /* a hash of the job that the candidate is; 0: not known */
};

struct search_table {
    uint64_t count;
    struct search_result *results; /* [count] */
    int reasons;                   /* a file */
    _Atomic uint64_t *reasons_end;
};

/* False with the fault filled. Finish it all the same. */
bool search_table_create(struct search_table *table, uint64_t count, struct fault *fault);
void search_table_finish(struct search_table *table);

/* Keeps a text, cut after SEARCH_REASON_MAX - 1 characters, and notes it in the result; reads it back. */
void search_table_put_reason(struct search_table *table, struct search_result *result, const char *reason);
void search_table_get_reason(const struct search_table *table, const struct search_result *result,
                             char reason[SEARCH_REASON_MAX]);

#endif
