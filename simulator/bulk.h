/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of many megabytes: pages of its own, which go back to the system the moment they are freed and may be huge ones, so that
 * a program of millions of operations neither keeps what its building took nor pays for a page fault every 4 KiB. */
#ifndef STAGESIM_BULK_H
#define STAGESIM_BULK_H

#include <stddef.h>

/* Zeroed, never NULL: out of memory ends the process with a message and exit code 3. The caller frees it with bulk_free. */
void *bulk_alloc(size_t bytes);
/* `bytes` as asked for. NULL is fine. */
void bulk_free(void *memory, size_t bytes);
/* As array_grow of simulator/arena.h, for arrays that are freed with bulk_free(items, capacity * size). What is asked for beyond twice
 * the capacity is taken exactly. */
void *bulk_grow(void *items, size_t *capacity, size_t count, size_t size);

#endif
