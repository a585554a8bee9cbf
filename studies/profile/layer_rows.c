/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/layer_rows.h"

#include "base/arena.h"
#include "base/numbers/median.h"
#include "base/table.h"

#include <math.h>
#include <stdlib.h>

/* A layer has some kernels, and there are some of it, and a backward is not much longer than a forward; longer steps
 * are not looked at. */
enum {
    KERNELS_LEAST = 3,
    LONGER_MOST = 4,
    NAMES_LEAST = 3,
    KERNELS_MOST = 1024,
    TIMES_LEAST = 3,
    SEQUENCE_MOST = 1 << 15
};
static const double share_least = 0.1;

/* Kernels of a step in the order in which they begin. */
struct sequence {
    const struct recorded_operation **kernels;
    bool *taken; /* by a row */
    size_t count, capacity;
    double seconds;
};

/* Part of a sequence in which `period` kernels come `times` times. */
struct found {
    size_t first, period, times;
    double seconds;
};

static int by_begin(const void *left, const void *right)
{
    const struct recorded_operation *a = *(const struct recorded_operation *const *)left,
                                    *b = *(const struct recorded_operation *const *)right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a > b) - (a < b);
}

static double length_of(const struct recorded_operation *operation)
{
    return operation->end - operation->begin;
}

static struct sequence sequence_of(const struct recorded *recorded, uint32_t *step)
{
    struct sequence sequence = {0};
    *step = RECORDED_NONE;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind == RECORDED_COMPUTE && recorded_rank_of(recorded, operation) == 0)
            *step = operation->step < *step ? operation->step : *step;
    }
    for (size_t i = 0; i < recorded->count && sequence.count <= SEQUENCE_MOST; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (operation->kind != RECORDED_COMPUTE || recorded_rank_of(recorded, operation) || operation->step != *step)
            continue;
        sequence.kernels =
            array_grow(sequence.kernels, &sequence.capacity, sequence.count + 1, sizeof *sequence.kernels);
        sequence.kernels[sequence.count++] = operation;
        sequence.seconds += length_of(operation);
    }
    if (sequence.count)
        qsort(sequence.kernels, sequence.count, sizeof *sequence.kernels, by_begin);
    sequence.taken = array_zeroed(sequence.count, sizeof *sequence.taken);
    return sequence;
}

static double seconds_between(const struct sequence *sequence, size_t first, size_t end)
{
    double sum = 0;
    for (size_t i = first; i < end; i++)
        sum += length_of(sequence->kernels[i]);
    return sum;
}

static bool repeats(const struct sequence *sequence, size_t i, size_t period)
{
    return !sequence->taken[i] && !sequence->taken[i + period] &&
           sequence->kernels[i]->name == sequence->kernels[i + period]->name;
}

/* Whether some kernels are of several names: an optimizer's, one for each parameter, are not. */
static bool differ(const struct sequence *sequence, size_t first, size_t count)
{
    uint32_t names[NAMES_LEAST], found = 0;
    for (size_t i = first; i < first + count && found < NAMES_LEAST; i++) {
        uint32_t known = 0;
        while (known < found && names[known] != sequence->kernels[i]->name)
            known++;
        if (known == found)
            names[found++] = sequence->kernels[i]->name;
    }
    return found == NAMES_LEAST;
}

/* What repeats with a period and takes longest. */
static struct found longest(const struct sequence *sequence, size_t period)
{
    struct found best = {.period = period};
    for (size_t i = 0, end; i + period < sequence->count; i = end + 1) {
        for (end = i; end + period < sequence->count && repeats(sequence, end, period); end++) {}
        size_t times = (end - i) / period + 1;
        if (times < TIMES_LEAST)
            continue;
        double seconds = seconds_between(sequence, i, i + times * period);
        if (seconds > best.seconds && differ(sequence, i, period))
            best = (struct found){i, period, times, seconds};
    }
    return best;
}

static struct found shortest(const struct sequence *sequence, size_t most)
{
    struct found found = {0};
    most = sequence->count / TIMES_LEAST < most ? sequence->count / TIMES_LEAST : most;
    for (size_t period = KERNELS_LEAST; period <= most && !found.times; period++) {
        found = longest(sequence, period);
        if (found.seconds < share_least * sequence->seconds)
            found.times = 0;
    }
    return found;
}

/* ---- a row ---- */

static uint32_t name_of(const struct sequence *sequence, const struct found *found)
{
    size_t most = found->first;
    for (size_t i = found->first; i < found->first + found->period; i++)
        if (length_of(sequence->kernels[i]) > length_of(sequence->kernels[most]))
            most = i;
    return sequence->kernels[most]->name;
}

static struct layer_row row_of(const struct sequence *sequence, const struct found *found)
{
    struct layer_row row = {
        .kernels = (uint32_t)found->period, .times = (uint32_t)found->times, .name = name_of(sequence, found)};
    double *busy = array_zeroed(found->times, sizeof *busy), *apart = array_zeroed(found->times, sizeof *apart),
           slow = 0;
    for (size_t k = 0; k < found->times; k++) {
        size_t first = found->first + k * found->period;
        busy[k] = seconds_between(sequence, first, first + found->period);
        if (busy[k] > slow) {
            slow = busy[k];
            row.slowest_at = (uint32_t)k;
        }
        if (k)
            apart[k - 1] = sequence->kernels[first]->begin - sequence->kernels[first - found->period]->begin;
    }
    row.slowest = slow / median(busy, found->times);
    row.seconds = median(apart, found->times - 1);
    free(busy);
    free(apart);
    return row;
}

void layer_rows_find(const struct recorded *recorded, struct layer_rows *layers)
{
    *layers = (struct layer_rows){.rank = recorded->ranks[0].number};
    struct sequence sequence = sequence_of(recorded, &layers->step);
    struct found found = {0};
    size_t before = 0;
    for (int row = 0; row < LAYER_ROWS_MAX && sequence.count <= SEQUENCE_MOST; row++) {
        found = shortest(&sequence, row ? found.period * LONGER_MOST : KERNELS_MOST);
        if (!found.times)
            break;
        for (size_t i = found.first; i < found.first + found.period * found.times; i++)
            sequence.taken[i] = true;
        layers->rows[layers->count++] = row_of(&sequence, &found);
        if (row && found.first < before) {
            struct layer_row held = layers->rows[0];
            layers->rows[0] = layers->rows[1];
            layers->rows[1] = held;
        }
        before = found.first;
    }
    free((void *)sequence.kernels);
    free(sequence.taken);
}

const char *layer_rows_text(const struct recorded *recorded, const struct layer_rows *layers, struct arena *arena)
{
    static const double worth = 1.05;
    enum { NAME_COLUMNS = 40 };
    const char *text = NULL;
    char seconds[READABLE_MAX];
    for (size_t i = 0; i < layers->count; i++) {
        const struct layer_row *row = &layers->rows[i];
        const char *slow = row->slowest > worth ? arena_print(arena, "; number %u takes %.3g times the median",
                                                              row->slowest_at + 1, row->slowest)
                                                : "";
        const char *one =
            arena_print(arena, "%u times %u kernels with %.*s, one each %s%s", row->times, row->kernels, NAME_COLUMNS,
                        recorded->names[row->name], readable_seconds(seconds, row->seconds), slow);
        text = text ? arena_print(arena, "%s, then %s", text, one) : one;
    }
    return text ? arena_print(arena, "%s (rank %u)", text, layers->rank) : NULL;
}
