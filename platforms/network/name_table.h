/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by name: what a platform file calls a host is found in one step however many there are. */
#ifndef STAGESIM_NAME_TABLE_H
#define STAGESIM_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_UNKNOWN UINT32_MAX

struct name_entry {
    const char *name; /* borrowed */
    uint32_t hash, value;
};

/* Empty when zeroed. */
struct name_table {
    struct name_entry *entries;
    size_t capacity, count; /* a power of two */
};

/* False where the name is there already. */
bool name_table_add(struct name_table *table, const char *name, uint32_t value);
/* NAME_UNKNOWN where it is not there. */
uint32_t name_table_find(const struct name_table *table, const char *name);
void name_table_finish(struct name_table *table);

#endif
