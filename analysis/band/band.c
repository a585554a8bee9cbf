/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/band/band.h"

#include "analysis/band/band_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* From the narrowest class to the widest. */
static const unsigned classes[] = {KIND | FRAMEWORK | GPU | NODES | PRECISION,
                                   KIND | FRAMEWORK | GPU | NODES,
                                   KIND | FRAMEWORK | GPU,
                                   KIND | GPU | NODES,
                                   KIND | GPU,
                                   KIND | FRAMEWORK,
                                   KIND};
enum { CLASSES = sizeof classes / sizeof *classes };
static const double tail = 0.1; /* of each side */

static const char *kind_of(const struct band_job *job)
{
    return job->experts ? "MoE" : "dense";
}

/* "H100-SXM5-80GB" is an H100. */
static bool is_gpu(const char *name, const char *model)
{
    size_t length = strlen(name);
    return model && !strncmp(model, name, length) && (!model[length] || model[length] == '-');
}

bool band_is_in(const struct band_row *row, const struct band_job *job, unsigned conditions)
{
    return (!*row->calibrated || !strcmp(row->calibrated, job->calibrated ? "yes" : "no")) &&
           (!(conditions & KIND) || !strcmp(row->kind, kind_of(job))) &&
           (!(conditions & FRAMEWORK) || (job->framework && !strcmp(row->framework, job->framework))) &&
           (!(conditions & GPU) || is_gpu(row->gpu, job->gpu)) &&
           (!(conditions & NODES) || !strcmp(row->nodes, job->several_nodes ? "several" : "one")) &&
           (!(conditions & PRECISION) || (job->precision && !strcmp(row->precision, job->precision)));
}

unsigned band_find_set(struct band_shares *shares, const char *set)
{
    unsigned i = 0;
    while (i < shares->count && strcmp(shares->sets[i], set) != 0)
        i++;
    if (i == shares->count && i < BAND_SETS_MAX - 1)
        shares->sets[shares->count++] = set;
    return i;
}

struct band_shares band_count(const struct band_table *table, const struct band_job *job, unsigned conditions)
{
    struct band_shares shares = {.count = 0};
    for (unsigned i = 0; i < table->count; i++)
        if (band_is_in(&table->rows[i], job, conditions)) {
            shares.rows[band_find_set(&shares, table->rows[i].set)]++;
            shares.all++;
        }
    return shares;
}

/* The quantiles of the rows and of one job more, which weighs as much as a row in the mean. False: too few rows. */
static bool find_quantiles(const struct band_table *table, const struct band_job *job, unsigned conditions,
                           struct band_shares *shares, struct band *band)
{
    double sets = shares->count, whole = sets + sets / shares->all, sum = 0;
    bool low = false;
    for (unsigned i = 0; i < table->count; i++) {
        const struct band_row *row = &table->rows[i];
        if (!band_is_in(row, job, conditions))
            continue;
        sum += 1.0 / shares->rows[band_find_set(shares, row->set)];
        const double least = 1e-9; /* of rounding */
        if (sum <= tail * whole + least) {
            band->low = row->ratio;
            low = true;
        }
        if (sum >= (1 - tail) * whole - least) {
            band->high = row->ratio;
            band->rows = low ? shares->all : 0;
            return low;
        }
    }
    return false;
}

void band_add(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, BAND_TEXT_MAX - length, format, arguments);
    va_end(arguments);
}

static void say_likes(const struct band_job *job, unsigned conditions, char *text)
{
    const char *kind = job->experts ? "with experts" : "dense";
    band_add(text, "%s", conditions & KIND ? kind : "dense or with experts");
    if (conditions & FRAMEWORK)
        band_add(text, ", %.30s", job->framework);
    if (conditions & GPU)
        band_add(text, ", on %.*s", (int)strcspn(job->gpu, "-"), job->gpu);
    if (conditions & NODES)
        band_add(text, ", %s", job->several_nodes ? "several nodes" : "one node");
    if (conditions & PRECISION)
        band_add(text, ", %s", job->precision);
}

bool band_choose(const struct band_table *table, const struct band_job *job, const unsigned *levels, unsigned count,
                 unsigned *chosen, struct band *band)
{
    for (unsigned i = 0; i < count; i++) {
        struct band_shares shares = band_count(table, job, levels[i]);
        if (shares.all && find_quantiles(table, job, levels[i], &shares, band)) {
            say_likes(job, levels[i], band->likes);
            *chosen = levels[i];
            return true;
        }
    }
    return false;
}

struct band band_find(const struct band_job *job)
{
    const struct band_table table = {band_rows, band_row_count};
    struct band band = {0};
    unsigned chosen;
    if (!band_choose(&table, job, classes, CLASSES, &chosen, &band))
        return band;
    if (job->calibrated)
        band_add(band.likes, ", each calibrated with one other");
    if (job->gpu && !band_count(&table, job, KIND | GPU).all)
        band_add(band.lacks, "none on %.*s", (int)strcspn(job->gpu, "-"), job->gpu);
    return band;
}

struct band band_of_own(const double *left_out, size_t count)
{
    struct band band = {.own = true};
    size_t beyond = (size_t)floor(tail * (double)(count + 1) + 1e-9);
    if (!beyond)
        return band;
    band.rows = (unsigned)count;
    band.low = left_out[beyond - 1];
    band.high = left_out[count - beyond];
    return band;
}

const char *band_jobs_text(const struct band *band, char text[BAND_JOBS_MAX])
{
    if (band->own)
        snprintf(text, BAND_JOBS_MAX, "%u runs of the calibration, each predicted from the others", band->rows);
    else
        snprintf(text, BAND_JOBS_MAX, "%u published jobs: %s%s%s", band->rows, band->likes, *band->lacks ? "; " : "",
                 band->lacks);
    return text;
}

void band_say(FILE *out, const struct band *band)
{
    char text[BAND_JOBS_MAX];
    if (band->rows)
        fprintf(out, "measured iterations of such jobs: %+.0f to %+.0f %% of those predicted in 8 of 10 cases (%s)\n",
                100 * (band->low - 1), 100 * (band->high - 1), band_jobs_text(band, text));
}

static struct band_agreement count_pairs(double from, double to, enum band_change change)
{
    static const char *const names[] = {[BAND_LAYOUT] = "layout", [BAND_SCHEDULE] = "schedule"};
    struct band_agreement agreement = {.alike = change};
    for (unsigned i = 0; i < band_pair_count; i++) {
        const struct band_pair *pair = &band_pairs[i];
        if (pair->apart >= from && pair->apart < to && (!change || !strcmp(pair->changed, names[change]))) {
            agreement.pairs++;
            agreement.right += pair->right;
        }
    }
    agreement.sure = 10 * agreement.right >= 8 * agreement.pairs;
    return agreement;
}

struct band_agreement band_agree(double apart, enum band_change change)
{
    static const double ends[] = {1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 1e30};
    enum { FEW = 5 };
    unsigned at = 0;
    while (apart >= ends[at] && at < sizeof ends / sizeof *ends - 1)
        at++;
    struct band_agreement alike = count_pairs(at ? ends[at - 1] : 0, ends[at], change);
    return alike.pairs >= FEW ? alike : count_pairs(at ? ends[at - 1] : 0, ends[at], BAND_OTHER);
}

void band_say_agreement(FILE *out, double apart, enum band_change change)
{
    static const char *const words[] = {
        [BAND_OTHER] = "", [BAND_LAYOUT] = " of layouts", [BAND_SCHEDULE] = " of schedules"};
    struct band_agreement agreement = band_agree(apart, change);
    fprintf(out, "of %u published pairs%s predicted about as far apart %u went this way", agreement.pairs,
            words[agreement.alike], agreement.right);
}
