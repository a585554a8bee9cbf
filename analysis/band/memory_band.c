/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/band/memory_band.h"

#include "analysis/band/band_parts.h"

#include <math.h>
#include <string.h>

static const unsigned classes[] = {
    KIND | FRAMEWORK | NODES | PRECISION, KIND | FRAMEWORK | NODES, KIND | FRAMEWORK, FRAMEWORK, KIND, 0};
enum { CLASSES = sizeof classes / sizeof *classes, WORD = 64 };

static struct band_table all_rows(void)
{
    unsigned most = MEMORY_BAND_WORDS * WORD;
    return (struct band_table){band_memory_rows, band_memory_row_count < most ? band_memory_row_count : most};
}

static bool is_member(const struct memory_band *band, unsigned row)
{
    return band->members[row / WORD] >> row % WORD & 1;
}

/* How the class's jobs were counted. */
static void say_counted(const struct band_table *table, const struct memory_band *band, char *text)
{
    static const char *const ways[] = {"allocated", "reserved", "shown"};
    static const char *const words[] = {"allocated by PyTorch", "reserved by PyTorch", "shown by nvidia-smi"};
    const char *between = "; memory ";
    for (int way = 0; way < 3; way++) {
        bool found = false;
        for (unsigned i = 0; i < table->count; i++)
            found |= is_member(band, i) && !strcmp(table->rows[i].counted, ways[way]);
        if (found) {
            band_add(text, "%s%s", between, words[way]);
            between = " or ";
        }
    }
}

struct memory_band memory_band_find(const struct band_job *job, double beside)
{
    const struct band_table table = all_rows();
    struct memory_band band = {.beside = beside};
    unsigned chosen;
    bool of_kind = false;
    if (!band_choose(&table, job, classes, CLASSES, &chosen, &band.band))
        return band;
    for (unsigned i = 0; i < table.count; i++)
        if (band_is_in(&table.rows[i], job, chosen)) {
            band.members[i / WORD] |= UINT64_C(1) << i % WORD;
            of_kind |= band_is_in(&table.rows[i], job, chosen | KIND);
        }
    say_counted(&table, &band, band.band.likes);
    if (job->framework && !(chosen & FRAMEWORK))
        band_add(band.band.lacks, "none of %.30s", job->framework);
    if (!of_kind)
        band_add(band.band.lacks, "%s %s", *band.band.lacks ? "," : "none",
                 job->experts ? "with experts" : "that is dense");
    return band;
}

struct memory_band memory_band_of_own(const double *left_out, size_t count)
{
    struct memory_band band = {.band = band_of_own(left_out, count)};
    size_t kept = count < MEMORY_BAND_OWN ? count : MEMORY_BAND_OWN;
    for (size_t i = 0; i < kept && band.band.rows; i++)
        band.own[band.own_count++] = left_out[i * count / kept];
    return band;
}

/* Runs of one's own were counted as PyTorch allocates, or as the user says: what is held back stays held back. */
static double share_of_own(const struct memory_band *band, double peak, double capacity)
{
    unsigned fit = 0;
    for (unsigned i = 0; i < band->own_count; i++)
        fit += peak * band->own[i] <= capacity;
    return fit / (band->own_count + 1.0);
}

static double share_that_fits(const struct memory_band *band, double peak, double capacity, double reserve)
{
    const struct band_table table = all_rows();
    struct band_shares shares = {.count = 0};
    double sum = 0, tensors = fmax(0, peak - band->beside);
    for (unsigned i = 0; i < table.count; i++)
        if (is_member(band, i)) {
            shares.rows[band_find_set(&shares, table.rows[i].set)]++;
            shares.all++;
        }
    for (unsigned i = 0; i < table.count; i++) {
        const struct band_row *row = &table.rows[i];
        bool of_tensors = !strcmp(row->counted, "allocated");
        if (is_member(band, i) &&
            tensors * row->ratio + (peak - tensors) <= (of_tensors ? capacity * (1 - reserve) : capacity))
            sum += 1.0 / shares.rows[band_find_set(&shares, row->set)];
    }
    return sum / (shares.count + (double)shares.count / shares.all); /* one job more may not fit */
}

struct memory_outlook memory_band_outlook(const struct memory_band *band, double peak, double capacity, double reserve)
{
    struct memory_outlook outlook = {.sure = -1};
    double tensors = band->own_count ? peak : fmax(0, peak - band->beside);
    if (!band->band.rows || !(peak > 0))
        return outlook;
    outlook.jobs = band->band.rows;
    outlook.low = tensors * band->band.low + (peak - tensors);
    outlook.high = tensors * band->band.high + (peak - tensors);
    if (capacity > 0)
        outlook.sure = band->own_count ? share_of_own(band, peak, capacity * (1 - reserve))
                                       : share_that_fits(band, peak, capacity, reserve);
    return outlook;
}

double memory_band_hundredths(double sure)
{
    const double rounding = 1e-9;
    return floor(100 * sure + rounding);
}

void memory_band_say_sure(FILE *out, double sure)
{
    fprintf(out, "fits in %.0f of 100 such jobs", memory_band_hundredths(sure));
}

void memory_band_say(FILE *out, const struct memory_band *band)
{
    char text[BAND_JOBS_MAX];
    if (band->band.rows)
        fprintf(out, "measured memory of such jobs: %+.0f to %+.0f %% of that predicted in 8 of 10 cases (%s)\n",
                100 * (band->band.low - 1), 100 * (band->band.high - 1), band_jobs_text(&band->band, text));
}
