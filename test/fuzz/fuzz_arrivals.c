/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of arrival logs, each with every text. What they accept is in order and within bounds. */
#include "base/arena.h"
#include "cluster/logs/arrival_log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    for (enum arrival_format format = 0; format <= ARRIVALS_UNKNOWN; format++) {
        struct arena *arena = arena_create();
        struct diag diag = {.out = NULL};
        char *text = malloc(size + !size); /* ends where the input does */
        for (size_t i = 0; i < size; i++)
            text[i] = (char)data[i];
        const char *second = memmem(text, size, "\n\n", 2); /* what a second file has */
        size_t first = second ? (size_t)(second - text) : size;
        struct arrival_text whole = {"log", text, first}, beside = {"beside", text + first, size - first};
        const struct arrival_log *log = arrival_log_parse(&whole, second ? &beside : NULL, format, arena, &diag);
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
