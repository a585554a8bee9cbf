/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/dlrm/table.h"

#include "base/rounded/rounded.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* E (1 - (1 - 1/E)^n), without loss of digits where E is large. */
static double unique_of_uniform(double rows, double lookups)
{
    if (rows <= 1)
        return lookups < 1 ? lookups : 1;
    return -rows * rounded_expm1(lookups * rounded_log1p(-1 / rows));
}

enum { ZIPF_SINGLE = 4096 };
static const double zipf_range = 1.01;

/* The sum of x^-s over the rows first .. end - 1: the integral between their middles' borders. */
static double zipf_weight(double first, double end, double exponent)
{
    double from = first - 0.5, to = end - 0.5;
    if (fabs(exponent - 1) < 1e-9)
        return rounded_log(to / from);
    return (rounded_pow(to, 1 - exponent) - rounded_pow(from, 1 - exponent)) / (1 - exponent);
}

/* Adds up over all rows: their weights (probability 0), or how many of them are read. */
static double zipf_sum(double rows, double exponent, double lookups, double total)
{
    double sum = 0, end;
    for (double first = 1; first <= rows; first = end) {
        bool single = first <= ZIPF_SINGLE;
        end = single ? first + 1 : ceil(first * zipf_range);
        end = end > rows + 1 ? floor(rows) + 1 : end;
        double weight = single ? rounded_pow(first, -exponent) : zipf_weight(first, end, exponent);
        double probability = total > 0 ? weight / (end - first) / total : 0;
        if (total <= 0)
            sum += weight;
        else
            sum += probability < 1 ? -(end - first) * rounded_expm1(lookups * rounded_log1p(-probability)) : 1;
    }
    return sum;
}

/* What was found for a law and a number of lookups. A study places the same tables in many ways and asks again and
 * again, and a sum has thousands of terms. */
struct zipf_answer {
    double rows, exponent, lookups; /* rows 0: the place is free */
    double unique;
};
enum { ZIPF_BITS = 12, ZIPF_TRIES = 8 }; /* of the number of places; places that a question may have */
static _Thread_local struct zipf_answer zipf_answers[1 << ZIPF_BITS];

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool answers(const struct zipf_answer *known, double rows, double exponent, double lookups)
{
    return known->rows == rows && known->exponent == exponent && known->lookups == lookups;
}

/* Where a question's answer is, or else the first free one of its places. Where there is none, the question drives out
 * the one in its first place. */
static struct zipf_answer *zipf_place(double rows, double exponent, double lookups)
{
    const uint64_t odd = 0x9e3779b97f4a7c15; /* Fibonacci hashing: the highest bits are the best */
    uint64_t hash = ((bits_of(rows) * odd ^ bits_of(exponent)) * odd ^ bits_of(lookups)) * odd >> (64 - ZIPF_BITS);
    for (uint64_t i = 0; i < ZIPF_TRIES; i++) {
        struct zipf_answer *place = &zipf_answers[(hash + i) % (1 << ZIPF_BITS)];
        if (!(place->rows > 0) || answers(place, rows, exponent, lookups))
            return place;
    }
    return &zipf_answers[hash];
}

static double zipf_unique(double rows, double exponent, double lookups)
{
    struct zipf_answer *known = zipf_place(rows, exponent, lookups);
    if (!answers(known, rows, exponent, lookups)) {
        double total = zipf_sum(rows, exponent, 0, 0);
        *known = (struct zipf_answer){rows, exponent, lookups, zipf_sum(rows, exponent, lookups, total)};
    }
    return known->unique;
}

double dlrm_unique_rows(const struct dlrm_table *table, double lookups)
{
    double unique;
    if (table->unique > 0)
        unique = table->unique * lookups;
    else if (table->zipf > 0)
        unique = zipf_unique(table->rows, table->zipf, lookups);
    else
        unique = unique_of_uniform(table->rows, lookups);
    unique = unique < table->rows ? unique : table->rows;
    return unique < lookups ? unique : lookups;
}

double dlrm_equivalent_rows(double unique, double lookups)
{
    double low = unique, high = unique;
    enum { STEPS = 200 };
    if (unique >= lookups)
        return INFINITY;
    while (high < 1e18 && unique_of_uniform(high, lookups) < unique)
        high *= 2;
    for (int i = 0; i < STEPS && low < high; i++) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        if (unique_of_uniform(middle, lookups) < unique)
            low = middle;
        else
            high = middle;
    }
    return high;
}
