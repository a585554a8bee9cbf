/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/meetings.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

/* A member of a collective, the n-th of its group in the step on its rank; or an end of a message, the n-th from one
 * rank to the other. */
struct member {
    uint64_t group; /* MESSAGE and both ranks, or the group */
    uint32_t step, number, operation, rank;
};
#define MESSAGE (1ull << 63)

static int by_rank(const void *left, const void *right, void *user)
{
    const struct recorded *recorded = user;
    const struct member *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    double first = recorded->operations[a->operation].begin, second = recorded->operations[b->operation].begin;
    return first != second ? (first > second) - (first < second)
                           : (a->operation > b->operation) - (a->operation < b->operation);
}

static int by_meeting(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* NONE: nothing is known of whom it is with. */
static uint64_t group_of(const struct recorded *recorded, const struct recorded_operation *operation)
{
    uint64_t own = recorded->ranks[recorded_rank_of(recorded, operation)].number, peer = operation->peer;
    bool message = recorded_is_message(operation);
    if (operation->kind == RECORDED_COLLECTIVE && operation->waiting)
        return operation->group;
    if (!message || !operation->waiting || peer == RECORDED_NONE)
        return RECORDED_NONE;
    return operation->kind == RECORDED_SEND ? MESSAGE | own << 31 | peer : MESSAGE | peer << 31 | own;
}

static struct member *collect(const struct recorded *recorded, size_t *count)
{
    size_t capacity = 0;
    struct member *members = NULL;
    *count = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        uint64_t group = group_of(recorded, operation);
        if (group == RECORDED_NONE)
            continue;
        members = array_grow(members, &capacity, *count + 1, sizeof *members);
        members[(*count)++] =
            (struct member){group, operation->step, 0, (uint32_t)i, recorded_rank_of(recorded, operation)};
    }
    if (!*count)
        return members;
    qsort_r(members, *count, sizeof *members, by_rank, (void *)(uintptr_t)recorded);
    for (size_t i = 1; i < *count; i++) {
        const struct member *before = &members[i - 1];
        if (before->rank == members[i].rank && before->group == members[i].group && before->step == members[i].step)
            members[i].number = before->number + 1;
    }
    qsort(members, *count, sizeof *members, by_meeting);
    return members;
}

/* The end of those that meet with the first. */
static size_t meeting_end(const struct member *members, size_t first, size_t count)
{
    size_t end = first + 1;
    while (end < count && members[end].group == members[first].group && members[end].step == members[first].step &&
           members[end].number == members[first].number)
        end++;
    return end;
}

/* ---- arrivals ---- */

/* One that ends before the others come only gives. */
static void arrive(const struct recorded *recorded, const struct member *members, size_t count,
                   struct meetings *meetings, double *sums, uint32_t *counts)
{
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        first = fmin(first, recorded->operations[members[i].operation].begin);
        last = fmax(last, recorded->operations[members[i].operation].begin);
    }
    for (size_t i = 0; i < count; i++) {
        const struct recorded_operation *operation = &recorded->operations[members[i].operation];
        meetings->latest[members[i].operation] = operation->end < last ? operation->begin : last;
        if (members[i].group & MESSAGE)
            continue;
        sums[members[i].rank] += operation->begin - first;
        counts[members[i].rank]++;
    }
}

void meetings_find(const struct recorded *recorded, bool symmetric, struct arena *arena, struct meetings *meetings)
{
    size_t count, ranks = recorded->rank_count;
    *meetings = (struct meetings){NULL};
    meetings->latest = arena_array(arena, recorded->count + 1, sizeof *meetings->latest);
    meetings->lateness = arena_array(arena, ranks + 1, sizeof *meetings->lateness);
    for (size_t i = 0; i < recorded->count; i++)
        meetings->latest[i] = recorded->operations[i].data;
    struct member *members = collect(recorded, &count);
    uint32_t *counts = array_zeroed(ranks, sizeof *counts);
    for (size_t i = 0, end; i < count; i = end) {
        end = meeting_end(members, i, count);
        bool message = members[i].group & MESSAGE;
        uint32_t size = message ? 2 : recorded->groups[members[i].group].size;
        bool whole = end - i > 1 && (!size || end - i >= size);
        if (!whole && !message)
            meetings->alone += end - i;
        if (!whole && (!symmetric || message))
            continue;
        meetings->met += whole && !message;
        meetings->completed += whole ? 0 : end - i;
        arrive(recorded, &members[i], end - i, meetings, meetings->lateness, counts);
    }
    for (size_t i = 0; i < ranks; i++)
        meetings->lateness[i] = counts[i] ? meetings->lateness[i] / counts[i] : NAN;
    free(counts);
    free(members);
}
