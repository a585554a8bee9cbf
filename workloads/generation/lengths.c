/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/generation/lengths.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Of other distributions so many numbers are drawn once, and sorted. */
enum { DRAWN = 8192, PURPOSE_QUANTILES = 7001, PURPOSE_PROMPT, PURPOSE_SAMPLE };

static int by_value(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Sorted values of a distribution; *count of them. The caller frees them. */
static double *sorted(const struct distribution *d, size_t *count)
{
    bool given = d->kind == DISTRIBUTION_SAMPLES;
    *count = given ? d->count : DRAWN;
    double *values = array_zeroed(*count, sizeof *values);
    struct draws draws = draws_of(0, PURPOSE_QUANTILES, 0);
    for (size_t i = 0; i < *count; i++)
        values[i] = given ? d->values[i] : distribution_draw(d, &draws);
    qsort(values, *count, sizeof *values, by_value);
    return values;
}

/* Value i stands for the probabilities from i / count to (i + 1) / count. */
static double quantile_of(const struct distribution *d, const double *values, size_t count, double probability)
{
    if (d->kind == DISTRIBUTION_FIXED)
        return d->a;
    if (d->kind == DISTRIBUTION_UNIFORM)
        return d->a + probability * (d->b - d->a);
    if (d->kind == DISTRIBUTION_LOG_NORMAL)
        return rounded_exp(d->a + d->b * normal_quantile(probability));
    size_t at = (size_t)(probability * (double)count);
    return values[at < count ? at : count - 1];
}

struct score {
    double value;
    uint32_t sample;
};

static int by_score(const void *a, const void *b)
{
    const struct score *one = a, *other = b;
    int order = (one->value > other->value) - (one->value < other->value);
    return order ? order : (one->sample > other->sample) - (one->sample < other->sample);
}

/* Normal scores of all samples, the smallest first. The caller frees them. */
static struct score *make_scores(const struct lengths_request *r)
{
    uint32_t count = r->prompts * r->samples;
    struct score *scores = array_zeroed(count + 1, sizeof *scores);
    double common = sqrt(r->correlation), own = sqrt(1 - r->correlation);
    for (uint32_t i = 0; i < count; i++) {
        struct draws prompt = draws_of(r->seed, PURPOSE_PROMPT, i / r->samples),
                     sample = draws_of(r->seed, PURPOSE_SAMPLE, i);
        scores[i] = (struct score){common * draw_normal(&prompt) + own * draw_normal(&sample), i};
    }
    qsort(scores, count, sizeof *scores, by_score);
    return scores;
}

static double whole(const struct lengths_request *r, double length)
{
    double rounded = fmax(1, floor(length + 0.5));
    return r->most > 0 ? fmin(rounded, r->most) : rounded;
}

void lengths_draw(const struct lengths_request *r, double *lengths)
{
    size_t count = (size_t)r->prompts * r->samples, known;
    const struct distribution *d = r->distribution;
    if (d->kind == DISTRIBUTION_SAMPLES && d->count == count) {
        for (size_t i = 0; i < count; i++)
            lengths[i] = whole(r, d->values[i]);
        return;
    }
    double *values = sorted(d, &known);
    struct score *scores = make_scores(r);
    for (size_t i = 0; i < count; i++)
        lengths[scores[i].sample] = whole(r, quantile_of(d, values, known, ((double)i + 0.5) / (double)count));
    free(scores);
    free(values);
}
