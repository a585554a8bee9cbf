/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/fold_links.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* Bounds that are no link are numbered from here: flows that only the link itself bounds. */
static const uint32_t UNBOUNDED = UINT32_C(1) << 31;

void fold_pairs_add(struct fold_pairs *pairs, uint32_t link, uint32_t other)
{
    pairs->items = array_grow(pairs->items, &pairs->capacity, pairs->count + 1, sizeof *pairs->items);
    pairs->items[pairs->count++] = (struct fold_pair){link, other};
}

static int by_link(const void *left, const void *right)
{
    const struct fold_pair *a = left, *b = right;
    if (a->link != b->link)
        return a->link < b->link ? -1 : 1;
    return (a->other > b->other) - (a->other < b->other);
}

void fold_pairs_finish(struct fold_pairs *pairs)
{
    if (pairs->count == 0)
        return;
    qsort(pairs->items, pairs->count, sizeof *pairs->items, by_link);
    size_t kept = 1;
    for (size_t i = 1; i < pairs->count; i++)
        if (by_link(&pairs->items[i], &pairs->items[kept - 1]) != 0)
            pairs->items[kept++] = pairs->items[i];
    pairs->count = kept;
}

size_t fold_pairs_find(const struct fold_pairs *pairs, uint32_t link)
{
    size_t low = 0, high = pairs->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pairs->items[middle].link < link)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void fold_links_init(struct fold_links *links, const struct platform *platform)
{
    *links = (struct fold_links){.platform = platform};
    size_t capacity = 0;
    links->slice = array_grow(NULL, &capacity, platform->link_count + (size_t)1, sizeof *links->slice);
    capacity = 0;
    links->roomy = array_grow(NULL, &capacity, platform->link_count + (size_t)1, sizeof *links->roomy);
    for (uint32_t link = 0; link < platform->link_count; link++) {
        links->slice[link] = SLICE_NONE;
        links->roomy[link] = true;
    }
}

void fold_links_destroy(struct fold_links *links)
{
    free(links->slice);
    free(links->roomy);
    free(links->limits[0].items);
    free(links->limits[1].items);
}

/* Orders links by bandwidth, equal ones by number. */
static bool is_narrower(const struct platform *platform, uint32_t link, uint32_t than)
{
    double a = platform->links[link].bandwidth, b = platform->links[than].bandwidth;
    return a < b || (a <= b && link < than);
}

/* What bounds a flow on the link at `at` of its route: the narrowest of the narrower links, the first or the last such.
 * With narrower links only, links are not called roomy for the sake of each other: taken away from the widest to the
 * narrowest, each is implied by links that are still there. Links on which flows do not add up (FATPIPE) bound nothing
 * together. */
static uint32_t find_bound(struct fold_links *links, const struct platform_route *route, uint32_t at, bool last)
{
    uint32_t best = UNBOUNDED + links->flow_count;
    double bandwidth = INFINITY;
    for (uint32_t i = 0; i < route->link_count; i++) {
        const struct platform_link *link = &links->platform->links[route->links[i]];
        bool better = last ? link->bandwidth <= bandwidth : link->bandwidth < bandwidth;
        if (is_narrower(links->platform, route->links[i], route->links[at]) && link->sharing == LINK_SHARED && better) {
            best = route->links[i];
            bandwidth = link->bandwidth;
        }
    }
    return best;
}

void fold_links_add(struct fold_links *links, const struct platform_route *route, uint32_t slice)
{
    for (uint32_t i = 0; i < route->link_count; i++) {
        uint32_t link = route->links[i];
        if (slice != SLICE_NONE)
            links->slice[link] = links->slice[link] == SLICE_NONE || links->slice[link] == slice ? slice : SLICE_MANY;
        fold_pairs_add(&links->limits[0], link, find_bound(links, route, i, false));
        fold_pairs_add(&links->limits[1], link, find_bound(links, route, i, true));
    }
    links->flow_count++;
}

void fold_links_sort(struct fold_links *links)
{
    fold_pairs_finish(&links->limits[0]);
    fold_pairs_finish(&links->limits[1]);
}

static double bound_sum(const struct fold_links *links, const struct fold_pairs *limits, uint32_t link)
{
    double sum = 0;
    for (size_t i = fold_pairs_find(limits, link); i < limits->count && limits->items[i].link == link; i++)
        sum +=
            limits->items[i].other >= UNBOUNDED ? INFINITY : links->platform->links[limits->items[i].other].bandwidth;
    return sum;
}

double fold_links_most(const struct fold_links *links, uint32_t link)
{
    return fmin(bound_sum(links, &links->limits[0], link), bound_sum(links, &links->limits[1], link));
}

void fold_links_finish(struct fold_links *links)
{
    fold_links_sort(links);
    for (uint32_t link = 0; link < links->platform->link_count; link++) {
        const struct platform_link *description = &links->platform->links[link];
        links->roomy[link] =
            description->sharing == LINK_SHARED && fold_links_most(links, link) <= description->bandwidth * (1 + 1e-12);
    }
}
