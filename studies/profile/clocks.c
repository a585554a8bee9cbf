/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/clocks.h"

#include "base/arena.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>

/* Off by more than this, and by more than ten times what the ends differ otherwise, is another clock. */
static const double least_seconds = 100e-6, spreads = 10;

/* An operation that ends together with those of the same keys. */
struct end {
    uint64_t first, second, third;
    uint32_t rank, operation;
};

/* How much later the second rank's end is, of something that ends together. */
struct difference {
    uint32_t from, to; /* indices of ranks, from < to */
    double seconds;
};

struct differences {
    struct difference *items;
    size_t count, capacity;
};

static int by_keys(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    if (a->third != b->third)
        return a->third < b->third ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static int by_ranks(const void *left, const void *right)
{
    const struct difference *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

/* ---- what ends together ---- */

/* The last two bits of an end's first key: how its third one, the number among those alike, is known. */
enum { END_COLLECTIVE, END_MESSAGE, END_UNNUMBERED, END_KINDS = 4 };

static bool keys_of(const struct recorded *recorded, uint32_t index, struct end *end)
{
    const struct recorded_operation *operation = &recorded->operations[index];
    uint32_t rank = recorded_rank_of(recorded, operation), own = recorded->ranks[rank].number;
    bool send = operation->kind == RECORDED_SEND, receive = operation->kind == RECORDED_RECEIVE;
    *end = (struct end){.rank = rank, .operation = index};
    if (operation->kind == RECORDED_COLLECTIVE && operation->waiting && operation->group != RECORDED_NONE) {
        end->first = (uint64_t)operation->group * END_KINDS + END_COLLECTIVE;
        end->second = operation->step;
        return true; /* numbered later */
    }
    if (!(send || (receive && operation->waiting)) || operation->peer == RECORDED_NONE)
        return false;
    bool numbered = operation->sequence != RECORDED_NONE;
    end->first = (uint64_t)operation->step * END_KINDS + (numbered ? END_MESSAGE : END_UNNUMBERED);
    end->second = send ? (uint64_t)own << 32 | operation->peer : (uint64_t)operation->peer << 32 | own;
    end->third = numbered ? (uint64_t)operation->name << 32 | operation->sequence : 0;
    return true;
}

/* Collectives of a group are the n-th of it in the step on each rank, messages the n-th from one rank to another:
 * operations of a stream are in order of begin. */
static void number_ends(const struct recorded *recorded, struct end *ends, size_t count)
{
    qsort(ends, count, sizeof *ends, by_keys);
    for (size_t i = 1; i < count; i++) {
        const struct end *before = &ends[i - 1];
        if (ends[i].first % END_KINDS != END_MESSAGE && before->first == ends[i].first &&
            before->second == ends[i].second && before->rank == ends[i].rank &&
            recorded->operations[before->operation].stream == recorded->operations[ends[i].operation].stream)
            ends[i].third = before->third + 1;
    }
    qsort(ends, count, sizeof *ends, by_keys);
}

static void add_difference(struct differences *differences, uint32_t from, uint32_t to, double seconds)
{
    differences->items =
        array_grow(differences->items, &differences->capacity, differences->count + 1, sizeof *differences->items);
    differences->items[differences->count++] =
        from < to ? (struct difference){from, to, seconds} : (struct difference){to, from, -seconds};
}

static struct differences find_differences(const struct recorded *recorded)
{
    struct differences differences = {0};
    struct end *ends = NULL, end;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < recorded->count; i++) {
        if (!keys_of(recorded, (uint32_t)i, &end))
            continue;
        ends = array_grow(ends, &capacity, count + 1, sizeof *ends);
        ends[count++] = end;
    }
    if (count)
        number_ends(recorded, ends, count);
    for (size_t i = 0, first = 0; i < count; i++) {
        if (ends[i].first != ends[first].first || ends[i].second != ends[first].second ||
            ends[i].third != ends[first].third)
            first = i;
        if (ends[i].rank != ends[first].rank)
            add_difference(&differences, ends[first].rank, ends[i].rank,
                           recorded->operations[ends[i].operation].end -
                               recorded->operations[ends[first].operation].end);
    }
    free(ends);
    if (differences.count)
        qsort(differences.items, differences.count, sizeof *differences.items, by_ranks);
    return differences;
}

/* ---- pairs of ranks ---- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* One difference for each pair: the median, or 0 where it is not clear. */
static void join_pairs(struct differences *differences)
{
    size_t kept = 0;
    double *scratch = array_zeroed(differences->count, sizeof *scratch);
    for (size_t i = 0, end; i < differences->count; i = end) {
        const struct difference *first = &differences->items[i];
        for (end = i; end < differences->count && differences->items[end].from == first->from &&
                      differences->items[end].to == first->to;
             end++) {}
        double middle = differences->items[i + (end - i - 1) / 2].seconds;
        for (size_t k = i; k < end; k++)
            scratch[k - i] = fabs(differences->items[k].seconds - middle);
        qsort(scratch, end - i, sizeof *scratch, by_value);
        double spread = scratch[(end - i - 1) / 2];
        bool clear = fabs(middle) > least_seconds && fabs(middle) > spreads * spread;
        differences->items[kept++] = (struct difference){first->from, first->to, clear ? middle : 0};
    }
    differences->count = kept;
    free(scratch);
}

/* How far each rank's clock is ahead of the first one's, [rank index]; NaN: they share nothing. */
static double *find_offsets(const struct recorded *recorded, const struct differences *pairs)
{
    double *offsets = array_zeroed(recorded->rank_count, sizeof *offsets);
    for (size_t i = 1; i < recorded->rank_count; i++)
        offsets[i] = NAN;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < pairs->count; i++) {
            const struct difference *pair = &pairs->items[i];
            if (isnan(offsets[pair->from]) == isnan(offsets[pair->to]))
                continue;
            changed = true;
            if (isnan(offsets[pair->to]))
                offsets[pair->to] = offsets[pair->from] + pair->seconds;
            else
                offsets[pair->from] = offsets[pair->to] - pair->seconds;
        }
    }
    return offsets;
}

/* The clock that most ranks have stays. */
static double common_offset(const double *offsets, size_t count)
{
    double *sorted = array_zeroed(count, sizeof *sorted);
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(offsets[i]))
            sorted[known++] = offsets[i];
    qsort(sorted, known, sizeof *sorted, by_value);
    double middle = sorted[(known - 1) / 2];
    free(sorted);
    return middle;
}

static void shift(struct recorded *recorded, uint32_t rank, double seconds)
{
    char text[READABLE_MAX];
    recorded->ranks[rank].shift -= seconds;
    for (size_t i = 0; i < recorded->count; i++)
        if (recorded_rank_of(recorded, &recorded->operations[i]) == rank) {
            recorded->operations[i].begin -= seconds;
            recorded->operations[i].end -= seconds;
            recorded->operations[i].data -= seconds;
        }
    recorded_note(recorded,
                  "the clock of rank %u is %s %s those of others, as the ends of what they do together say; it "
                  "is put right",
                  recorded->ranks[rank].number, readable_seconds(text, fabs(seconds)),
                  seconds > 0 ? "ahead of" : "behind");
}

void clocks_align(struct recorded *recorded)
{
    struct differences differences = find_differences(recorded);
    if (differences.count) {
        join_pairs(&differences);
        double *offsets = find_offsets(recorded, &differences);
        double common = common_offset(offsets, recorded->rank_count);
        for (uint32_t rank = 0; rank < recorded->rank_count; rank++)
            if (!isnan(offsets[rank]) && fabs(offsets[rank] - common) > least_seconds)
                shift(recorded, rank, offsets[rank] - common);
        free(offsets);
    }
    free(differences.items);
}
