/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/intervals.h"

#include "analysis/sum.h"

#include <stdlib.h>

static int by_start(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

size_t intervals_unite(struct interval *intervals, size_t count)
{
    size_t kept = 0, sorted = 1;
    while (sorted < count && intervals[sorted - 1].start <= intervals[sorted].start)
        sorted++;
    if (sorted < count)
        qsort(intervals, count, sizeof *intervals, by_start);
    for (size_t i = 0; i < count; i++) {
        if (!(intervals[i].end > intervals[i].start))
            continue;
        if (!kept || intervals[i].start > intervals[kept - 1].end)
            intervals[kept++] = intervals[i];
        else if (intervals[i].end > intervals[kept - 1].end)
            intervals[kept - 1].end = intervals[i].end;
    }
    return kept;
}

double intervals_length(const struct interval *intervals, size_t count)
{
    struct sum sum = {0, 0};
    for (size_t i = 0; i < count; i++)
        sum_add(&sum, intervals[i].end - intervals[i].start);
    return sum_total(&sum);
}

double intervals_common(const struct interval *left, size_t left_count, const struct interval *right, size_t right_count)
{
    struct sum sum = {0, 0};
    for (size_t i = 0, j = 0; i < left_count && j < right_count;) {
        double start = fmax(left[i].start, right[j].start), end = fmin(left[i].end, right[j].end);
        if (end > start)
            sum_add(&sum, end - start);
        if (left[i].end < right[j].end)
            i++;
        else
            j++;
    }
    return sum_total(&sum);
}
