/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of logs of idle nodes. Of what it accepts, the moments of a window add up: no node joins that is
 * idle or leaves that is not. */
#include "base/arena.h"
#include "cluster/idle/idle_log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void follow(const struct idle_log *log, struct arena *arena)
{
    bool *idle = arena_array(arena, log->node_count, sizeof *idle);
    struct idle_moments moments = idle_log_moments(log, log->end / 3, log->end / 2, arena);
    double last = -1;
    for (size_t i = 0; i < moments.count; i++) {
        const struct idle_moment *moment = &moments.items[i];
        if (!(moment->time > last) || !(moment->time < moments.duration))
            abort();
        last = moment->time;
        for (uint32_t k = 0; k < moment->left_count; k++) {
            if (!idle[moment->left[k]])
                abort();
            idle[moment->left[k]] = false;
        }
        for (uint32_t k = 0; k < moment->joined_count; k++) {
            if (idle[moment->joined[k]])
                abort();
            idle[moment->joined[k]] = true;
        }
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct arena *arena = arena_create();
    struct diag diag = {.out = NULL};
    char *text = malloc(size + !size); /* ends where the input does */
    for (size_t i = 0; i < size; i++)
        text[i] = (char)data[i];
    const struct idle_log *log = idle_log_parse("log", text, size, arena, &diag);
    free(text);
    if (!log != (diag.errors > 0))
        abort();
    if (log)
        follow(log, arena);
    arena_destroy(arena);
    return 0;
}
