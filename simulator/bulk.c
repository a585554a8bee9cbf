/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/bulk.h"

#include <stdint.h>
#include <stdio.h>
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
#define PAGES_FROM ((size_t)1 << 20)
#endif
/* Huge pages are of 2 MiB: at least half of them are then in use. */
#define HUGE_FROM ((size_t)4 << 20)

static void die_of_memory(size_t bytes)
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

void *bulk_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return items;
    size_t larger = *capacity > SIZE_MAX / 2 || 2 * *capacity < count ? count : 2 * *capacity;
    larger = larger < 16 ? 16 : larger;
    if (size && larger > SIZE_MAX / size)
        die_of_memory(SIZE_MAX);
    items = resize(items, *capacity * size, larger * size);
    *capacity = larger;
    return items;
}
