/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/logs/arrival_log.h"

#include "base/arena.h"

struct arrival *arrival_log_room(struct arrival_reader *reader, unsigned line)
{
    struct arrival_log *log = reader->log;
    log->arrivals = array_grow(log->arrivals, &reader->capacity, log->count + 1, sizeof *log->arrivals);
    struct arrival *arrival = &log->arrivals[log->count];
    *arrival =
        (struct arrival){.wait = -1, .run = -1, .limit = -1, .iterations = -1, .at = {.file = log->file, .line = line}};
    return arrival;
}
