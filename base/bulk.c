/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bulk.h"

#include "base/memory/spare.h"
#include "base/sanitized.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* WebAssembly has no pages to map: its mmap is malloc, and what was mapped cannot grow. */
#ifdef __EMSCRIPTEN__
enum { HAS_PAGES = 0 };
#else
enum { HAS_PAGES = 1 };
#endif
/* Smaller blocks are malloc's; sanitizer builds leave it all of them. */
#define PAGES_FROM (SANITIZED || !HAS_PAGES ? SIZE_MAX : (size_t)256 << 10)
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

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED && spare_release())
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (size >= HUGE_FROM && memory != MAP_FAILED)
        madvise(memory, size, MADV_HUGEPAGE); /* a wish */
    return memory;
}

/* Of what is spare, or new. */
static void *take_pages(size_t bytes, bool *zeroed)
{
    size_t size = spare_size(bytes);
    void *memory = spare_take(size);
    *zeroed = !memory;
    return memory ? memory : checked(map(size), bytes);
}

static void give_pages(void *memory, size_t bytes)
{
    size_t size = spare_size(bytes);
    if (!spare_keep(memory, size))
        munmap(memory, size);
}

void *memory_zeroed(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory && spare_release())
        memory = calloc(count, size);
    return checked(memory, count > SIZE_MAX / (size ? size : 1) ? SIZE_MAX : count * size);
}

void *memory_resize(void *memory, size_t bytes)
{
    void *resized = realloc(memory, bytes);
    if (!resized && spare_release())
        resized = realloc(memory, bytes);
    return checked(resized, bytes);
}

size_t bulk_size(size_t bytes)
{
    return bytes < PAGES_FROM ? bytes : spare_size(bytes);
}

void *bulk_take(size_t bytes, bool *zeroed)
{
    bool pages = bytes >= PAGES_FROM, zeroes = false;
    void *memory = pages ? take_pages(bytes, &zeroes) : memory_resize(NULL, bytes ? bytes : 1);
    if (zeroed)
        *zeroed = zeroes;
    return memory;
}

void *bulk_alloc(size_t bytes)
{
    bool zeroed = false;
    if (bytes < PAGES_FROM)
        return memory_zeroed(1, bytes ? bytes : 1);
    void *memory = take_pages(bytes, &zeroed);
    return zeroed ? memory : memset(memory, 0, bytes);
}

void bulk_free(void *memory, size_t bytes)
{
    if (bytes < PAGES_FROM)
        free(memory);
    else if (memory)
        give_pages(memory, bytes);
}

static void *grow_pages(void *memory, size_t old, size_t bytes)
{
    size_t mapped = spare_size(old), size = spare_size(bytes);
    if (size == mapped)
        return memory;
    void *larger = spare_take(size);
    if (larger) {
        memcpy(larger, memory, old);
        give_pages(memory, old);
        return larger;
    }
    larger = mremap(memory, mapped, size, MREMAP_MAYMOVE);
    if (larger == MAP_FAILED && spare_release())
        larger = mremap(memory, mapped, size, MREMAP_MAYMOVE);
    if (size >= HUGE_FROM && larger != MAP_FAILED)
        madvise(larger, size, MADV_HUGEPAGE);
    return checked(larger, bytes);
}

static void *resize(void *memory, size_t old, size_t bytes)
{
    if (bytes < PAGES_FROM)
        return memory_resize(memory, bytes);
    if (old >= PAGES_FROM)
        return grow_pages(memory, old, bytes);
    void *larger = bulk_take(bytes, NULL);
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
/* Where fewer blocks than that would lie in one. It is the size of an arena's largest chunks, so that arenas take what
 * slabs were. */
#define SLAB_BLOCKS 4
#define LARGE_SLAB_BYTES ((size_t)32 << 20)
#define SLAB_BLOCK_MAX (LARGE_SLAB_BYTES / SLAB_BLOCKS)
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
        return bulk_take(bytes, NULL);
    size_t rounded = (bytes + SLAB_ALIGNMENT - 1) / SLAB_ALIGNMENT * SLAB_ALIGNMENT;
    struct slab *slab = pool->count ? &pool->slabs[pool->count - 1] : NULL;
    if (!slab || slab->size - slab->used < rounded) {
        size_t size = slab || rounded > FIRST_SLAB_BYTES ? SLAB_BYTES : FIRST_SLAB_BYTES;
        if (size < SLAB_BLOCKS * rounded)
            size = SLAB_BLOCKS * rounded <= SLAB_BYTES ? SLAB_BYTES : LARGE_SLAB_BYTES;
        pool->slabs = bulk_grow(pool->slabs, &pool->capacity, pool->count + 1, sizeof *pool->slabs);
        slab = &pool->slabs[pool->count++];
        *slab = (struct slab){.bytes = bulk_take(size, NULL), .size = size};
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
