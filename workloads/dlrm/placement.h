/* SPDX-License-Identifier: Apache-2.0 */
/* Where embedding tables lie: each as a whole on one rank, cut by rows or by columns over several, or copied to all. */
#ifndef STAGESIM_DLRM_PLACEMENT_H
#define STAGESIM_DLRM_PLACEMENT_H

#include "workloads/dlrm/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dlrm_split {
    DLRM_WHOLE,      /* one rank has the table */
    DLRM_ROWS,       /* each of its ranks has a part of the rows, and sums what it has of a sample */
    DLRM_COLUMNS,    /* each of its ranks has a part of every row */
    DLRM_REPLICATED, /* every rank of the job has the table, and looks up its own samples */
    DLRM_HOST,       /* whole, in the memory of one rank's host: rows come and go with every batch */
};

/* Words of the scenario for them, NULL-terminated. */
extern const char *const dlrm_split_names[];

/* A table's place. */
struct dlrm_place {
    enum dlrm_split split;
    uint32_t count;  /* of ranks, at least 1 */
    uint32_t *ranks; /* rising */
};

struct dlrm_placement {
    uint32_t tables, ranks;
    struct dlrm_place *places; /* [table] */
};

/* The i-th table as a whole on rank i modulo ranks. The caller owns what is in it. */
void dlrm_placement_init(struct dlrm_placement *placement, uint32_t tables, uint32_t ranks);
/* NULL is fine. */
void dlrm_placement_finish(struct dlrm_placement *placement);
/* Gives a table another place: on `count` different ranks below the placement's number, at least one; of a whole table
 * exactly one, also in host memory. Of a replicated one `ranks` is not read. Copies `ranks`, in any order. */
void dlrm_placement_set(struct dlrm_placement *placement, uint32_t table, enum dlrm_split split, const uint32_t *ranks,
                        uint32_t count);

/* What one rank has of a table. */
struct dlrm_share {
    bool any;
    double rows, width; /* of its part */
    double pooling;     /* lookups of a sample there */
    double sums;        /* numbers of a sample that it sends to the rank of the sample; 0 of a replicated table */
};
struct dlrm_share dlrm_placement_share(const struct dlrm_placement *placement, const struct dlrm_table *table,
                                       uint32_t index, uint32_t rank);

/* Ranks as text, "0-3 5": numbers and ranges, with blanks or commas between them; "all": as many as there are. Fills
 * ranks[0 .. limit), rising and without repetition; returns how many, or 0 with the fault filled. */
struct fault;
uint32_t dlrm_ranks_parse(const char *text, uint32_t limit, uint32_t *ranks, struct fault *fault);

#endif
