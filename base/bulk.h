/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of many megabytes: pages of its own, which may be huge ones, so that a program of millions of operations does
 * not pay for a page fault every 4 KiB. When they are freed, some megabytes stay for those who ask next
 * (base/memory/spare.h) and the rest goes back to the system. */
#ifndef STAGESIM_BULK_H
#define STAGESIM_BULK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Ends the process with exit code 3 after saying on standard error that so many bytes were not to be had. */
_Noreturn void die_of_memory(size_t bytes);
/* calloc and realloc that end the process so. Before that, mappings that are spare go back to the system. */
void *memory_zeroed(size_t count, size_t size);
void *memory_resize(void *memory, size_t bytes);

/* Zeroed, never NULL: out of memory ends the process with a message and exit code 3. The caller frees it with
 * bulk_free. */
void *bulk_alloc(size_t bytes);
/* The same, but not zeroed. *zeroed: whether it is all the same; NULL: nobody asks. */
void *bulk_take(size_t bytes, bool *zeroed);
/* What a request for `bytes` takes: asking for all of it costs no more. */
size_t bulk_size(size_t bytes);
/* `bytes` as asked for. NULL is fine. */
void bulk_free(void *memory, size_t bytes);
/* bulk_grow: as array_grow of base/arena.h, for arrays that are freed with bulk_free(items, capacity * size). What is
 * asked for beyond twice the capacity is taken exactly. */
void *bulk_resize(void *items, size_t *capacity, size_t count, size_t size);

static inline void *bulk_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    return count <= *capacity ? items : bulk_resize(items, capacity, count, size);
}

/* Blocks of some hundred KiB which are freed about in the order in which they were taken, so that together they can lie
 * in large pages: each slab of several blocks is freed with the last of them. All zero to begin with. */
struct bulk_pool {
    struct slab *slabs;
    size_t count, capacity;
};

/* bulk_grow and bulk_free for blocks of a pool; the memory is not zeroed. */
void *bulk_pool_resize(struct bulk_pool *pool, void *items, size_t *capacity, size_t count, size_t size);
void bulk_pool_free(struct bulk_pool *pool, void *memory, size_t bytes);
/* Frees what is left of the slabs; larger blocks must have been freed. */
void bulk_pool_finish(struct bulk_pool *pool);

static inline void *bulk_pool_grow(struct bulk_pool *pool, void *items, size_t *capacity, size_t count, size_t size)
{
    return count <= *capacity ? items : bulk_pool_resize(pool, items, capacity, count, size);
}

/* A stream whose text is kept in memory, as open_memstream; never NULL. The caller frees *text. A text of which
 * something is missing is never taken for a whole one: out of memory ends the process as above. */
FILE *memory_stream_open(char **text, size_t *size);
/* From here on *text and *size are whole. */
void memory_stream_close(FILE *stream);

#endif
