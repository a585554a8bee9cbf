/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_remarks.h"

#include <string.h>

/* Why some were not run: too long for a cell. */
static void print_reasons(FILE *out, const struct comparison_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (*rows[i].reason)
            fprintf(out, "%s, %s: %s\n", rows[i].scenario, rows[i].schedule, rows[i].reason);
}

/* How far such predictions were off, once where all have the same band. Errors of one job under two schedules are
 * alike: the band is no reason to doubt which one is faster. */
static void print_bands(FILE *out, const struct comparison_row *rows, size_t count)
{
    const char *said = NULL, *of_memory = NULL, *calibrated = NULL;
    for (size_t i = 0; i < count; i++)
        if (*rows[i].calibration && (!calibrated || strcmp(calibrated, rows[i].calibration) != 0)) {
            calibrated = rows[i].calibration;
            fprintf(out, "calibrated with %s\n", calibrated);
        }
    for (size_t i = 0; i < count; i++)
        if (rows[i].band.rows && (!said || strcmp(said, rows[i].band.likes) != 0)) {
            said = rows[i].band.likes;
            band_say(out, &rows[i].band);
        }
    for (size_t i = 0; i < count; i++)
        if (rows[i].outlook.jobs && (!of_memory || strcmp(of_memory, rows[i].memory.band.likes) != 0)) {
            of_memory = rows[i].memory.band.likes;
            memory_band_say(out, &rows[i].memory);
        }
}

/* Which orders a bound is of. */
static void print_bounds(FILE *out, const struct comparison_row *rows, size_t count)
{
    size_t known = 0, split = 0;
    for (size_t i = 0; i < count; i++) {
        known += rows[i].bound > 0;
        split += rows[i].bound > 0 && rows[i].bound_splits;
    }
    if (known)
        fprintf(out, "above bound: how far the iteration is above a lower bound of any order%s\n",
                !split          ? " with whole backwards"
                : split < known ? ", with whole backwards except for schedules that split them"
                                : " with split backwards");
}

void comparison_remarks(FILE *out, const struct comparison_row *rows, size_t count)
{
    print_reasons(out, rows, count);
    print_bounds(out, rows, count);
    print_bands(out, rows, count);
}
