/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of arenas, growing arrays, and pages of their own: zeroed, aligned, apart from each other. */
#include "base/arena.h"

#include "base/bulk.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 3000 };

static void expect_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(bytes[i], 0);
}

/* Sizes of a few bytes, and now and then of more than a chunk. */
static size_t size_of(size_t piece)
{
    return piece % 500 == 499 ? 300000 : piece * 37 % 200;
}

Test(arena, pieces_are_zeroed_aligned_and_apart)
{
    struct arena *arena = arena_create();
    unsigned char *pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = arena_alloc(arena, size_of(i));
        cr_assert_eq((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        expect_zero(pieces[i], size_of(i));
        memset(pieces[i], (int)(i % 255) + 1, size_of(i));
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < size_of(i); k++)
            cr_assert_eq(pieces[i][k], i % 255 + 1, "piece %zu was written by another", i);
    arena_destroy(arena);
    arena_destroy(NULL);
}

Test(arena, texts)
{
    struct arena *arena = arena_create();
    char text[] = "text";
    const char *copy = arena_copy(arena, text);
    text[0] = 'n';
    cr_assert_str_eq(copy, "text");
    cr_assert_str_eq(arena_print(arena, "%s of %d%%", copy, 7), "text of 7%");
    cr_assert_str_eq(arena_print(arena, "%s", ""), "");
    cr_assert_eq(strlen(arena_print(arena, "%*d", 200000, 1)), 200000);
    arena_destroy(arena);
}

Test(arena, arrays_grow_and_keep_what_they_hold)
{
    uint32_t *items = NULL, *mapped = NULL;
    size_t capacity = 0, mapped_capacity = 0;
    for (uint32_t i = 0; i < 300000; i++) {
        items = array_grow(items, &capacity, i + 1, sizeof *items);
        mapped = bulk_grow(mapped, &mapped_capacity, i + 1, sizeof *mapped);
        cr_assert(capacity > i && mapped_capacity > i);
        items[i] = mapped[i] = i;
    }
    for (uint32_t i = 0; i < 300000; i++)
        cr_assert(items[i] == i && mapped[i] == i);
    free(items);
    bulk_free(mapped, mapped_capacity * sizeof *mapped);
    uint64_t *zeros = array_zeroed(0, sizeof *zeros);
    cr_assert_not_null(zeros);
    free(zeros);
}

Test(arena, large_memory_is_zeroed_again)
{
    for (int round = 0; round < 3; round++) {
        unsigned char *memory = bulk_alloc(5000000);
        expect_zero(memory, 5000000);
        memset(memory, 1, 5000000);
        bulk_free(memory, 5000000);
    }
    bulk_free(NULL, 5);
}

Test(arena, blocks_of_a_pool_keep_what_they_hold)
{
    enum { BLOCKS = 50, LENGTH = 60000 };
    struct bulk_pool pool = {0};
    uint32_t *blocks[BLOCKS] = {NULL};
    size_t capacities[BLOCKS] = {0};
    for (uint32_t length = 1; length <= LENGTH; length *= 7)
        for (uint32_t block = 0; block < BLOCKS; block++) {
            blocks[block] = bulk_pool_grow(&pool, blocks[block], &capacities[block], length, sizeof *blocks[block]);
            blocks[block][length - 1] = block;
        }
    for (uint32_t block = 0; block < BLOCKS; block++) {
        cr_assert_eq(blocks[block][0], block);
        bulk_pool_free(&pool, blocks[block], capacities[block] * sizeof *blocks[block]);
    }
    bulk_pool_finish(&pool);
}

Test(arena, requests_beyond_all_memory_end_with_a_message, .exit_code = 3)
{
    arena_array(arena_create(), SIZE_MAX / 4, 8);
}
