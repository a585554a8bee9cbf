/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/bulk.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizer builds give every request its own malloc, so that an overrun of one object is seen. */
#if defined(__SANITIZE_ADDRESS__)
#define CHUNK_BYTES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHUNK_BYTES 0
#endif
#endif
#ifndef CHUNK_BYTES
#define CHUNK_BYTES ((size_t)64 << 10)
#endif
/* Chunks grow with the arena, so that what is large altogether lies in huge pages. */
#define CHUNK_BYTES_MAX ((size_t)32 << 20)

struct chunk {
    struct chunk *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *chunks;
    size_t total; /* bytes of all chunks */
};

struct arena *arena_create(void)
{
    return bulk_alloc(sizeof(struct arena));
}

void arena_destroy(struct arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        bulk_free(chunk, sizeof *chunk + chunk->size);
    }
    bulk_free(arena, sizeof *arena);
}

static struct chunk *chunk_add(struct arena *arena, size_t size)
{
    size_t usual = CHUNK_BYTES && 3 * arena->total > CHUNK_BYTES ? 3 * arena->total : CHUNK_BYTES;
    usual = usual < CHUNK_BYTES_MAX ? usual : CHUNK_BYTES_MAX;
    bool own = size > usual;
    size = own ? size : usual;
    struct chunk *chunk = bulk_alloc(sizeof *chunk + size);
    chunk->size = size;
    arena->total += size;
    /* A large object gets a chunk of its own behind the current one, whose free space stays in use. */
    if (arena->chunks && own) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX - align - sizeof(struct chunk))
        die_of_memory(size);
    size = (size + align - 1) / align * align;
    struct chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size)
        chunk = chunk_add(arena, size);
    void *memory = chunk->bytes + chunk->used;
    chunk->used += size;
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        die_of_memory(SIZE_MAX);
    return arena_alloc(arena, count * size);
}

char *arena_copy(struct arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(arena_alloc(arena, size), text, size);
}

char *arena_vprint(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_print(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprint(arena, format, arguments);
    va_end(arguments);
    return text;
}

void *array_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return items;
    size_t larger = *capacity ? *capacity : 16;
    while (larger < count)
        larger = larger > SIZE_MAX / 2 ? count : larger * 2;
    if (size && larger > SIZE_MAX / size)
        die_of_memory(SIZE_MAX);
    items = realloc(items, larger * size);
    if (!items)
        die_of_memory(larger * size);
    *capacity = larger;
    return items;
}

void *array_zeroed(size_t count, size_t size)
{
    void *items = calloc(count + 1, size);
    if (!items)
        die_of_memory(count > SIZE_MAX / (size ? size : 1) ? SIZE_MAX : count * size);
    return items;
}
