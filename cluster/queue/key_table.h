/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by 64-bit keys. */
#ifndef STAGESIM_QUEUE_KEY_TABLE_H
#define STAGESIM_QUEUE_KEY_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct key_place {
    uint64_t key;
    size_t number; /* and 1; 0: free */
};

/* All zero: empty. */
struct key_table {
    struct key_place *places;
    size_t size, used; /* size is a power of two */
};

#define KEY_UNKNOWN SIZE_MAX

size_t key_table_find(const struct key_table *table, uint64_t key);
/* The key is not in it. */
void key_table_add(struct key_table *table, uint64_t key, size_t number);
void key_table_finish(struct key_table *table);

#endif
