/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timed.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { ITEMS = 20000 };

static void check_sorted(struct timed *items, size_t count)
{
    struct timed *scratch = calloc(count + 1, sizeof *scratch);
    for (size_t i = 0; i < count; i++)
        items[i].id = (uint32_t)i;
    double sum = 0, sorted_sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i].entry;
    timed_sort(items, scratch, count);
    for (size_t i = 0; i < count; i++) {
        sorted_sum += items[i].entry;
        bool in_order = i == 0 || items[i - 1].time < items[i].time ||
                        (items[i - 1].time == items[i].time && items[i - 1].id < items[i].id);
        cr_assert(in_order, "item %zu: %g before %g", i, i ? items[i - 1].time : 0, items[i].time);
    }
    cr_assert_eq(sum, sorted_sum);
    free(scratch);
}

Test(timed, sorts_stably)
{
    static struct timed items[ITEMS];
    for (size_t count = 0; count <= ITEMS; count = count ? 10 * count > ITEMS ? ITEMS + 1 : 10 * count : 1) {
        srand(2);
        for (size_t i = 0; i < count; i++)
            items[i] = (struct timed){.time = rand() % 9 ? ldexp(rand() % 100 - 50, rand() % 60 - 40) : -0.0,
                                      .entry = (uint32_t)rand()};
        check_sorted(items, count);
    }
}

Test(timed, of_all_signs_and_sizes)
{
    struct timed items[] = {{.time = INFINITY},  {.time = -1e-300}, {.time = 5e-324}, {.time = 0},
                            {.time = -INFINITY}, {.time = 1e300},   {.time = -7},     {.time = 1}};
    check_sorted(items, sizeof items / sizeof *items);
}
