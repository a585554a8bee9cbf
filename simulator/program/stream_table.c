/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/stream_table.h"

#include "base/arena.h"

#include <stdlib.h>

enum { FEW = 16, FIRST_SIZE = 64 }; /* a scan of few streams is quicker */

/* Where the stream is, or would be. */
static uint32_t *place_of(const struct stream_table *table, const struct stream *streams, enum operation_type type,
                          uint32_t peer, uint8_t kind)
{
    uint64_t key = type == OPERATION_COMPUTE ? type : (uint64_t)peer << 16 | (uint64_t)kind << 8 | type;
    size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & (table->size - 1);
    while (table->places[at] && !stream_is(&streams[table->places[at] - 1], type, peer, kind))
        at = (at + 1) & (table->size - 1);
    return &table->places[at];
}

uint32_t stream_table_find(const struct stream_table *table, const struct stream *streams, size_t count,
                           enum operation_type type, uint32_t peer, uint8_t kind)
{
    if (table->places) {
        uint32_t place = *place_of(table, streams, type, peer, kind);
        return place ? place - 1 : UINT32_MAX;
    }
    for (size_t i = count; i-- > 0;)
        if (stream_is(&streams[i], type, peer, kind))
            return (uint32_t)i;
    return UINT32_MAX;
}

static void put(struct stream_table *table, const struct stream *streams, size_t index)
{
    const struct stream *stream = &streams[index];
    *place_of(table, streams, stream->type, stream->peer, stream->kind) = (uint32_t)index + 1;
}

void stream_table_add(struct stream_table *table, const struct stream *streams, size_t count)
{
    if (count <= FEW)
        return;
    if (2 * count <= table->size) {
        put(table, streams, count - 1);
        return;
    }
    free(table->places);
    table->size = table->size ? 2 * table->size : FIRST_SIZE;
    table->places = array_zeroed(table->size, sizeof *table->places);
    for (size_t i = 0; i < count; i++)
        put(table, streams, i);
}

void stream_table_finish(struct stream_table *table)
{
    free(table->places);
    *table = (struct stream_table){0};
}
