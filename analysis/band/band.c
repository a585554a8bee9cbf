/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/band/band.h"

#include "analysis/band/band_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum condition { KIND = 1, FRAMEWORK = 2, GPU = 4, NODES = 8, PRECISION = 16 };

/* From the narrowest class to the widest. */
static const unsigned classes[] = {KIND | FRAMEWORK | GPU | NODES | PRECISION,
                                   KIND | FRAMEWORK | GPU | NODES,
                                   KIND | FRAMEWORK | GPU,
                                   KIND | GPU | NODES,
                                   KIND | GPU,
                                   KIND | FRAMEWORK,
                                   KIND};
enum { CLASSES = sizeof classes / sizeof *classes, SETS_MAX = 64 };
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

static bool is_in(const struct band_row *row, const struct band_job *job, unsigned conditions)
{
    return !strcmp(row->calibrated, job->calibrated ? "yes" : "no") &&
           (!(conditions & KIND) || !strcmp(row->kind, kind_of(job))) &&
           (!(conditions & FRAMEWORK) || (job->framework && !strcmp(row->framework, job->framework))) &&
           (!(conditions & GPU) || is_gpu(row->gpu, job->gpu)) &&
           (!(conditions & NODES) || !strcmp(row->nodes, job->several_nodes ? "several" : "one")) &&
           (!(conditions & PRECISION) || (job->precision && !strcmp(row->precision, job->precision)));
}

/* How many rows of a class each publication has. */
struct shares {
    const char *sets[SETS_MAX];
    unsigned rows[SETS_MAX], count, all;
};

static unsigned find_set(struct shares *shares, const char *set)
{
    unsigned i = 0;
    while (i < shares->count && strcmp(shares->sets[i], set) != 0)
        i++;
    if (i == shares->count && i < SETS_MAX - 1)
        shares->sets[shares->count++] = set;
    return i;
}

static void count_rows(const struct band_job *job, unsigned conditions, struct shares *shares)
{
    for (unsigned i = 0; i < band_row_count; i++)
        if (is_in(&band_rows[i], job, conditions)) {
            shares->rows[find_set(shares, band_rows[i].set)]++;
            shares->all++;
        }
}

/* The quantiles of the rows and of one job more, which weighs as much as a row in the mean. False: too few rows. */
static bool find_quantiles(const struct band_job *job, unsigned conditions, struct shares *shares, struct band *band)
{
    double sets = shares->count, whole = sets + sets / shares->all, sum = 0;
    bool low = false;
    for (unsigned i = 0; i < band_row_count; i++) {
        if (!is_in(&band_rows[i], job, conditions))
            continue;
        sum += 1.0 / shares->rows[find_set(shares, band_rows[i].set)];
        const double least = 1e-9; /* of rounding */
        if (sum <= tail * whole + least) {
            band->low = band_rows[i].ratio;
            low = true;
        }
        if (sum >= (1 - tail) * whole - least) {
            band->high = band_rows[i].ratio;
            band->rows = low ? shares->all : 0;
            return low;
        }
    }
    return false;
}

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, BAND_TEXT_MAX - length, format, arguments);
    va_end(arguments);
}

static void say_likes(const struct band_job *job, unsigned conditions, char *text)
{
    add(text, "%s", job->experts ? "with experts" : "dense");
    if (conditions & FRAMEWORK)
        add(text, ", %.30s", job->framework);
    if (conditions & GPU)
        add(text, ", on %.*s", (int)strcspn(job->gpu, "-"), job->gpu);
    if (conditions & NODES)
        add(text, ", %s", job->several_nodes ? "several nodes" : "one node");
    if (conditions & PRECISION)
        add(text, ", %s", job->precision);
    if (job->calibrated)
        add(text, ", each calibrated with one other");
}

struct band band_find(const struct band_job *job)
{
    struct band band = {0};
    for (unsigned i = 0; i < CLASSES && !band.rows; i++) {
        struct shares shares = {.count = 0};
        count_rows(job, classes[i], &shares);
        if (shares.all && find_quantiles(job, classes[i], &shares, &band))
            say_likes(job, classes[i], band.likes);
    }
    struct shares on_gpu = {.count = 0};
    count_rows(job, KIND | GPU, &on_gpu);
    if (band.rows && !on_gpu.all && job->gpu)
        add(band.lacks, "none on %.*s", (int)strcspn(job->gpu, "-"), job->gpu);
    return band;
}

void band_say(FILE *out, const struct band *band)
{
    if (band->rows)
        fprintf(out,
                "measured iterations of such jobs: %+.0f to %+.0f %% of those predicted in 8 of 10 cases (%u "
                "published jobs: %s%s%s)\n",
                100 * (band->low - 1), 100 * (band->high - 1), band->rows, band->likes, *band->lacks ? "; " : "",
                band->lacks);
}

struct band_agreement band_agree(double apart)
{
    static const double ends[] = {1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 1e30};
    struct band_agreement agreement = {0};
    unsigned at = 0;
    while (apart >= ends[at] && at < sizeof ends / sizeof *ends - 1)
        at++;
    for (unsigned i = 0; i < band_pair_count; i++)
        if (band_pairs[i].apart < ends[at] && (!at || band_pairs[i].apart >= ends[at - 1])) {
            agreement.pairs++;
            agreement.right += band_pairs[i].right;
        }
    agreement.sure = 10 * agreement.right >= 8 * agreement.pairs;
    return agreement;
}

void band_say_agreement(FILE *out, double apart)
{
    struct band_agreement agreement = band_agree(apart);
    fprintf(out, "of %u published pairs predicted about as far apart %u went this way", agreement.pairs,
            agreement.right);
}
