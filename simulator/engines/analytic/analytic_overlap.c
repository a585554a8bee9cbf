/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/engines/analytic/analytic_overlap.h"

#include "base/arena.h"
#include "simulator/engines/overlap.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A collective under way. */
struct taking {
    double start, end, share;
};

struct computing {
    bool busy;
    double since, left;    /* so much is left to do at that time */
    uint64_t event;        /* number of the event that is its end; earlier ones are void */
    struct taking *taking; /* in the order in which they began */
    size_t count, capacity;
};

struct event {
    double time;
    uint64_t number; /* among equal times the earlier one first */
    void *collective;
    uint32_t rank;
};

struct overlaps {
    struct computing *ranks;
    uint32_t rank_count;
    struct event *heap; /* no event is before its parent (i - 1) / 2 */
    size_t count, capacity;
    uint64_t numbers;
    double now;
};

struct overlaps *overlaps_create(uint32_t ranks)
{
    struct overlaps *overlaps = array_zeroed(1, sizeof *overlaps);
    overlaps->ranks = array_zeroed(ranks, sizeof *overlaps->ranks);
    overlaps->rank_count = ranks;
    return overlaps;
}

void overlaps_destroy(struct overlaps *overlaps)
{
    if (!overlaps)
        return;
    for (uint32_t rank = 0; rank < overlaps->rank_count; rank++)
        free(overlaps->ranks[rank].taking);
    free(overlaps->ranks);
    free(overlaps->heap);
    free(overlaps);
}

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time <= b->time && a->number < b->number);
}

static uint64_t add_event(struct overlaps *overlaps, struct event event)
{
    event.number = ++overlaps->numbers;
    overlaps->heap = array_grow(overlaps->heap, &overlaps->capacity, overlaps->count + 1, sizeof *overlaps->heap);
    size_t place = overlaps->count++;
    for (; place && is_before(&event, &overlaps->heap[(place - 1) / 2]); place = (place - 1) / 2)
        overlaps->heap[place] = overlaps->heap[(place - 1) / 2];
    overlaps->heap[place] = event;
    return event.number;
}

static struct event take_first(struct overlaps *overlaps)
{
    struct event first = overlaps->heap[0], last = overlaps->heap[--overlaps->count];
    size_t place = 0;
    for (size_t child = 1; child < overlaps->count; child = 2 * place + 1) {
        if (child + 1 < overlaps->count && is_before(&overlaps->heap[child + 1], &overlaps->heap[child]))
            child++;
        if (is_before(&last, &overlaps->heap[child]))
            break;
        overlaps->heap[place] = overlaps->heap[child];
        place = child;
    }
    overlaps->heap[place] = last;
    return first;
}

/* ---- computing ---- */

/* How fast the rank computes at a time, and until when. */
static double rate_at(const struct computing *computing, double time, double *until)
{
    double share = 0;
    *until = INFINITY;
    for (size_t i = 0; i < computing->count; i++) {
        const struct taking *taking = &computing->taking[i];
        if (taking->start <= time && time < taking->end) {
            share += taking->share;
            *until = fmin(*until, taking->end);
        } else if (taking->start > time) {
            *until = fmin(*until, taking->start);
        }
    }
    return 1 - fmin(share, OVERLAP_MOST);
}

/* Computes up to `limit`, or until nothing is left. */
static void compute_until(struct computing *computing, double limit)
{
    while (computing->left > 0 && computing->since < limit) {
        double until, rate = rate_at(computing, computing->since, &until),
                      end = computing->since + computing->left / rate;
        until = fmin(until, limit);
        computing->left = end <= until ? 0 : computing->left - rate * (until - computing->since);
        computing->since = fmin(end, until);
    }
}

static void foresee_end(struct overlaps *overlaps, uint32_t rank)
{
    struct computing ahead = overlaps->ranks[rank];
    compute_until(&ahead, INFINITY);
    overlaps->ranks[rank].event = add_event(overlaps, (struct event){.time = ahead.since, .rank = rank});
}

static void forget_past(struct computing *computing, double time)
{
    size_t kept = 0;
    for (size_t i = 0; i < computing->count; i++)
        if (computing->taking[i].end > time)
            computing->taking[kept++] = computing->taking[i];
    computing->count = kept;
}

void overlaps_compute(struct overlaps *overlaps, uint32_t rank, double start, double seconds)
{
    struct computing *computing = &overlaps->ranks[rank];
    assert(!computing->busy && start >= overlaps->now);
    forget_past(computing, start);
    computing->busy = true;
    computing->since = start;
    computing->left = seconds;
    foresee_end(overlaps, rank);
}

void overlaps_await(struct overlaps *overlaps, double start, void *collective)
{
    assert(collective && start >= overlaps->now);
    add_event(overlaps, (struct event){.time = start, .collective = collective});
}

void overlaps_take(struct overlaps *overlaps, uint32_t rank, double start, double end, double share)
{
    struct computing *computing = &overlaps->ranks[rank];
    if (computing->busy)
        compute_until(computing, overlaps->now);
    forget_past(computing, overlaps->now);
    computing->taking =
        array_grow(computing->taking, &computing->capacity, computing->count + 1, sizeof *computing->taking);
    computing->taking[computing->count++] = (struct taking){fmax(start, overlaps->now), end, share};
    if (computing->busy)
        foresee_end(overlaps, rank);
}

/* Where several began together one is like the other. */
void overlaps_leave(struct overlaps *overlaps, uint32_t rank, double start, double end, double share)
{
    struct computing *computing = &overlaps->ranks[rank];
    struct taking *found = NULL;
    if (computing->busy)
        compute_until(computing, overlaps->now);
    for (size_t i = 0; i < computing->count && !found; i++) {
        struct taking *taking = &computing->taking[i];
        if (isinf(taking->end) && taking->share >= share && taking->share <= share &&
            fabs(taking->start - start) <= 1e-9 * fabs(start))
            found = taking;
    }
    assert(found);
    if (found)
        found->end = end;
    if (computing->busy)
        foresee_end(overlaps, rank);
}

bool overlaps_next(struct overlaps *overlaps, struct overlap_event *event)
{
    while (overlaps->count) {
        struct event first = take_first(overlaps);
        struct computing *computing = first.collective ? NULL : &overlaps->ranks[first.rank];
        if (computing && (!computing->busy || computing->event != first.number))
            continue;
        if (computing)
            computing->busy = false;
        overlaps->now = first.time;
        *event = (struct overlap_event){first.time, first.collective, first.rank};
        return true;
    }
    return false;
}
