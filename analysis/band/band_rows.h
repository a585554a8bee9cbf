/* SPDX-License-Identifier: Apache-2.0 */
/* Published jobs beside predictions, from residuals.csv. */
#ifndef STAGESIM_BAND_ROWS_H
#define STAGESIM_BAND_ROWS_H

struct band_row {
    const char *set;                                        /* the publication */
    const char *kind, *framework, *gpu, *nodes, *precision; /* "dense" or "MoE"; "" where not known; "H100"; "one" or
                                                               "several"; "bf16" */
    const char *calibrated;                                 /* "yes": predicted with a profile that another row gave */
    double ratio;                                           /* measured over predicted time */
};

extern const struct band_row band_rows[]; /* band_row_count of them, by rising ratio */
extern const unsigned band_row_count;

#endif
