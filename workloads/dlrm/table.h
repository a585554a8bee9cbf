/* SPDX-License-Identifier: Apache-2.0 */
/* An embedding table, and how many of its rows a batch reads. */
#ifndef STAGESIM_DLRM_TABLE_H
#define STAGESIM_DLRM_TABLE_H

#include <stdint.h>

struct dlrm_table {
    const char *name;
    double rows;    /* E */
    uint64_t width; /* D: numbers of a row; 0 in a description: that of the model */
    double pooling; /* L: rows that are summed for a sample, on the mean */
    /* How indices are distributed; at most one is given, none of them: all rows are equally likely. */
    double zipf;   /* the k-th row is drawn with a probability in proportion to k to the power of minus this; 0: not
                      given */
    double unique; /* different rows that a batch reads, as a share of its lookups; 0: not given */
};

/* Different rows that `lookups` draws from a table read, on the mean. All rows equally likely: E (1 - (1 - 1/E)^n).
 * With Zipf's law the sum of 1 - (1 - p)^n over rows of probability p: row by row for the first 4,096, then over ranges
 * of rows whose ends are 1 % apart. The lookups themselves are the most. */
double dlrm_unique_rows(const struct dlrm_table *table, double lookups);

/* The rows of a table without preferences of which as many lookups would read `unique` different ones: as many as the
 * table has where its rows are equally likely. */
double dlrm_equivalent_rows(double unique, double lookups);

#endif
