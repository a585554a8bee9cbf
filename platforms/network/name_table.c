/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/network/name_table.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_CAPACITY = 64 };

/* FNV-1a; the upper half is mixed in, for tables look at the lower bits. */
static uint32_t hash_of(const char *name)
{
    uint64_t hash = 1469598103934665603u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return (uint32_t)(hash ^ (hash >> 32));
}

/* The entry of the name, or the empty one where it belongs. */
static struct name_entry *slot_of(const struct name_table *table, const char *name, uint32_t hash)
{
    size_t mask = table->capacity - 1, at = hash & mask;
    while (table->entries[at].name && (table->entries[at].hash != hash || strcmp(table->entries[at].name, name) != 0))
        at = (at + 1) & mask;
    return &table->entries[at];
}

static void enlarge(struct name_table *table)
{
    struct name_table larger = {.capacity = table->capacity ? 2 * table->capacity : LEAST_CAPACITY,
                                .count = table->count};
    larger.entries = array_zeroed(larger.capacity, sizeof *larger.entries);
    for (size_t i = 0; i < table->capacity; i++)
        if (table->entries[i].name)
            *slot_of(&larger, table->entries[i].name, table->entries[i].hash) = table->entries[i];
    free(table->entries);
    *table = larger;
}

bool name_table_add(struct name_table *table, const char *name, uint32_t value)
{
    if (2 * (table->count + 1) > table->capacity)
        enlarge(table);
    uint32_t hash = hash_of(name);
    struct name_entry *slot = slot_of(table, name, hash);
    if (slot->name)
        return false;
    *slot = (struct name_entry){name, hash, value};
    table->count++;
    return true;
}

uint32_t name_table_find(const struct name_table *table, const char *name)
{
    if (!table->count)
        return NAME_UNKNOWN;
    const struct name_entry *slot = slot_of(table, name, hash_of(name));
    return slot->name ? slot->value : NAME_UNKNOWN;
}

void name_table_finish(struct name_table *table)
{
    free(table->entries);
    *table = (struct name_table){0};
}
