/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a stream of a position by what tells it apart: type, peer and kind. */
#ifndef STAGESIM_STREAM_TABLE_H
#define STAGESIM_STREAM_TABLE_H

#include "simulator/program/program.h"

/* Whether that is what tells a stream apart. */
static inline bool stream_is(const struct stream *stream, enum operation_type type, uint32_t peer, uint8_t kind)
{
    return stream->type == type && (type == OPERATION_COMPUTE || (stream->peer == peer && stream->kind == kind));
}

/* Zeroed: empty. */
struct stream_table {
    uint32_t *places; /* of a power of two long: index of a stream and one; 0: free. NULL while there are few */
    size_t size;
};

/* The index of the stream, or UINT32_MAX; the table knows all of `streams`. All streams of type OPERATION_COMPUTE are
 * one. */
uint32_t stream_table_find(const struct stream_table *table, const struct stream *streams, size_t count,
                           enum operation_type type, uint32_t peer, uint8_t kind);
/* Takes in streams[count - 1], which is new. */
void stream_table_add(struct stream_table *table, const struct stream *streams, size_t count);
void stream_table_finish(struct stream_table *table);

#endif
