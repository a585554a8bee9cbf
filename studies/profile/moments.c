/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/moments.h"

#include "base/bulk.h"

void moments_add(struct moments *moments, double start, double end)
{
    if (!(end > start))
        return;
    moments->intervals =
        bulk_grow(moments->intervals, &moments->capacity, moments->count + 1, sizeof *moments->intervals);
    moments->intervals[moments->count++] = (struct interval){start, end};
}

void moments_unite(struct moments *moments)
{
    moments->count = moments->count ? intervals_unite(moments->intervals, moments->count) : 0;
}

void moments_finish(struct moments *moments)
{
    bulk_free(moments->intervals, moments->capacity * sizeof *moments->intervals);
    *moments = (struct moments){0};
}

struct moments moments_without(const struct moments *from, const struct moments *without)
{
    struct moments left = {0};
    size_t j = 0;
    for (size_t i = 0; i < from->count; i++) {
        double start = from->intervals[i].start, end = from->intervals[i].end;
        while (j < without->count && without->intervals[j].end <= start)
            j++;
        for (size_t k = j; k < without->count && without->intervals[k].start < end; k++) {
            moments_add(&left, start, without->intervals[k].start);
            start = without->intervals[k].end > start ? without->intervals[k].end : start;
        }
        moments_add(&left, start, end);
    }
    return left;
}

struct moments moments_common(const struct moments *left, const struct moments *right)
{
    struct moments common = {0};
    for (size_t i = 0, j = 0; i < left->count && j < right->count;) {
        const struct interval *a = &left->intervals[i], *b = &right->intervals[j];
        moments_add(&common, a->start > b->start ? a->start : b->start, a->end < b->end ? a->end : b->end);
        if (a->end < b->end)
            i++;
        else
            j++;
    }
    return common;
}

double moments_length(const struct moments *moments)
{
    return intervals_length(moments->intervals, moments->count);
}

double moments_take(struct moments *left, const struct moments *what)
{
    struct moments common = moments_common(left, what), rest = moments_without(left, what);
    double length = moments_length(&common);
    moments_finish(&common);
    moments_finish(left);
    *left = rest;
    return length;
}
