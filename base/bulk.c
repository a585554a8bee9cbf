/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bulk.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Smaller blocks are malloc's; sanitizer builds leave it all of them, so that an overrun is seen. */
#if defined(__SANITIZE_ADDRESS__)
#define PAGES_FROM SIZE_MAX
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PAGES_FROM SIZE_MAX
#endif
#endif
#ifndef PAGES_FROM
#define PAGES_FROM ((size_t)256 << 10)
#endif
/* The size of a huge page. */
#define HUGE_FROM ((size_t)2 << 20)

void die_of_memory(size_t bytes)
{
    fprintf(stderr, "stagesim: out of memory (%zu bytes asked for)\n", bytes);
    exit(3);
}

static void *checked(void *memory, size_t bytes)
{
    if (!memory || memory == MAP_FAILED)
        die_of_memory(bytes);
    return memory;
}

static void *map(size_t bytes)
{
    void *memory = checked(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes);
    if (bytes >= HUGE_FROM)
        madvise(memory, bytes, MADV_HUGEPAGE); /* a wish */
    return memory;
}

void *bulk_alloc(size_t bytes)
{
    return bytes < PAGES_FROM ? checked(calloc(1, bytes ? bytes : 1), bytes) : map(bytes);
}

void bulk_free(void *memory, size_t bytes)
{
    if (bytes < PAGES_FROM)
        free(memory);
    else if (memory)
        munmap(memory, bytes);
}

static void *resize(void *memory, size_t old, size_t bytes)
{
    if (bytes < PAGES_FROM)
        return checked(realloc(memory, bytes), bytes);
    if (old >= PAGES_FROM) {
        memory = checked(mremap(memory, old, bytes, MREMAP_MAYMOVE), bytes);
        if (bytes >= HUGE_FROM)
            madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
    }
    void *larger = map(bytes);
    if (old)
        memcpy(larger, memory, old);
    free(memory);
    return larger;
}

static size_t larger_capacity(size_t capacity, size_t count, size_t size)
{
    size_t larger = capacity > SIZE_MAX / 2 || 2 * capacity < count ? count : 2 * capacity;
    larger = larger < 16 ? 16 : larger;
    if (size && larger > SIZE_MAX / size)
        die_of_memory(SIZE_MAX);
    return larger;
}

void *bulk_resize(void *items, size_t *capacity, size_t count, size_t size)
{
    size_t larger = larger_capacity(*capacity, count, size);
    items = resize(items, *capacity * size, larger * size);
    *capacity = larger;
    return items;
}

/* ---- pools ---- */

/* The first slab is small, for the many programs that are. */
#define FIRST_SLAB_BYTES ((size_t)256 << 10)
#define SLAB_BYTES ((size_t)4 << 20)
#define SLAB_BLOCKS 4 /* at least, where blocks are large */
#define SLAB_BLOCK_MAX ((size_t)16 << 20)
#define SLAB_ALIGNMENT 64

struct slab {
    unsigned char *bytes;
    size_t size, used, blocks; /* blocks that are not freed */
};

static bool is_apart(size_t bytes)
{
    return PAGES_FROM == SIZE_MAX || bytes > SLAB_BLOCK_MAX;
}

static void *take(struct bulk_pool *pool, size_t bytes)
{
    if (is_apart(bytes))
        return bulk_alloc(bytes);
    size_t rounded = (bytes + SLAB_ALIGNMENT - 1) / SLAB_ALIGNMENT * SLAB_ALIGNMENT;
    struct slab *slab = pool->count ? &pool->slabs[pool->count - 1] : NULL;
    if (!slab || slab->size - slab->used < rounded) {
        size_t size = slab || rounded > FIRST_SLAB_BYTES ? SLAB_BYTES : FIRST_SLAB_BYTES;
        if (size < SLAB_BLOCKS * rounded)
            size = (SLAB_BLOCKS * rounded + HUGE_FROM - 1) / HUGE_FROM * HUGE_FROM;
        pool->slabs = bulk_grow(pool->slabs, &pool->capacity, pool->count + 1, sizeof *pool->slabs);
        slab = &pool->slabs[pool->count++];
        *slab = (struct slab){.bytes = bulk_alloc(size), .size = size};
    }
    slab->used += rounded;
    slab->blocks++;
    return slab->bytes + slab->used - rounded;
}

void bulk_pool_free(struct bulk_pool *pool, void *memory, size_t bytes)
{
    if (!memory || is_apart(bytes)) {
        bulk_free(memory, bytes);
        return;
    }
    uintptr_t address = (uintptr_t)memory;
    struct slab *slab = pool->slabs;
    while (address - (uintptr_t)slab->bytes >= slab->size) /* of an address before it this is larger still */
        slab++;
    if (--slab->blocks)
        return;
    bulk_free(slab->bytes, slab->size);
    *slab = (struct slab){0};
}

void *bulk_pool_resize(struct bulk_pool *pool, void *items, size_t *capacity, size_t count, size_t size)
{
    size_t larger = larger_capacity(*capacity, count, size), old = *capacity * size;
    if (items && is_apart(old)) {
        items = resize(items, old, larger * size);
    } else {
        void *block = take(pool, larger * size);
        if (items)
            memcpy(block, items, old);
        bulk_pool_free(pool, items, old);
        items = block;
    }
    *capacity = larger;
    return items;
}

void bulk_pool_finish(struct bulk_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        bulk_free(pool->slabs[i].bytes, pool->slabs[i].size);
    bulk_free(pool->slabs, pool->capacity * sizeof *pool->slabs);
    *pool = (struct bulk_pool){0};
}

FILE *memory_stream_open(char **text, size_t *size)
{
    FILE *stream = open_memstream(text, size);
    if (!stream)
        die_of_memory(BUFSIZ);
    return stream;
}

void memory_stream_close(FILE *stream)
{
    bool whole = !ferror(stream);
    if (fclose(stream) || !whole)
        die_of_memory(BUFSIZ);
}
