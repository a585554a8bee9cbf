/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/like.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct like *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static void replace(struct like *likes, size_t count, int mean)
{
    if (count)
        qsort(likes, count, sizeof *likes, compare);
    for (size_t i = 0, end; i < count; i = end) {
        double sum = 0;
        for (end = i; end < count && likes[end].first == likes[i].first && likes[end].second == likes[i].second; end++)
            sum += likes[end].value;
        double value = mean ? sum / (double)(end - i) : likes[i + (end - i - 1) / 2].value;
        for (size_t k = i; k < end; k++) {
            likes[k].value = value;
            likes[k].count = (uint32_t)(end - i);
        }
    }
}

void like_medians(struct like *likes, size_t count)
{
    replace(likes, count, 0);
}

void like_means(struct like *likes, size_t count)
{
    replace(likes, count, 1);
}
