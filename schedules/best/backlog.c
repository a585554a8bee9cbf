/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "schedules/best/bound_parts.h"

void backlog_add(struct backlog *backlog, int64_t head, int64_t length)
{
    uint32_t at = backlog->count++;
    for (; at > 0 && backlog->head[at - 1] > head; at--) {
        backlog->head[at] = backlog->head[at - 1];
        backlog->length[at] = backlog->length[at - 1];
    }
    backlog->head[at] = head;
    backlog->length[at] = length;
    backlog->known = at < backlog->known ? at : backlog->known;
}

/* When the worker is done with all of it, which it begins at `from` at the earliest, the same whenever it is asked. */
int64_t backlog_end(struct backlog *backlog, int64_t from)
{
    uint32_t at = backlog->known < backlog->count ? backlog->known : backlog->count;
    int64_t clock = at ? backlog->after[at - 1] : from;
    for (; at < backlog->count; at++)
        clock = backlog->after[at] = larger(clock, backlog->head[at]) + backlog->length[at];
    backlog->known = at;
    return clock;
}

void backlog_create(struct backlog *backlog, uint32_t capacity, struct arena *arena)
{
    backlog->head = arena_array(arena, capacity, sizeof(int64_t));
    backlog->length = arena_array(arena, capacity, sizeof(int64_t));
    backlog->after = arena_array(arena, capacity, sizeof(int64_t));
}
