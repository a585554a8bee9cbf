/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of arrival logs, each with every text. What they accept is in order and within bounds. */
#include "base/arena.h"
#include "cluster/logs/arrival_log.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    for (enum arrival_format format = 0; format <= ARRIVALS_UNKNOWN; format++) {
        struct arena *arena = arena_create();
        struct diag diag = {.out = NULL};
        char *text = malloc(size + !size); /* ends where the input does */
        for (size_t i = 0; i < size; i++)
            text[i] = (char)data[i];
        const struct arrival_log *log = arrival_log_parse("log", text, size, format, arena, &diag);
        free(text);
        if (!log != (diag.errors > 0))
            abort();
        double last = 0;
        for (size_t i = 0; log && i < log->count; i++) {
            const struct arrival *arrival = &log->arrivals[i];
            if (!(arrival->submit >= last) || !(arrival->submit <= 1e12) || !arrival->name ||
                (!arrival->nodes && !arrival->processors) || (arrival->run <= 0 && !arrival->kind))
                abort();
            last = arrival->submit;
        }
        arena_destroy(arena);
    }
    return 0;
}
