/* SPDX-License-Identifier: Apache-2.0 */
/* What is given back serves the next one of its size, never two at once, and is bounded; memory that is promised to be
 * zero is zero all the same. */
#include "base/memory/spare.h"

#include "base/arena.h"
#include "base/bulk.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

#define MEBI ((size_t)1 << 20)

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    return memory;
}

Test(spare, sizes_are_few_and_little_is_wasted)
{
    size_t last = 0, different = 0;
    for (size_t bytes = MEBI / 4; bytes <= 256 * MEBI; bytes += bytes / 97) {
        size_t size = spare_size(bytes);
        cr_assert(size >= bytes && size >= last && size % 4096 == 0);
        cr_assert_eq(spare_size(size), size);
        cr_assert(size <= bytes + bytes / 4 + (bytes > 2 * MEBI ? 2 * MEBI : 0));
        cr_assert(bytes <= 2 * MEBI || size % (2 * MEBI) == 0);
        different += bytes <= 64 * MEBI && size != last;
        last = size;
    }
    cr_assert_leq(different, 4 * 8 + 1);
}

Test(spare, a_mapping_serves_once_and_only_its_size)
{
    void *memory = map(MEBI);
    cr_assert_not(spare_release());
    cr_assert(spare_keep(memory, MEBI));
    cr_assert_eq(spare_bytes(), MEBI);
    cr_assert_null(spare_take(2 * MEBI));
    cr_assert_eq(spare_take(MEBI), memory);
    cr_assert_null(spare_take(MEBI));
    cr_assert_eq(spare_bytes(), 0);
    munmap(memory, MEBI);
}

Test(spare, bytes_and_mappings_are_bounded)
{
    void *large = map(65 * MEBI);
    cr_assert_not(spare_keep(large, 65 * MEBI));
    munmap(large, 65 * MEBI);
    for (int i = 0; i < 20; i++)
        cr_assert(spare_keep(map(10 * MEBI), 10 * MEBI));
    cr_assert_eq(spare_bytes(), 60 * MEBI);
    for (int i = 0; i < 300; i++)
        cr_assert(spare_keep(map(MEBI / 4), MEBI / 4));
    cr_assert_eq(spare_bytes(), 64 * (MEBI / 4));
    cr_assert(spare_release());
    cr_assert_eq(spare_bytes(), 0);
}

/* New pages do not come on top of many that are spare. */
Test(spare, what_is_missed_goes_back)
{
    for (int i = 0; i < 7; i++)
        cr_assert(spare_keep(map(8 * MEBI), 8 * MEBI));
    cr_assert_null(spare_take(12 * MEBI));
    cr_assert_eq(spare_bytes(), 40 * MEBI);
    cr_assert_null(spare_take(64 * MEBI));
    cr_assert_eq(spare_bytes(), 8 * MEBI);
    cr_assert_null(spare_take(64 * MEBI));
    cr_assert_eq(spare_bytes(), 8 * MEBI);
    cr_assert_null(spare_take(66 * MEBI));
    cr_assert_eq(spare_bytes(), 0);
}

static void expect_zero(const unsigned char *bytes, size_t size)
{
    unsigned char all = 0;
    for (size_t i = 0; i < size; i++)
        all |= bytes[i];
    cr_assert_eq(all, 0);
}

Test(spare, memory_that_is_used_again_is_zero_where_that_is_promised)
{
    enum { ROUNDS = 4, PIECES = 40 };
    for (size_t round = 0; round < ROUNDS; round++) {
        struct arena *arena = arena_create();
        for (size_t i = 0; i < PIECES; i++) {
            size_t size = 1000 + i * 50000;
            memset(arena_array_unset(arena, size, 1), 0xff, size);
            expect_zero(memset(arena_alloc(arena, size), 0, 0), size);
            unsigned char *array = arena_array(arena, size, 1), *bulk = bulk_alloc(size);
            expect_zero(array, size);
            expect_zero(bulk, size);
            memset(array, 0xff, size);
            memset(bulk, 0xff, size);
            bulk_free(bulk, size);
        }
        arena_destroy(arena);
    }
}

/* Arrays that grow keep what they hold, whether their pages are spare or new. */
Test(spare, arrays_grow_into_what_was_given_back)
{
    for (size_t round = 0; round < 3; round++) {
        size_t *items = NULL, capacity = 0;
        for (size_t i = 0; i < MEBI; i++) {
            items = bulk_grow(items, &capacity, i + 1, sizeof *items);
            items[i] = 7 * i + round;
        }
        size_t kept = 0;
        for (size_t i = 0; i < MEBI; i++)
            kept += items[i] == 7 * i + round;
        cr_assert_eq(kept, MEBI);
        bulk_free(items, capacity * sizeof *items);
    }
}
