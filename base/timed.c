/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timed.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 6, INSERTION_MAX = 32 };

/* An integer in the order of the double: for negative numbers all bits turn around, for others the sign. */
static uint64_t key_of(double time)
{
    uint64_t bits;
    time += 0.0; /* -0 and 0 are equal */
    memcpy(&bits, &time, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static size_t digit_of(const struct timed *item, unsigned pass)
{
    return key_of(item->time) >> (pass * DIGIT_BITS) & (DIGITS - 1);
}

static void sort_few(struct timed *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct timed item = items[i];
        size_t k = i;
        for (; k > 0 && items[k - 1].time > item.time; k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

static bool distribute(const struct timed *from, struct timed *to, size_t count, unsigned pass)
{
    size_t starts[DIGITS] = {0}, total = 0;
    for (size_t i = 0; i < count; i++)
        starts[digit_of(&from[i], pass)]++;
    if (starts[digit_of(&from[0], pass)] == count)
        return false;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t here = starts[digit];
        starts[digit] = total;
        total += here;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(&from[i], pass)]++] = from[i];
    return true;
}

/* Radix sort from the least significant digit. */
void timed_sort(struct timed *items, struct timed *scratch, size_t count)
{
    if (count <= INSERTION_MAX) {
        sort_few(items, count);
        return;
    }
    struct timed *from = items, *to = scratch;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        if (!distribute(from, to, count, pass))
            continue;
        struct timed *swap = from;
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
