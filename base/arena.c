/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/bulk.h"
#include "base/sanitized.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In sanitizer builds every request has a chunk of its own. */
#define CHUNK_BYTES (SANITIZED ? 0 : (size_t)64 << 10)
/* Chunks grow with the arena, so that what is large altogether lies in huge pages. */
#define CHUNK_BYTES_MAX ((size_t)32 << 20)

/* What is left of chunks before the newest one takes smaller objects. */
enum { CHUNKS_TRIED = 4 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    bool zeroed; /* what is not used yet */
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
    bool own = size + sizeof(struct chunk) > usual, zeroed = false;
    size_t bytes = bulk_size(own ? size + sizeof(struct chunk) : usual);
    struct chunk *chunk = bulk_take(bytes, &zeroed);
    *chunk = (struct chunk){.size = bytes - sizeof *chunk, .zeroed = zeroed};
    arena->total += bytes;
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

/* One of the newest chunks, which has that much room. NULL: none of them. */
static struct chunk *chunk_with_room(const struct arena *arena, size_t size)
{
    struct chunk *chunk = arena->chunks;
    for (int i = 0; i < CHUNKS_TRIED && chunk; i++, chunk = chunk->next)
        if (chunk->size - chunk->used >= size)
            return chunk;
    return NULL;
}

static void *chunk_take(struct chunk *chunk, size_t size, bool zero)
{
    void *memory = chunk->bytes + chunk->used;
    chunk->used += size;
    return zero && !chunk->zeroed ? memset(memory, 0, size) : memory;
}

static void *take(struct arena *arena, size_t size, bool zero)
{
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX - align - sizeof(struct chunk))
        die_of_memory(size);
    size = (size + align - 1) / align * align;
    struct chunk *chunk = chunk_with_room(arena, size);
    if (!chunk)
        chunk = chunk_add(arena, size);
    return chunk_take(chunk, size, zero);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return take(arena, size, true);
}

static size_t product(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        die_of_memory(SIZE_MAX);
    return count * size;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    return take(arena, product(count, size), true);
}

void *arena_array_unset(struct arena *arena, size_t count, size_t size)
{
    return take(arena, product(count, size), false);
}

char *arena_copy(struct arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(take(arena, size, false), text, size);
}

char *arena_copy_part(struct arena *arena, const char *text, size_t length)
{
    char *copy = memcpy(take(arena, length + 1, false), text, length);
    copy[length] = '\0';
    return copy;
}

void *arena_grow(struct arena *arena, void *items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 32;
    void *larger = arena_array(arena, *capacity, size);
    if (count)
        memcpy(larger, items, count * size);
    return larger;
}

char *arena_vprint(struct arena *arena, const char *format, va_list arguments)
{
    char usual[256]; /* few texts are longer: those are made twice */
    va_list again;
    va_copy(again, arguments);
    size_t size = (size_t)vsnprintf(usual, sizeof usual, format, arguments) + 1;
    char *text = take(arena, size, false);
    if (size <= sizeof usual)
        memcpy(text, usual, size);
    else
        vsnprintf(text, size, format, again);
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
    items = memory_resize(items, larger * size);
    *capacity = larger;
    return items;
}

void *array_zeroed(size_t count, size_t size)
{
    return memory_zeroed(count + 1, size);
}
