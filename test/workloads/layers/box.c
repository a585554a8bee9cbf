/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges, windows and boxes against indices that are listed one by one. */
#include "workloads/layers/box.h"

#include <criterion/criterion.h>
#include <math.h>

enum { SIZE_MAX_TRIED = 13, KERNEL_MAX = 7, STRIDE_MAX = 3 };

/* Every output's inputs, one by one: where they begin and end, and whether outputs leave none out in between. */
static struct range list_inputs(const struct box_window *window, int first, int end, int size)
{
    int least = size, last = -1;
    for (int output = first; output < end; output++)
        for (int k = 0; k < (int)window->kernel; k++) {
            int input = output * (int)window->stride - (int)window->padding + k;
            if (input < 0 || input >= size)
                continue;
            least = input < least ? input : least;
            last = input > last ? input : last;
        }
    return (struct range){least, last + 1};
}

static void check_window(const struct box_window *window, int size)
{
    int outputs = 0;
    while (outputs * (int)window->stride + (int)window->kernel <= size + 2 * (int)window->padding)
        outputs++;
    cr_assert_eq(window_outputs(window, (uint64_t)size), (uint64_t)outputs);
    for (int first = 0; first < outputs; first++)
        for (int end = first + 1; end <= outputs; end++) {
            struct range range = window_inputs(window, (struct range){first, end}, (uint64_t)size),
                         expected = list_inputs(window, first, end, size);
            if (expected.to > expected.from)
                cr_assert(range.from == expected.from && range.to == expected.to);
            else /* padding alone, or a step over what there is */
                cr_assert(range_length(range) == 0);
        }
}

Test(box, windows)
{
    for (int size = 1; size <= SIZE_MAX_TRIED; size++)
        for (uint64_t kernel = 1; kernel <= KERNEL_MAX; kernel++)
            for (uint64_t stride = 1; stride <= STRIDE_MAX; stride++)
                for (uint64_t padding = 0; padding <= kernel; padding++)
                    check_window(&(struct box_window){kernel, stride, padding, false}, size);
}

Test(box, whole_and_empty)
{
    const struct box_window whole = {.whole = true}, three = {3, 1, 1, false};
    struct range range = window_inputs(&whole, (struct range){0, 1}, 9);
    cr_assert(range.from == 0 && range.to == 9);
    cr_assert_eq(window_outputs(&whole, 9), 1);
    cr_assert(range_length(window_inputs(&whole, (struct range){2, 2}, 9)) == 0);
    cr_assert(range_length(window_inputs(&three, (struct range){2, 2}, 9)) == 0);
}

/* Cuts of equal parts: the k-th part begins behind floor(k n / d) indices; of unequal ones in proportion. */
Test(box, parts)
{
    const double shares[] = {7, 2, 1};
    for (uint32_t length = 1; length < 20; length++)
        for (uint32_t count = 1; count <= length; count++)
            for (uint32_t k = 0; k < count; k++) {
                struct range part = range_part((struct range){5, 5 + length}, k, count, NULL, true),
                             exact = range_part((struct range){5, 5 + length}, k, count, NULL, false);
                cr_assert(part.from == 5 + k * length / count && part.to == 5 + (k + 1) * length / count);
                cr_assert_float_eq(exact.to - exact.from, (double)length / count, 1e-12);
            }
    cr_assert_float_eq(range_part((struct range){0, 64}, 0, 3, shares, false).to, 44.8, 1e-12);
    cr_assert(range_part((struct range){0, 64}, 0, 3, shares, true).to == 45);
    cr_assert(range_part((struct range){0, 64}, 1, 3, shares, true).to == 58);
    cr_assert(range_part((struct range){0, 64}, 2, 3, shares, true).to == 64);
}

/* What two boxes have in common, counted. */
Test(box, common)
{
    enum { SIDE = 4 };
    unsigned seed = 1;
    for (int trial = 0; trial < 2000; trial++) {
        struct box boxes[2];
        for (int b = 0; b < 2; b++)
            for (int d = 0; d < BOX_DIMENSIONS; d++) {
                seed = seed * 1103515245 + 12345;
                boxes[b].ranges[d].from = seed >> 16 & 3;
                boxes[b].ranges[d].to = seed >> 20 & 3;
            }
        unsigned counted = 0;
        for (unsigned cell = 0; cell < SIDE * SIDE * SIDE * SIDE; cell++) {
            bool in = true;
            for (int d = 0; d < BOX_DIMENSIONS; d++) {
                double index = cell >> (2 * d) & 3;
                for (int b = 0; b < 2; b++)
                    in &= index >= boxes[b].ranges[d].from && index < boxes[b].ranges[d].to;
            }
            counted += in;
        }
        cr_assert(box_common(&boxes[0], &boxes[1]) == counted);
    }
}
