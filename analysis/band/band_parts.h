/* SPDX-License-Identifier: Apache-2.0 */
/* What bands of times and of memory share: classes of published jobs, and quantiles over publications. */
#ifndef STAGESIM_BAND_PARTS_H
#define STAGESIM_BAND_PARTS_H

#include "analysis/band/band.h"
#include "analysis/band/band_rows.h"

/* What a job and a row may have to share. */
enum condition { KIND = 1, FRAMEWORK = 2, GPU = 4, NODES = 8, PRECISION = 16 };

/* Rows by rising ratio. */
struct band_table {
    const struct band_row *rows;
    unsigned count;
};

/* How many rows of a class each publication has. */
enum { BAND_SETS_MAX = 64 };
struct band_shares {
    const char *sets[BAND_SETS_MAX];
    unsigned rows[BAND_SETS_MAX], count, all;
};

bool band_is_in(const struct band_row *row, const struct band_job *job, unsigned conditions);
unsigned band_find_set(struct band_shares *shares, const char *set);
struct band_shares band_count(const struct band_table *table, const struct band_job *job, unsigned conditions);

/* The band of the first of `count` classes that has one, and that class; false where none has. */
bool band_choose(const struct band_table *table, const struct band_job *job, const unsigned *levels, unsigned count,
                 unsigned *chosen, struct band *band);

/* Appends to a text of BAND_TEXT_MAX. */
__attribute__((format(printf, 2, 3))) void band_add(char *text, const char *format, ...);

#endif
