/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/dlrm/lookup.h"

#include <math.h>

static const double sector = 32, number_bytes = 4, offset_bytes = 96, cache_share = 0.9;

static double sectors(double bytes)
{
    return sector * ceil(bytes / sector);
}

/* Rows that stay in the cache while as many tables at once are looked up as there are warps for the batch. */
static double cached_rows(const struct lookup *lookup, const struct memory_curve *curve)
{
    double tables = ceil(curve->processors * curve->warps / lookup->samples);
    double lookups = lookup->samples * lookup->pooling;
    if (tables < 1)
        return 0;
    double rows = floor(cache_share * curve->cache / (tables * number_bytes * lookup->width));
    rows = rows < lookup->rows ? rows : lookup->rows;
    return rows < lookups ? rows : lookups;
}

/* Each row misses once where all fit. Otherwise as many as fit miss once, and of the other lookups those that meet
 * another row: the share is that of a table whose rows are equally likely and of which as many are read. */
static double hit_rate(const struct lookup *lookup, double cached)
{
    double lookups = lookup->samples * lookup->pooling;
    if (lookups <= 0 || cached <= 0)
        return 0;
    if (lookup->unique <= cached)
        return 1 - lookup->unique / lookups;
    double rows = dlrm_equivalent_rows(lookup->unique, lookups);
    double others = isinf(rows) ? 1 : rows > cached ? (rows - cached) / rows : 0;
    return 1 - (cached + (lookups - cached) * others) / lookups;
}

struct lookup_traffic lookup_traffic(const struct lookup *lookup, const struct memory_curve *curve, double state)
{
    double lookups = lookup->samples * lookup->pooling, row = sectors(number_bytes * lookup->width);
    double rows = lookups * row, sums = lookup->samples * row;
    double indices = lookup->samples * (offset_bytes + sectors(number_bytes * lookup->pooling));
    struct lookup_traffic traffic = {.cached_rows = cached_rows(lookup, curve)};
    traffic.hit_rate = hit_rate(lookup, traffic.cached_rows);
    traffic.all = indices + rows + sums;
    traffic.cache = traffic.hit_rate * rows;
    traffic.memory = traffic.all - traffic.cache;
    traffic.backward = indices + sums + 2 * (1 + state) * rows;
    traffic.touched = lookup->unique * row;
    traffic.update = indices + sums + 2 * (1 + state) * traffic.touched;
    traffic.slower = lookup->width > 64 ? 1 : lookup->width > 32 ? 1.1 : 1.55;
    return traffic;
}
