/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intervals.h"

#include "base/bulk.h"
#include "base/sum.h"

#include <string.h>

static size_t run_end(const struct interval *intervals, size_t first, size_t count)
{
    size_t end = first;
    do
        end++;
    while (end < count && intervals[end - 1].start <= intervals[end].start);
    return end;
}

/* The same intervals one after the other; returns the end of them. */
static struct interval *copy(struct interval *into, const struct interval *from, size_t count)
{
    if (count)
        memcpy(into, from, count * sizeof *into);
    return into + count;
}

/* Merges every two neighbouring sorted runs of `from` into one of `into`; returns how many runs there are then. */
static size_t merge_neighbours(const struct interval *from, struct interval *into, size_t count)
{
    size_t runs = 0;
    for (size_t first = 0; first < count; runs++) {
        size_t left = first, middle = run_end(from, first, count), right = middle;
        size_t end = middle < count ? run_end(from, middle, count) : middle;
        while (left < middle && right < end)
            *into++ = from[left].start <= from[right].start ? from[left++] : from[right++];
        into = copy(into, &from[left], middle - left);
        into = copy(into, &from[right], end - right);
        first = end;
    }
    return runs;
}

/* By start. The intervals come stream by stream, each in order: a few runs, merged in a few passes. */
static void sort(struct interval *intervals, size_t count)
{
    if (count == 0 || run_end(intervals, 0, count) == count)
        return;
    struct interval *scratch = bulk_take(count * sizeof *scratch, NULL), *from = intervals, *into = scratch;
    for (size_t runs = count + 1, before = runs + 1; runs > 1 && runs < before;) {
        before = runs;
        runs = merge_neighbours(from, into, count);
        struct interval *merged = into;
        into = from;
        from = merged;
    }
    if (from != intervals)
        memcpy(intervals, from, count * sizeof *intervals);
    bulk_free(scratch, count * sizeof *scratch);
}

size_t intervals_unite(struct interval *intervals, size_t count)
{
    size_t kept = 0;
    sort(intervals, count);
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

double intervals_common(const struct interval *left, size_t left_count, const struct interval *right,
                        size_t right_count)
{
    struct sum sum = {0, 0};
    for (size_t i = 0, j = 0; i < left_count && j < right_count;) {
        double start = left[i].start > right[j].start ? left[i].start : right[j].start;
        double end = left[i].end < right[j].end ? left[i].end : right[j].end;
        if (end > start)
            sum_add(&sum, end - start);
        if (left[i].end < right[j].end)
            i++;
        else
            j++;
    }
    return sum_total(&sum);
}
