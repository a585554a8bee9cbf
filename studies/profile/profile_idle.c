/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/profile.h"

#include "base/bulk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A piece of device work and its launch. */
struct work {
    double begin, launched; /* launched: when the host called for it; NaN: not recorded */
};

struct call {
    uint32_t correlation;
    double begin;
};

struct idling {
    struct work *works; /* by begin */
    struct call *calls; /* by correlation */
    size_t work_count, work_capacity, call_count, call_capacity;
    struct moments loading, syncing, collecting; /* of the host */
};

static int by_correlation(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static int by_begin(const void *left, const void *right)
{
    const struct work *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* ---- what the host does ---- */

static bool is_loading(const char *name)
{
    return strcasestr(name, "dataloader") || strcasestr(name, "data_load");
}

static bool is_syncing(const char *name)
{
    return strstr(name, "Synchronize") || !strcmp(name, "cudaMemcpy") || !strcmp(name, "hipMemcpy");
}

static bool is_collecting(const char *name)
{
    return strcasestr(name, "python gc") || strstr(name, "gc.collect") || strcasestr(name, "garbage collect");
}

static void take_host(struct idling *idling, const struct recorded *recorded,
                      const struct recorded_operation *operation)
{
    const char *name = recorded_name_of(recorded, operation);
    if (operation->kind == RECORDED_LAUNCH && is_syncing(name))
        moments_add(&idling->syncing, operation->begin, operation->end);
    else if (operation->kind != RECORDED_LAUNCH && is_loading(name))
        moments_add(&idling->loading, operation->begin, operation->end);
    else if (operation->kind != RECORDED_LAUNCH && is_collecting(name))
        moments_add(&idling->collecting, operation->begin, operation->end);
    if (operation->kind != RECORDED_LAUNCH || operation->correlation == RECORDED_NONE)
        return;
    idling->calls = bulk_grow(idling->calls, &idling->call_capacity, idling->call_count + 1, sizeof *idling->calls);
    idling->calls[idling->call_count++] = (struct call){operation->correlation, operation->begin};
}

static double launch_of(const struct idling *idling, uint32_t correlation)
{
    struct call key = {correlation, 0};
    const struct call *found = idling->call_count && correlation != RECORDED_NONE
                                   ? bsearch(&key, idling->calls, idling->call_count, sizeof key, by_correlation)
                                   : NULL;
    return found ? found->begin : NAN;
}

static void collect(struct idling *idling, const struct recorded *recorded, uint32_t rank)
{
    for (size_t i = 0; i < recorded->count; i++)
        if (recorded_rank_of(recorded, &recorded->operations[i]) == rank && !recorded_works(&recorded->operations[i]))
            take_host(idling, recorded, &recorded->operations[i]);
    if (idling->call_count)
        qsort(idling->calls, idling->call_count, sizeof *idling->calls, by_correlation);
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (recorded_rank_of(recorded, operation) != rank || !recorded_works(operation))
            continue;
        idling->works = bulk_grow(idling->works, &idling->work_capacity, idling->work_count + 1, sizeof *idling->works);
        idling->works[idling->work_count++] =
            (struct work){operation->begin, launch_of(idling, operation->correlation)};
    }
    if (idling->work_count)
        qsort(idling->works, idling->work_count, sizeof *idling->works, by_begin);
    moments_unite(&idling->loading);
    moments_unite(&idling->syncing);
    moments_unite(&idling->collecting);
}

/* ---- pieces of idle time ---- */

/* The work that begins first at or after a moment; NULL: none does. */
static const struct work *next_work(const struct idling *idling, double time)
{
    size_t low = 0, high = idling->work_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (idling->works[middle].begin < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low < idling->work_count ? &idling->works[low] : NULL;
}

/* Up to the launch of what comes next the host is late, from there on the launch is under way. */
static void split_gap(const struct idling *idling, const struct interval *gap, struct moments *host,
                      double parts[PROFILE_PARTS])
{
    const struct work *next = next_work(idling, gap->end);
    if (!next && idling->call_count) { /* nothing comes any more in what was recorded */
        moments_add(host, gap->start, gap->end);
        return;
    }
    if (!next || isnan(next->launched)) {
        parts[PROFILE_UNKNOWN] += gap->end - gap->start;
        return;
    }
    double launched = fmin(next->launched, gap->end);
    moments_add(host, gap->start, launched);
    if (launched > gap->start)
        parts[PROFILE_LAUNCH] += gap->end - launched;
    else
        parts[PROFILE_BETWEEN] += gap->end - gap->start;
}

void profile_split_idle(const struct recorded *recorded, uint32_t rank, const struct moments *idle,
                        double parts[PROFILE_PARTS])
{
    struct idling idling = {0};
    struct moments host = {0};
    collect(&idling, recorded, rank);
    for (size_t i = 0; i < idle->count; i++)
        split_gap(&idling, &idle->intervals[i], &host, parts);
    moments_unite(&host);
    parts[PROFILE_LOADING] += moments_take(&host, &idling.loading);
    parts[PROFILE_SYNC] += moments_take(&host, &idling.syncing);
    parts[PROFILE_GARBAGE] += moments_take(&host, &idling.collecting);
    parts[PROFILE_HOST] += moments_length(&host);
    moments_finish(&host);
    moments_finish(&idling.loading);
    moments_finish(&idling.syncing);
    moments_finish(&idling.collecting);
    bulk_free(idling.works, idling.work_capacity * sizeof *idling.works);
    bulk_free(idling.calls, idling.call_capacity * sizeof *idling.calls);
}
