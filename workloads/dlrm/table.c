/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/dlrm/table.h"

#include <math.h>
#include <stdbool.h>

/* E (1 - (1 - 1/E)^n), without loss of digits where E is large. */
static double unique_of_uniform(double rows, double lookups)
{
    if (rows <= 1)
        return lookups < 1 ? lookups : 1;
    return -rows * expm1(lookups * log1p(-1 / rows));
}

enum { ZIPF_SINGLE = 4096 };
static const double zipf_range = 1.01;

/* The sum of x^-s over the rows first .. end - 1: the integral between their middles' borders. */
static double zipf_weight(double first, double end, double exponent)
{
    double from = first - 0.5, to = end - 0.5;
    if (fabs(exponent - 1) < 1e-9)
        return log(to / from);
    return (pow(to, 1 - exponent) - pow(from, 1 - exponent)) / (1 - exponent);
}

/* Adds up over all rows: their weights (probability 0), or how many of them are read. */
static double zipf_sum(double rows, double exponent, double lookups, double total)
{
    double sum = 0, end;
    for (double first = 1; first <= rows; first = end) {
        bool single = first <= ZIPF_SINGLE;
        end = single ? first + 1 : ceil(first * zipf_range);
        end = end > rows + 1 ? floor(rows) + 1 : end;
        double weight = single ? pow(first, -exponent) : zipf_weight(first, end, exponent);
        double probability = total > 0 ? weight / (end - first) / total : 0;
        if (total <= 0)
            sum += weight;
        else
            sum += probability < 1 ? -(end - first) * expm1(lookups * log1p(-probability)) : 1;
    }
    return sum;
}

double dlrm_unique_rows(const struct dlrm_table *table, double lookups)
{
    double unique;
    if (table->unique > 0)
        unique = table->unique * lookups;
    else if (table->zipf > 0)
        unique = zipf_sum(table->rows, table->zipf, lookups, zipf_sum(table->rows, table->zipf, 0, 0));
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
