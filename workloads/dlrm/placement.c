/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/dlrm/placement.h"

#include "base/arena.h"
#include "base/diagnostics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const dlrm_split_names[] = {"table", "row", "column", "replicated", "host", NULL};

void dlrm_placement_init(struct dlrm_placement *placement, uint32_t tables, uint32_t ranks)
{
    *placement = (struct dlrm_placement){
        .tables = tables, .ranks = ranks, .places = array_zeroed(tables, sizeof *placement->places)};
    for (uint32_t i = 0; i < tables; i++) {
        uint32_t rank = i % ranks;
        dlrm_placement_set(placement, i, DLRM_WHOLE, &rank, 1);
    }
}

void dlrm_placement_finish(struct dlrm_placement *placement)
{
    for (uint32_t i = 0; placement && i < placement->tables; i++)
        free(placement->places[i].ranks);
    if (placement)
        free(placement->places);
}

static int compare_ranks(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

void dlrm_placement_set(struct dlrm_placement *placement, uint32_t table, enum dlrm_split split, const uint32_t *ranks,
                        uint32_t count)
{
    struct dlrm_place *place = &placement->places[table];
    count = split == DLRM_REPLICATED ? placement->ranks : count;
    assert(count >= 1 && count <= placement->ranks && ((split != DLRM_WHOLE && split != DLRM_HOST) || count == 1));
    free(place->ranks);
    *place = (struct dlrm_place){split, count, array_zeroed(count, sizeof *place->ranks)};
    for (uint32_t i = 0; i < count; i++)
        place->ranks[i] = split == DLRM_REPLICATED ? i : ranks[i];
    qsort(place->ranks, count, sizeof *place->ranks, compare_ranks);
}

/* The i-th of `parts` whole parts of a number, the first ones one larger. */
static double part(double whole, uint32_t parts, uint32_t i)
{
    uint64_t number = (uint64_t)whole;
    return (double)(number / parts + (i < number % parts ? 1 : 0));
}

struct dlrm_share dlrm_placement_share(const struct dlrm_placement *placement, const struct dlrm_table *table,
                                       uint32_t index, uint32_t rank)
{
    const struct dlrm_place *place = &placement->places[index];
    const uint32_t *found = bsearch(&rank, place->ranks, place->count, sizeof *place->ranks, compare_ranks);
    if (!found)
        return (struct dlrm_share){.any = false};
    uint32_t i = (uint32_t)(found - place->ranks);
    double width = (double)table->width;
    struct dlrm_share share = {
        .any = true, .rows = table->rows, .width = width, .pooling = table->pooling, .sums = width};
    if (place->split == DLRM_ROWS) {
        share.rows = part(table->rows, place->count, i);
        /* Parts differ by a row at most, which does not count: as many lookups for each that has rows. */
        share.pooling = table->pooling / fmin(place->count, table->rows);
    } else if (place->split == DLRM_COLUMNS) {
        share.width = share.sums = part(width, place->count, i);
    } else if (place->split == DLRM_REPLICATED) {
        share.sums = 0;
    }
    share.any = share.rows > 0 && share.width > 0;
    return share;
}

/* A number below `limit`; moves *text behind it. */
static bool read_rank(const char **text, uint32_t limit, uint32_t *rank, struct fault *fault)
{
    char *end;
    unsigned long number = **text >= '0' && **text <= '9' ? strtoul(*text, &end, 10) : limit;
    if (!(**text >= '0' && **text <= '9'))
        return fault_set(fault, "'%.40s' is no rank; expected numbers and ranges such as 0-3 5, or all", *text);
    if (number >= limit)
        return fault_set(fault, "rank %.20s does not exist; there are %u", *text, limit);
    *text = end;
    *rank = (uint32_t)number;
    return true;
}

uint32_t dlrm_ranks_parse(const char *text, uint32_t limit, uint32_t *ranks, struct fault *fault)
{
    static const char between[] = ", ";
    bool *named = array_zeroed(limit, sizeof *named);
    uint32_t count = 0;
    bool ok = true;
    if (!strcmp(text, "all")) {
        memset(named, true, limit * sizeof *named);
        text = "";
    }
    for (text += strspn(text, between); ok && *text; text += strspn(text, between)) {
        uint32_t first = 0, last;
        ok = read_rank(&text, limit, &first, fault);
        last = first;
        if (ok && *text == '-') {
            text++;
            ok = read_rank(&text, limit, &last, fault);
        }
        for (uint32_t i = first; ok && i <= last; i++)
            named[i] = true;
    }
    for (uint32_t i = 0; ok && i < limit; i++)
        if (named[i])
            ranks[count++] = i;
    free(named);
    if (ok && !count)
        fault_set(fault, "no rank is named; expected numbers and ranges such as 0-3 5, or all");
    return count;
}
