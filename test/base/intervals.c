/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intervals.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANTS = 40, SETS = 500, INTERVALS = 12 };

/* Random intervals between whole instants, and which unit steps they cover. */
static size_t make_set(struct interval *set, bool *covered)
{
    size_t count = (size_t)rand() % INTERVALS;
    memset(covered, 0, INSTANTS);
    for (size_t i = 0; i < count; i++) {
        int start = rand() % INSTANTS, length = rand() % 6;
        int end = start + length < INSTANTS ? start + length : INSTANTS;
        set[i] = (struct interval){start, end};
        memset(covered + start, 1, (size_t)(end - start));
    }
    return count;
}

static double steps(const bool *left, const bool *right)
{
    double sum = 0;
    for (size_t i = 0; i < INSTANTS; i++)
        sum += left[i] && right[i];
    return sum;
}

/* Apart from each other, in order, none empty. */
static void check_united(const struct interval *set, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_assert(set[i].start < set[i].end && (i == 0 || set[i - 1].end < set[i].start));
}

Test(intervals, agree_with_counting_unit_steps)
{
    srand(1);
    for (int round = 0; round < SETS; round++) {
        struct interval left[INTERVALS], right[INTERVALS];
        bool in_left[INSTANTS], in_right[INSTANTS];
        size_t left_count = intervals_unite(left, make_set(left, in_left));
        size_t right_count = intervals_unite(right, make_set(right, in_right));
        check_united(left, left_count);
        check_united(right, right_count);
        cr_assert_eq(intervals_length(left, left_count), steps(in_left, in_left));
        cr_assert_eq(intervals_common(left, left_count, right, right_count), steps(in_left, in_right));
        cr_assert_eq(intervals_common(right, right_count, left, left_count), steps(in_left, in_right));
    }
}

Test(intervals, of_nothing)
{
    struct interval empty[] = {{3, 3}, {1, 1}};
    cr_assert_eq(intervals_unite(empty, 2), 0);
    cr_assert_eq(intervals_length(empty, 0), 0);
    cr_assert_eq(intervals_common(empty, 0, empty, 0), 0);
}
