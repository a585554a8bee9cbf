/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/key_table.h"

#include "base/arena.h"

#include <stdlib.h>

static struct key_place *seek(const struct key_table *table, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (table->size - 1);
    while (table->places[at].number && table->places[at].key != key)
        at = (at + 1) & (table->size - 1);
    return &table->places[at];
}

size_t key_table_find(const struct key_table *table, uint64_t key)
{
    const struct key_place *place = table->size ? seek(table, key) : NULL;
    return place && place->number ? place->number - 1 : KEY_UNKNOWN;
}

void key_table_add(struct key_table *table, uint64_t key, size_t number)
{
    if (2 * (table->used + 1) > table->size) {
        struct key_table larger = {NULL, table->size ? 2 * table->size : 64, table->used};
        larger.places = array_zeroed(larger.size, sizeof *larger.places);
        for (size_t i = 0; i < table->size; i++)
            if (table->places[i].number)
                *seek(&larger, table->places[i].key) = table->places[i];
        free(table->places);
        *table = larger;
    }
    *seek(table, key) = (struct key_place){key, number + 1};
    table->used++;
}

void key_table_finish(struct key_table *table)
{
    free(table->places);
    *table = (struct key_table){0};
}
