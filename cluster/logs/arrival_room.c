/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/logs/arrival_log.h"

#include "base/arena.h"

#include <string.h>

const char *const arrival_status_names[] = {"", "done", "failed", "cancelled", NULL};

struct arrival *arrival_log_room(struct arrival_reader *reader, unsigned line)
{
    struct arrival_log *log = reader->log;
    log->arrivals = array_grow(log->arrivals, &reader->capacity, log->count + 1, sizeof *log->arrivals);
    struct arrival *arrival = &log->arrivals[log->count];
    *arrival =
        (struct arrival){.wait = -1, .run = -1, .limit = -1, .iterations = -1, .at = {.file = log->file, .line = line}};
    return arrival;
}

enum arrival_status arrival_status_of(const char *text, size_t size)
{
    static const struct {
        const char *word;
        enum arrival_status status;
    } words[] = {{"COMPLETED", STATUS_DONE},   {"Pass", STATUS_DONE},          {"Terminated", STATUS_DONE},
                 {"Succeeded", STATUS_DONE},   {"Stopped", STATUS_CANCELLED},  {"CANCELLED", STATUS_CANCELLED},
                 {"Killed", STATUS_CANCELLED}, {"PREEMPTED", STATUS_CANCELLED}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (size >= strlen(words[i].word) && !memcmp(text, words[i].word, strlen(words[i].word)))
            return words[i].status;
    return size ? STATUS_FAILED : STATUS_UNKNOWN;
}
