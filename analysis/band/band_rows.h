/* SPDX-License-Identifier: Apache-2.0 */
/* Published jobs beside predictions, from residuals.csv and memory.csv, and pairs of them, from pairs.csv. */
#ifndef STAGESIM_BAND_ROWS_H
#define STAGESIM_BAND_ROWS_H

#include <stdbool.h>

struct band_row {
    const char *set;                                        /* the publication */
    const char *kind, *framework, *gpu, *nodes, *precision; /* "dense" or "MoE"; "" where not known; "H100"; "one" or
                                                               "several"; "bf16" */
    const char
        *calibrated;     /* "yes": predicted with a profile that another row gave; "": of memory, where it is alike */
    const char *counted; /* "" of times; of memory "allocated" to tensors, "reserved" or "shown" by nvidia-smi */
    double ratio;        /* measured over predicted time or bytes */
};

extern const struct band_row band_rows[]; /* band_row_count of them, by rising ratio */
extern const unsigned band_row_count;
extern const struct band_row band_memory_rows[]; /* band_memory_row_count of them, by rising ratio */
extern const unsigned band_memory_row_count;

/* Two published variants of one job. */
struct band_pair {
    double apart;        /* predicted speed of the one over that of the other, at least 1 */
    bool right;          /* the one was faster */
    const char *changed; /* what they differ in: "layout", "schedule"; "": another thing, or several */
};

extern const struct band_pair band_pairs[]; /* band_pair_count of them, by rising distance */
extern const unsigned band_pair_count;

#endif
