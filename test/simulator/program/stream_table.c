/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a position's streams finds what a scan of all of them finds, from the first stream to some thousand.
 * That many lanes cost as much each as few: product/growth.c. */
#include "simulator/program/stream_table.h"

#include "base/arena.h"

#include <criterion/criterion.h>

enum { STREAMS = 3000, PEERS = 700, KINDS = 3 };

static uint32_t scan(const struct stream *streams, size_t count, const struct stream *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (streams[i].type == wanted->type &&
            (wanted->type == OPERATION_COMPUTE || (streams[i].peer == wanted->peer && streams[i].kind == wanted->kind)))
            return (uint32_t)i;
    return UINT32_MAX;
}

static uint64_t state = 5;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static struct stream draw_stream(void)
{
    return (struct stream){
        .type = (uint8_t)draw(OPERATION_DELAY + 1), .kind = (uint8_t)draw(KINDS), .peer = draw(PEERS)};
}

Test(stream_table, finds_what_a_scan_finds)
{
    static struct stream streams[STREAMS];
    struct stream_table table = {0};
    size_t count = 0, known = 0;
    for (unsigned draws = 0; draws < 3 * STREAMS && count < STREAMS; draws++) {
        struct stream stream = draw_stream();
        uint32_t expected = scan(streams, count, &stream);
        cr_assert_eq(stream_table_find(&table, streams, count, stream.type, stream.peer, stream.kind), expected,
                     "stream %zu", count);
        known += expected != UINT32_MAX;
        if (expected != UINT32_MAX)
            continue;
        streams[count++] = stream;
        stream_table_add(&table, streams, count);
    }
    cr_assert(count > 1000 && known > 1000);
    stream_table_finish(&table);
    cr_assert_eq(stream_table_find(&table, streams, 0, OPERATION_SEND, 0, 0), UINT32_MAX);
}
