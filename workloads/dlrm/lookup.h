/* SPDX-License-Identifier: Apache-2.0 */
/* What looking up rows of embedding tables moves, and how much of it the cache holds: the model of Lin et al. (arXiv
 * 2404.12674; their programs' analysis of the fused lookup of FBGEMM). */
#ifndef STAGESIM_DLRM_LOOKUP_H
#define STAGESIM_DLRM_LOOKUP_H

#include "workloads/dlrm/memory_curve.h"
#include "workloads/dlrm/table.h"

/* A table on one rank: the part of it that the rank looks up for a batch. */
struct lookup {
    double rows;    /* of the table on this rank */
    double width;   /* numbers of its rows on this rank */
    double pooling; /* rows summed for a sample on this rank */
    double samples; /* B */
    double unique;  /* different rows that the batch reads here */
};

/* Bytes in sectors of 32. A sample's lookups of a table read 96 bytes of offsets, their indices of 4 bytes, their rows
 * of 4 bytes a number, and write the sum. */
struct lookup_traffic {
    double cached_rows; /* X: of the table in the cache at a time */
    double hit_rate;    /* of rows that are read */
    double all;         /* bytes, with rows of each lookup */
    double memory;      /* the same without rows that the cache holds */
    double cache;       /* bytes of rows from the cache */
    double backward;    /* bytes of gradients, indices, and rows that are read and written for each lookup */
    double update;  /* the same with each row that was looked up read and written once: gradients of a row are added up
                       first */
    double touched; /* bytes of the rows that were looked up, each once */
    double slower;  /* factor of narrow rows: 1 above 64 numbers, 1.1 above 32, otherwise 1.55 */
};

/* `state`: numbers of optimizer state per number of a row, read and written with it. */
struct lookup_traffic lookup_traffic(const struct lookup *lookup, const struct memory_curve *curve, double state);

#endif
